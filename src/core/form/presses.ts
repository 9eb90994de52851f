import { notifyManager, type QueryClient } from '@tanstack/react-query';
import { inDevelopment } from '../lib/development.ts';
import { warn } from '../lib/input/warn.ts';
import { actedAt, promptBeforeUnload } from '../lib/browser/page.ts';
import { startAlarm } from '../lib/timer.ts';
import { endedWithSession } from '../operation/parts/session.ts';
import { type Instance, instanceOf } from '../react-query/instance.ts';
import { mutationStatusesOf } from '../react-query/status/mutation.ts';
import { findOut, watchSubmission } from './find-out.ts';
import { FormObserver } from './observer.ts';
import { fingerprintOfPayload, toKept } from './payload.ts';
import { resultOf } from './result.ts';
import type {
  Confirmation,
  FormOptions,
  SafeSubmitResult,
  SubmitResult,
  UnknownSubmission,
} from './safe-submit.ts';
import { Copy } from './copy.ts';
import { sendSubmission } from './send.ts';
import {
  type FormSubmission,
  planSubmission,
  submissionChanges,
  Submissions,
  whyKeyForgotten,
} from './submission.ts';
import { createTabStorage } from './tab-storage.ts';

/**
 * For this long after a success, a press with the same payload still belongs to it: it is the second half of a
 * double click. After any other end only until the task is over, for an action that React has queued behind it.
 */
const echoMs = 1000;

/** The target of a form that shows no mutation. */
const noTarget = { mutation: '' };

type Ended = Exclude<SubmitResult, { readonly status: 'busy' }>;

/** The latest submission of this page. */
interface Latest {
  /** The copy that was pressed; undefined for an end without a press. */
  readonly copy: Copy | undefined;
  readonly fingerprint: string;
  readonly promise: Promise<Ended>;
  /** `echo`: it has ended, and presses with its payload still belong to it. */
  readonly phase: 'under way' | 'echo' | 'over';
  /** When its echo ends, by the clock of the instance. A busy page may learn of a press only later. */
  readonly echoUntil: number;
}

/** A form, as its hook uses it: one copy of it. */
export interface SafeForm<
  TData = unknown,
  TError = Error,
  TVariables = unknown,
  TOnMutateResult = unknown,
> {
  readonly setOptions: (options: FormOptions<TData, TError, TVariables, TOnMutateResult>) => void;
  readonly subscribe: (listener: () => void) => () => void;
  readonly getState: () => SafeSubmitResult<TData, TError, TVariables, TOnMutateResult>;
  /** The state before hydration, when nothing of the tab is known. */
  readonly getServerState: () => SafeSubmitResult<TData, TError, TVariables, TOnMutateResult>;
}

type Shown = Omit<SafeSubmitResult, 'submit'>;

/** A form of one QueryClient: all its mounted copies show this one. */
export class Form {
  readonly #instance: Instance;
  readonly #submissions: Submissions;
  readonly #observer: FormObserver;
  readonly #listeners: Set<() => void> = new Set();
  readonly #serverState: Shown;
  readonly #copies: Set<Copy> = new Set();
  /** The copy whose options are in use: it was pressed last. */
  #used: Copy | undefined;
  #unfollow: (() => void) | undefined;
  #options: Partial<FormOptions> = {};
  #state: Shown | undefined;
  /** The presses whose payload is being read. */
  readonly #reading: Set<{ readonly variables: unknown }> = new Set();
  /** The latest press, if its payload could not be read. */
  #unread: { readonly variables: unknown; readonly error: Error } | undefined;
  #latest: Latest | undefined;
  /** The question for the user. */
  #confirmation: Confirmation | undefined;
  /** The submission that was sent after the latest question that was confirmed. */
  #confirmed: { readonly id: string; readonly promise: Promise<Ended> } | undefined;
  /** The submission that `resolve` found not to be done. */
  #notDone: FormSubmission | undefined;
  #isResolving = false;
  /** The watch over the unknown submission. */
  #watched: { readonly key: string; readonly stop: () => void } | undefined;

  /** @throws Error when the client carries no default options of Steadfetch, and no other instance is given. */
  constructor(client: QueryClient, name: string, other?: Instance) {
    const { instance } = mutationStatusesOf(client, 'useSafeSubmit');
    this.#instance = instance ?? other ?? instanceOf(client, 'useSafeSubmit');
    this.#submissions = new Submissions(createTabStorage(), name);
    this.#observer = new FormObserver(client, this.#instance, `form ${name}`, this.#changed);
    this.#serverState = this.#show(undefined);
    this.#instance.lifecycle.onSessionEnd(client, () => {
      this.#submissions.forget();
      if (!this.#isUnderWay) this.#latest = undefined;
      this.clear();
    });
  }

  /** Opens it for a component. What one copy sends goes by the options of that copy: two may have a mutation each. */
  open(): SafeForm {
    const copy = new Copy();
    const submit = (variables: unknown): Promise<SubmitResult> => this.#press(variables, copy);
    const withSubmit = (state: Shown): SafeSubmitResult =>
      ({ ...state, submit }) as SafeSubmitResult;
    const serverState = withSubmit(this.#serverState);
    let known: readonly [state: Shown, result: SafeSubmitResult] | undefined;
    const show = (state: Shown): SafeSubmitResult => {
      if (known?.[0] !== state) known = [state, withSubmit(state)];
      return known[1];
    };
    return {
      setOptions: (options) => {
        copy.setOptions(options);
        const isOfOther = this.#used && this.#used !== copy && this.#copies.has(this.#used);
        if (!isOfOther) this.#setOptions(options);
      },
      subscribe: (listener) => this.#subscribe(copy, listener),
      getState: () => show((this.#state ??= this.#show(this.#findUnknown()))),
      getServerState: () => serverState,
    };
  }

  #use(copy: Copy): void {
    this.#used = copy;
    if (copy.options) this.#setOptions(copy.options);
  }

  #setOptions(options: FormOptions): void {
    this.#options = options;
    this.#observer.setOptions(options.mutation);
    this.#watch();
  }

  #subscribe(copy: Copy, listener: () => void): () => void {
    // Another page of this tab may have sent it, when this one comes back from the back-forward cache.
    globalThis.addEventListener?.('pageshow', this.#changed);
    // And a client that was replaced, at a log-in for example, still sends what it has begun.
    this.#unfollow ??= submissionChanges.on((by) => {
      if (by !== this.#submissions && by.name === this.#submissions.name) this.#changed();
    });
    // Its first copy takes the place of those that have left the page, also in one commit.
    if (copy.enter() && this.isIdle()) this.clear();
    this.#listeners.add(listener);
    this.#copies.add(copy);
    this.#watch();
    return () => {
      this.#listeners.delete(listener);
      this.#copies.delete(copy);
      if (this.#listeners.size > 0) return;
      globalThis.removeEventListener?.('pageshow', this.#changed);
      this.#unfollow?.();
      this.#unfollow = undefined;
      this.#watched?.stop();
      this.#watched = undefined;
    };
  }

  /** Whether it is not mounted, and nothing is under way. */
  isIdle(): boolean {
    return this.#listeners.size === 0 && !this.#isBusy();
  }

  /** Shows nothing of the past, except a submission that may have been done. */
  clear(): void {
    this.#clearPresses();
    this.#observer.reset();
  }

  readonly #changed = (): void => {
    this.#state = undefined;
    // With React Query's own notifications, so that both are rendered together.
    for (const listener of this.#listeners) notifyManager.schedule(listener);
  };

  get #isUnderWay(): boolean {
    return this.#latest?.phase === 'under way';
  }
  #isBusy(): boolean {
    return this.#isUnderWay || this.#reading.size > 0;
  }

  #clearPresses(): void {
    this.#confirmation = this.#unread = this.#notDone = undefined;
  }

  readonly #reset = ({ forgetUnknown = false } = {}): void => {
    if (this.#isBusy()) return;
    const known = this.#submissions.read();
    if (known && forgetUnknown) this.#submissions.remove(known.key);
    this.#latest = undefined;
    this.clear();
  };

  /** The state, without the `submit` of a copy. */
  #show(unknown: UnknownSubmission | undefined): Shown {
    const [reading] = this.#reading;
    const result = this.#observer.result();
    return {
      ...resultOf(result, reading, this.#unread),
      reset: this.#reset,
      unknown,
      confirmation: this.#confirmation,
      target: result.isIdle ? noTarget : this.#observer.target,
    };
  }

  async #press(variables: unknown, copy: Copy, confirmedKey?: string): Promise<SubmitResult> {
    inDevelopment(() => this.#warnOfTwo(copy));
    copy.enter();
    const reading = { variables };
    const { operations, context } = this.#instance;
    const { session } = operations;
    // A submission that was over by then has no echo any more, however long the payload takes to read.
    const latest = this.#latest;
    const isOver = latest?.phase === 'over' && this.#pressedAt() >= latest.echoUntil;
    const over = isOver ? latest : undefined;
    this.#reading.add(reading);
    this.#unread = undefined;
    this.#changed();
    const stay = promptBeforeUnload();
    try {
      const fingerprint = await fingerprintOfPayload(variables, context.freshFields);
      // Read only now: an effect may press before the effect that sets the options.
      const payload = copy.options?.keepPayload ? toKept(variables) : undefined;
      if (session.isOver) throw endedWithSession(operations.begin('mutation'), false, 'no');
      // Not awaited: from here on it is under way, and no longer being read.
      const promise = this.#begin(variables, copy, fingerprint, payload, confirmedKey, over);
      return promise;
    } catch (error) {
      // A payload without content is a mistake of the app; a file that is gone is not.
      if (error instanceof TypeError) throw error;
      const unread = (this.#unread = { variables, error: error as Error });
      this.#observer.fail({ ...copy.options?.mutation }, unread.error, variables);
      return { status: 'failed', error: unread.error };
    } finally {
      stay();
      this.#reading.delete(reading);
      this.#changed();
    }
  }

  /** Whether both copies are on the page, each with a mutation of its own: what one sends is not what the other does. */
  #isOfOther(one: Copy | undefined, other: Copy): boolean {
    return one !== undefined && this.#copies.has(one) && one.differsFrom(other);
  }

  #warnOfTwo(copy: Copy): void {
    if (![...this.#copies].some((one) => this.#isOfOther(one, copy))) return;
    const { mutation: form } = this.#observer.target;
    warn(
      this.#instance.operations,
      form,
      `useSafeSubmit, ${form}: two components on the page have this form name, each with a mutationFn of its own. While ` +
        'one sends, the other is busy, and both show its end. Name them `row-${id}`, or make the mutationOptions once, ' +
        'outside of them.',
      'idempotency.md#anti-patterns',
    );
  }

  /** When the user pressed: on a busy page, before this code runs. */
  #pressedAt(): number {
    const { event } = globalThis as { readonly event?: Event };
    const nowMs = this.#instance.clock.now();
    return event ? actedAt(event, nowMs) : nowMs;
  }

  /** @param over - The latest submission, if it was over when this was pressed. */
  #begin(
    variables: unknown,
    copy: Copy,
    fingerprint: string,
    payload: unknown,
    confirmedKey: string | undefined,
    over: Latest | undefined,
  ): Promise<SubmitResult> {
    const latest = this.#latest;
    const isSame = latest?.fingerprint === fingerprint && !this.#isOfOther(latest.copy, copy);
    if (latest?.phase === 'under way')
      return isSame ? latest.promise : Promise.resolve({ status: 'busy' });
    if (confirmedKey === undefined && isSame && latest !== over) return latest.promise;
    // A question that is confirmed twice is sent once.
    const id = confirmedKey + fingerprint;
    if (this.#confirmed?.id === id) return this.#confirmed.promise;
    const known = this.#submissions.read();
    const isChanged = known && this.#submissions.inPage(known.key).isChanged;
    const pressed = { fingerprint, confirmedKey, notDone: this.#notDone, isChanged };
    const plan = planSubmission(known, pressed, this.#instance.clock);
    this.#confirmation = undefined;
    if (plan.kind === 'ask')
      return Promise.resolve(this.#question(plan.reason, variables, copy, plan.key));
    this.#notDone = undefined;
    this.#use(copy);
    const submission = { ...plan.submission, payload };
    const promise = this.#run(fingerprint, copy, () =>
      this.#send(variables, copy, submission, plan.wasSent),
    );
    // Under the same key a later confirmation sends it again.
    if (confirmedKey !== undefined && submission.key !== confirmedKey)
      this.#confirmed = { id, promise };
    return promise;
  }

  /** @param key - That of the submission that may have been done. */
  #question(reason: Confirmation['reason'], variables: unknown, copy: Copy, key: string): Ended {
    this.#confirmation = {
      reason,
      variables,
      confirm: () => this.#press(variables, copy, key),
      cancel: () => {
        this.#confirmation = undefined;
        this.#changed();
      },
    };
    return { status: 'needs-confirmation', ...this.#confirmation };
  }

  /** Presses with this fingerprint belong to `work` until it ends. */
  #run(fingerprint: string, copy: Copy | undefined, work: () => Promise<Ended>): Promise<Ended> {
    let echoUntil = 0;
    const enter = (phase: Latest['phase']): void => {
      if (phase !== 'over' || this.#latest?.promise === promise)
        this.#latest = { copy, fingerprint, promise, phase, echoUntil };
    };
    // Only an error of the browser itself is thrown, before anything is sent.
    const failed = (error: Error): Ended => ({ status: 'failed', error });
    const promise = work()
      .catch(failed)
      .then((result) => {
        const { clock } = this.#instance;
        const ms = result.status === 'succeeded' ? echoMs : 0;
        echoUntil = clock.now() + ms;
        enter('echo');
        startAlarm(clock, ms, () => enter('over'));
        this.#watch();
        this.#changed();
        return result;
      });
    enter('under way');
    return promise;
  }

  async #send(
    variables: unknown,
    copy: Copy,
    record: FormSubmission,
    wasSent: boolean,
  ): Promise<Ended> {
    const parts = { submissions: this.#submissions, observer: this.#observer };
    const end = await sendSubmission(parts, variables, record, wasSent);
    // A submission that was certainly not done leaves the one before it, which is asked about again.
    const isLeft = this.#submissions.read()?.key === record.key;
    if (end.status !== 'succeeded' && !isLeft) this.#confirmed = undefined;
    if (end.status === 'cannot-find-out')
      return this.#question(end.status, variables, copy, record.key);
    return end;
  }

  /** The earlier submission that may have been done. */
  #findUnknown(): UnknownSubmission | undefined {
    const known = this.#submissions.read();
    if (this.#isUnderWay || !known) return undefined;
    const { key, createdAt, isRepeatable, payload } = known;
    const { variables = payload, error } = this.#submissions.inPage(key);
    return {
      idempotencyKey: key,
      since: createdAt,
      variables,
      error,
      isRepeatable: !!isRepeatable,
      isExpired: whyKeyForgotten(known, this.#instance.clock) !== undefined,
      isResolving: this.#isResolving,
      resolve: this.#resolve,
    };
  }

  /** Asks the API whether the unknown submission was done. */
  readonly #resolve = async (): Promise<'done' | 'not-done' | 'unknown'> => {
    const { sentBy } = this.#submissions.read() ?? {};
    const unknown = this.#findUnknown();
    const { resolve } = this.#options;
    if (!resolve || !unknown || this.#isResolving) return 'unknown';
    this.#isResolving = true;
    this.#changed();
    const found = await findOut(this.#observer.instance(), resolve, unknown);
    this.#isResolving = false;
    const now = this.#submissions.read();
    // The submission may have been sent again in the meantime.
    if (!this.#isUnderWay && now && now.sentBy === sentBy) {
      if (found.status === 'not-done') this.#undo(now);
      if (found.status === 'done') await this.#finish(now, found.data);
    }
    this.#changed();
    return found.status;
  };

  /** The unknown submission is not done, which answers a question about it. If there is one before it, the user is asked about that. */
  #undo(known: FormSubmission): void {
    this.#submissions.undo(known.key);
    this.#confirmation = undefined;
    this.#notDone = known.before ? undefined : known;
    this.#latest = this.#confirmed = undefined;
  }

  /** The unknown submission is done, with these data. */
  async #finish({ key, fingerprint, payload }: FormSubmission, data: unknown): Promise<void> {
    const { variables = payload } = this.#submissions.inPage(key);
    this.#submissions.remove(key);
    this.#clearPresses();
    await this.#run(fingerprint, undefined, async () => {
      await this.#observer.finish(data, variables);
      return { status: 'succeeded', data };
    });
  }

  /** Watches the end of the unknown submission without a press. */
  #watch(): void {
    const known = this.#submissions.read();
    if (this.#isUnderWay || this.#watched?.key === known?.key) return;
    this.#watched?.stop();
    this.#watched = undefined;
    if (!known) return;
    const { key } = known;
    const onDone = (data: unknown): void => {
      const now = this.#submissions.read();
      if (!this.#isUnderWay && now?.key === key) void this.#finish(now, data);
    };
    const { clock } = this.#instance;
    const stop = watchSubmission(known, this.#observer, clock, this.#changed, onDone);
    this.#watched = { key, stop };
  }
}
