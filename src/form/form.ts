import { type Mutation, notifyManager, type QueryClient } from '@tanstack/react-query';
import { ageOf, createIdempotencyKey } from '../idempotency/key.ts';
import { promptBeforeUnload } from '../lib/browser/page.ts';
import { fingerprintOf } from '../lib/fingerprint.ts';
import { reject } from '../lib/input/check.ts';
import { warn } from '../lib/input/warn.ts';
import { startAlarm, unsettled, withLimit } from '../lib/timer.ts';
import { reportOf } from '../operation/error-info.ts';
import { endedWithSession } from '../operation/parts/session.ts';
import { type Instance, instanceOf } from '../react-query/instance.ts';
import { definitionBehind } from '../react-query/mutation/definition.ts';
import { mutationStatusesOf } from '../react-query/status/mutation.ts';
import type { StatusStore } from '../react-query/status/store.ts';
import { FormObserver } from './observer.ts';
import type {
  Confirmation,
  FormOptions,
  SafeSubmitResult,
  SubmitResult,
  UnknownSubmission,
} from './safe-submit.ts';
import {
  createSubmissions,
  type FormSubmission,
  type ConfirmationReason,
  isFruitless,
  planSubmission,
  type Submissions,
  toKept,
  TabSubmission,
  whyKeyForgotten,
  withoutFields,
} from './submission.ts';
import { createTabStorage } from './tab-storage.ts';

const forms = new WeakMap<QueryClient, Map<string, unknown>>();

/**
 * The form of this name. A form that is not mounted and not under way begins anew.
 *
 * @param other - The instance of its mutation, for a client without our default options.
 * @throws TypeError when the name is none.
 * @throws Error when there is neither.
 */
export function openForm<TData, TError, TVariables, TOnMutateResult>(
  client: QueryClient,
  name: string,
  other?: Instance,
): SafeForm<TData, TError, TVariables, TOnMutateResult> {
  if (!name || typeof name !== 'string') reject('useSafeSubmit', 'form', name, 'a name');
  const known = forms.get(client) ?? new Map<string, unknown>();
  forms.set(client, known);
  // One name is one form: its types are those of its callers.
  let form = known.get(name) as SafeForm<TData, TError, TVariables, TOnMutateResult> | undefined;
  if (!form) known.set(name, (form = new SafeForm(client, name, other)));
  else if (form.isIdle()) form.clear();
  return form;
}

/** Forgets the forms of a client, with what they show and what they have sent. */
export function forgetForms(client: QueryClient): void {
  forms.delete(client);
}

/** The fields of React Query's result for a submission whose payload could not be read. */
const failed = {
  status: 'error',
  isIdle: false,
  isPending: false,
  isSuccess: false,
  isError: true,
  data: undefined,
} as const;

/** The same while the payload is being read, before the mutation exists. */
const pending = {
  status: 'pending',
  isIdle: false,
  isPending: true,
  isSuccess: false,
  isError: false,
  data: undefined,
  error: null,
} as const;

/**
 * For so long after a success, a press with the same payload still belongs to it: it is the second half of a
 * double click. After any other end only until the task is over, for an action that React has queued behind it.
 */
const echoMs = 1000;

/** How a submission has ended. */
type Ended<TData, TError, TVariables> = Exclude<
  SubmitResult<TData, TError, TVariables>,
  { readonly status: 'busy' }
>;

/** What has ended last. */
interface Last<TData, TError, TVariables> {
  readonly fingerprint: string;
  readonly result: Ended<TData, TError, TVariables>;
}

/** The state of the form when a press came. */
interface Seen<TData, TError, TVariables> {
  readonly last: Last<TData, TError, TVariables> | undefined;
  readonly echo: Last<TData, TError, TVariables> | undefined;
}

/** What this page has sent last. */
interface Sent<TVariables, TError> {
  readonly key: string;
  readonly variables: TVariables;
  readonly error?: TError;
  /** It cannot be sent again, because its requests are others now. */
  readonly isChanged?: boolean;
}

/** A form of one QueryClient: all its mounted copies show this one. */
export class SafeForm<TData, TError, TVariables, TOnMutateResult> {
  readonly #client: QueryClient;
  readonly #instance: Instance;
  readonly #statuses: StatusStore<Mutation>;
  readonly #submissions: Submissions;
  readonly #observer: FormObserver<TData, TError, TVariables, TOnMutateResult>;
  readonly #target: { readonly mutation: string };
  readonly #noTarget = { mutation: '' };
  readonly #listeners: Set<() => void> = new Set();
  readonly #serverState: SafeSubmitResult<TData, TError, TVariables, TOnMutateResult>;
  #options: FormOptions<TData, TError, TVariables, TOnMutateResult> | undefined;
  #state: SafeSubmitResult<TData, TError, TVariables, TOnMutateResult> | undefined;
  /** The presses whose payload is being read. */
  readonly #reading: Set<{ readonly variables: TVariables }> = new Set();
  /** The latest press, if its payload could not be read. */
  #unread: { readonly variables: TVariables; readonly error: TError } | undefined;
  /** The question for the user. */
  #confirmation: Confirmation<TData, TError, TVariables> | undefined;
  /** What was sent after the latest question that was confirmed. */
  #confirmed:
    | { readonly id: string; readonly promise: Promise<Ended<TData, TError, TVariables>> }
    | undefined;
  #current:
    | { readonly fingerprint: string; readonly promise: Promise<Ended<TData, TError, TVariables>> }
    | undefined;
  #last: Last<TData, TError, TVariables> | undefined;
  /** The last one, while presses still belong to it. */
  #echo: Last<TData, TError, TVariables> | undefined;
  #sent: Sent<TVariables, TError> | undefined;
  /** What `resolve` has found not to be done. If it is done all the same, its key keeps it from being done twice. */
  #notDone: FormSubmission | undefined;
  #isResolving = false;
  /** What becomes of the unknown submission without a press. */
  #watched: { readonly key: string; readonly stop: () => void } | undefined;

  /** @throws Error when the client carries no default options of Steadfetch, and no other instance is given. */
  constructor(client: QueryClient, name: string, other?: Instance) {
    this.#client = client;
    this.#statuses = mutationStatusesOf(client, 'useSafeSubmit');
    this.#submissions = createSubmissions(createTabStorage(), name);
    this.#target = { mutation: `form ${name}` };
    this.#instance = this.#statuses.instance ?? other ?? instanceOf(client, 'useSafeSubmit');
    this.#observer = new FormObserver(client, this.#instance, this.#target.mutation, this.#changed);
    this.#serverState = this.#show(undefined);
    this.#instance.lifecycle.onSessionEnd(client, () => {
      this.#submissions.forget();
      this.#last = undefined;
      this.clear();
    });
  }

  readonly setOptions = (
    options: FormOptions<TData, TError, TVariables, TOnMutateResult>,
  ): void => {
    this.#options = options;
    this.#observer.setOptions(options.mutation);
    this.#watch();
  };

  readonly subscribe = (listener: () => void): (() => void) => {
    // Another page of this tab may have sent it, when this one comes back from the back-forward cache.
    if (this.#listeners.size === 0) globalThis.addEventListener?.('pageshow', this.#changed);
    this.#listeners.add(listener);
    this.#watch();
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) return;
      globalThis.removeEventListener?.('pageshow', this.#changed);
      this.#watched?.stop();
      this.#watched = undefined;
    };
  };

  readonly getState = (): SafeSubmitResult<TData, TError, TVariables, TOnMutateResult> =>
    (this.#state ??= this.#show(this.#findUnknown()));

  /** What can be known before hydration: nothing of the tab. */
  readonly getServerState = (): SafeSubmitResult<TData, TError, TVariables, TOnMutateResult> =>
    this.#serverState;

  /** Whether it is not mounted, and nothing is under way. */
  isIdle(): boolean {
    return this.#listeners.size === 0 && !this.#isBusy();
  }

  /** Shows nothing of what has been, except what may have been done. */
  clear(): void {
    this.#clearPresses();
    this.#observer.reset();
    this.#changed();
  }

  readonly #changed = (): void => {
    this.#state = undefined;
    // With React Query's own notifications, so that both are rendered together.
    for (const listener of this.#listeners) notifyManager.schedule(listener);
  };

  #isBusy(): boolean {
    return this.#current !== undefined || this.#reading.size > 0;
  }

  #clearPresses(): void {
    this.#confirmation = this.#unread = this.#notDone = undefined;
  }

  readonly #reset = ({ forgetUnknown = false } = {}): void => {
    if (this.#isBusy()) return;
    const known = this.#submissions.read();
    if (known && forgetUnknown) this.#submissions.remove(known.key);
    this.#last = undefined;
    this.clear();
  };

  readonly #submit = (variables: TVariables): Promise<SubmitResult<TData, TError, TVariables>> =>
    this.#press(variables);

  #show(
    unknown: UnknownSubmission<TVariables> | undefined,
  ): SafeSubmitResult<TData, TError, TVariables, TOnMutateResult> {
    const { mutate: _, reset: __, ...result } = this.#observer.result();
    const [reading] = this.#reading;
    const early = reading && !result.isPending && { ...result, ...pending, ...reading };
    const late = this.#unread && !result.isPending && { ...result, ...failed, ...this.#unread };
    return {
      ...(early || late || result),
      submit: this.#submit,
      reset: this.#reset,
      unknown,
      confirmation: this.#confirmation,
      target: result.isIdle ? this.#noTarget : this.#target,
    };
  }

  async #press(
    variables: TVariables,
    confirmedKey?: string,
  ): Promise<SubmitResult<TData, TError, TVariables>> {
    const reading = { variables };
    const { operations, context } = this.#instance;
    const { session } = operations;
    const seen = { last: this.#last, echo: this.#echo };
    this.#reading.add(reading);
    this.#unread = undefined;
    this.#changed();
    const stay = promptBeforeUnload();
    try {
      const fingerprint = await fingerprintOf(withoutFields(variables, context.freshFields));
      // Read only now: an effect may press before the effect that sets the options.
      const payload = this.#options?.keepPayload ? toKept(variables) : undefined;
      if (session.isOver) throw endedWithSession(operations.begin('mutation'), false, 'no');
      // Not awaited: from here on it is under way, and no longer being read.
      const promise = this.#begin(variables, fingerprint, payload, confirmedKey, seen);
      return promise;
    } catch (error) {
      // A payload without content is a mistake of the app; a file that is gone is not.
      if (error instanceof TypeError) throw error;
      this.#unread = { variables, error: error as TError };
      return { status: 'failed', error: this.#unread.error };
    } finally {
      stay();
      this.#reading.delete(reading);
      this.#changed();
    }
  }

  /** `seen`: what there was when it was pressed. */
  #begin(
    variables: TVariables,
    fingerprint: string,
    payload: unknown,
    confirmedKey: string | undefined,
    seen: Seen<TData, TError, TVariables>,
  ): Promise<SubmitResult<TData, TError, TVariables>> {
    const current = this.#current;
    if (current)
      return current.fingerprint === fingerprint
        ? current.promise
        : Promise.resolve({ status: 'busy' });
    const id = confirmedKey + fingerprint;
    // A question that is confirmed twice is sent once.
    if (confirmedKey !== undefined && this.#confirmed?.id === id) return this.#confirmed.promise;
    const echo = confirmedKey === undefined && this.#echoOf(fingerprint, seen);
    if (echo) return Promise.resolve(echo);
    const changedKey = this.#sent?.isChanged ? this.#sent.key : undefined;
    const pressed = { fingerprint, confirmedKey, notDone: this.#notDone, changedKey };
    const { clock } = this.#instance;
    const plan = planSubmission(this.#submissions.read(), pressed, clock);
    this.#confirmation = undefined;
    if (plan.kind === 'ask') return Promise.resolve(this.#ask(plan.reason, variables, plan.key));
    this.#notDone = undefined;
    const submission = { ...plan.submission, payload };
    const promise = this.#take(fingerprint, () => this.#send(variables, submission, plan.wasSent));
    if (confirmedKey !== undefined && submission.key !== confirmedKey)
      this.#confirmed = { id, promise };
    return promise;
  }

  /** `key`: that of the submission that may have been done. */
  #ask(
    reason: ConfirmationReason,
    variables: TVariables,
    key: string,
  ): Ended<TData, TError, TVariables> {
    this.#confirmation = {
      reason,
      variables,
      confirm: () => this.#press(variables, key),
      cancel: () => {
        this.#confirmation = undefined;
        this.#changed();
      },
    };
    return { status: 'needs-confirmation', ...this.#confirmation };
  }

  #echoOf(
    fingerprint: string,
    seen: Seen<TData, TError, TVariables>,
  ): Ended<TData, TError, TVariables> | undefined {
    const last = this.#last;
    // The submission that was under way when it was pressed has ended since, however long its payload took to read.
    const isEcho = last !== seen.last || last === seen.echo;
    return isEcho && last?.fingerprint === fingerprint ? last.result : undefined;
  }

  /** Presses with this fingerprint belong to `work` until it ends. */
  #take(
    fingerprint: string,
    work: () => Promise<Ended<TData, TError, TVariables>>,
  ): Promise<Ended<TData, TError, TVariables>> {
    const run = async (): Promise<Ended<TData, TError, TVariables>> => {
      const result = await work();
      const last = (this.#last = this.#echo = { fingerprint, result });
      startAlarm(this.#instance.clock, result.status === 'succeeded' ? echoMs : 0, () => {
        if (this.#echo === last) this.#echo = undefined;
      });
      this.#current = undefined;
      this.#watch();
      this.#changed();
      return result;
    };
    const promise = run();
    this.#current = { fingerprint, promise };
    return promise;
  }

  /** Sends a submission, and stores it while its outcome is unknown. `wasSent`: it may have been done before. */
  async #send(
    variables: TVariables,
    record: FormSubmission,
    wasSent: boolean,
  ): Promise<Ended<TData, TError, TVariables>> {
    const submissions = this.#submissions;
    const { key, before } = record;
    const sentBefore = this.#sent;
    const isKept = this.#observer.isKept();
    const sentBy = createIdempotencyKey();
    // Stored before anything is sent, so that the next page knows the key. An outbox sees to its keys itself.
    submissions.write({ ...record, sentBy, ...(isKept && { isRepeatable: true }) });
    this.#sent = { key, variables };
    // An outbox asks itself, until the entry is on the disk.
    const stay = isKept ? undefined : promptBeforeUnload();
    const submission = new TabSubmission(submissions, record, wasSent);
    const checkKey = (): void => {
      if (process.env.NODE_ENV !== 'production' && !isKept && !submission.isRepeatable)
        if (!submission.isUnkeyed) warnOfNoKey(this.#statuses, this.#target.mutation);
    };
    try {
      const data = await this.#observer.send(variables, submission);
      checkKey();
      submissions.remove(key);
      return { status: 'succeeded', data };
    } catch (thrown) {
      const error = thrown as TError;
      this.#sent = { key, variables, error, isChanged: submission.isChanged };
      const known = submissions.read();
      // Another page of the tab may have sent it since, and have done it.
      const isOthers = known?.key === key && known.sentBy !== sentBy;
      if (this.#observer.hasFailed() && !isOthers) {
        submissions.undo(key);
        // What is before it is asked about anew.
        this.#confirmed = undefined;
        if (!before) return { status: 'failed', error };
        // The submission before this one is still unknown. With the same content, so is this one.
        const isSame = before.fingerprint === record.fingerprint;
        this.#sent = isSame ? { key: before.key, variables, error } : sentBefore;
        if (isSame) submission.recordResent();
        else submission.recordRefused();
        return { status: isSame ? 'unknown' : 'failed', error };
      }
      checkKey();
      const isStuck = this.#isFruitless(record, error, wasSent);
      return isStuck ? this.#ask('cannot-find-out', variables, key) : { status: 'unknown', error };
    } finally {
      stay?.();
    }
  }

  /** Whether a press that has ended as unknown is to ask the user: the next one would end in the same. */
  #isFruitless(record: FormSubmission, error: unknown, wasSent: boolean): boolean {
    const { key, createdAt, fruitless = 0 } = record;
    const { failure, decision } = reportOf(error, createdAt);
    const { kind } = failure;
    // The lifetime of keys at its API has changed since it was sent.
    if (kind === 'expired' || kind === 'age-unknown')
      this.#submissions.update(key, { expiresAt: createdAt });
    // The first press, and one that was not sent to its end, say nothing of the next.
    if (!wasSent || kind === 'aborted' || decision?.reason === 'paused-too-long') return false;
    this.#submissions.update(key, { fruitless: fruitless + 1 });
    const known = this.#submissions.read();
    return known?.key === key && known.isRepeatable === true && isFruitless(known);
  }

  /** The earlier submission that may have been done. */
  #findUnknown(): UnknownSubmission<TVariables> | undefined {
    const known = this.#submissions.read();
    if (this.#current || !known) return undefined;
    const { variables, error } = this.#sentOf(known);
    return {
      idempotencyKey: known.key,
      since: known.createdAt,
      variables,
      error,
      isRepeatable: !!known.isRepeatable,
      isExpired: whyKeyForgotten(known, this.#instance.clock) !== undefined,
      isResolving: this.#isResolving,
      resolve: this.#resolve,
    };
  }

  /** Asks the API what has become of it. */
  readonly #resolve = async (): Promise<'done' | 'not-done' | 'unknown'> => {
    const submissions = this.#submissions;
    const known = submissions.read();
    const unknown = this.#findUnknown();
    const { resolve: ask, mutation } = this.#options ?? {};
    const definition = definitionBehind(this.#client.defaultMutationOptions(mutation).mutationFn);
    if (!ask || !definition || !known || !unknown || this.#isResolving) return 'unknown';
    const { idempotencyKey, variables } = unknown;
    const { fetch, json } = definition;
    this.#isResolving = true;
    this.#changed();
    const said = await withLimit(
      this.#instance,
      () => ask({ idempotencyKey, variables, fetch, json }),
      () => unsettled('resolve'),
    ).catch(() => 'unknown' as const);
    const isAnswer = said === 'not-done' || (Object(said) === said && 'done' in (said as object));
    const answer = isAnswer ? said : 'unknown';
    this.#isResolving = false;
    // It may have been sent again in the meantime.
    const now = submissions.read();
    const isStillOpen = !this.#current && now?.key === known.key && now.sentBy === known.sentBy;
    if (isStillOpen && answer === 'not-done') {
      submissions.undo(known.key);
      this.#confirmed = undefined;
      // If there is one before it, the user is asked about that.
      this.#notDone = known.before ? undefined : known;
      this.#last = undefined;
    }
    if (isStillOpen && typeof answer === 'object') await this.#finish(known, answer.done);
    this.#changed();
    return typeof answer === 'object' ? 'done' : answer;
  };

  /** What was unknown is done, with this data. */
  async #finish(known: FormSubmission, data: TData): Promise<void> {
    const { variables } = this.#sentOf(known);
    this.#submissions.remove(known.key);
    this.#clearPresses();
    await this.#take(known.fingerprint, async () => {
      await this.#observer.finish(data, variables);
      return { status: 'succeeded', data };
    });
  }

  /** Watches what becomes of the unknown submission without a press: an outbox delivers it, or its key expires. */
  #watch(): void {
    const known = this.#submissions.read();
    if (this.#current || this.#watched?.key === known?.key) return;
    this.#watched?.stop();
    if (!known) return void (this.#watched = undefined);
    const { key, createdAt, expiresAt = Infinity } = known;
    const { clock } = this.#instance;
    const leftMs = expiresAt - createdAt - ageOf(known, clock);
    const alarm = startAlarm(clock, leftMs + 1, this.#changed);
    const unfollow = this.#observer.follow(key, (data) => {
      const now = this.#submissions.read();
      if (!this.#current && now?.key === key) void this.#finish(now, data);
    });
    const stop = (): void => {
      alarm(Infinity);
      unfollow?.();
    };
    this.#watched = { key, stop };
  }

  /** What is known of a submission beside its record. */
  #sentOf(known: FormSubmission): Partial<Sent<TVariables, TError>> {
    const sent = this.#sent;
    return sent?.key === known.key ? sent : { variables: known.payload as TVariables };
  }
}

function warnOfNoKey(owner: object, form: string): void {
  warn(
    owner,
    form,
    `useSafeSubmit, ${form}: no request of this submission carried its idempotency key, so it cannot be ` +
      `sent again without asking the user. Send it with the json or fetch of the mutationFn's context, ` +
      `also after an await, or give another client context.takeKey() as its key.`,
  );
}
