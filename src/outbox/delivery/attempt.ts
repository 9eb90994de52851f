import { inDevelopment } from '../../core/lib/development.ts';
import {
  Owner,
  Submission,
  attemptContext,
  bindFetch,
  isNetworkError,
  mayHaveTakenEffect,
  refuseHandedOut,
  renewableAt,
  reportOf,
  runAttending,
  submissionExtension,
  type AttemptLimit,
  type Decision,
  type Execution,
  type FailureReport,
  type Fetches,
  type FixedBody,
  type HandedOver,
  type KeyRules,
  type Operation,
  type PastStep,
  type Policy,
  type RawFetch,
  type SteadyFetch,
  type SteadyInit,
  type Step,
} from '../../core/internal.ts';
import { fingerprintOf } from '../../core/lib/fingerprint.ts';
import { toUrl } from '../../core/lib/input/url.ts';
import { warn } from '../../core/lib/input/warn.ts';
import { TimeLimit } from '../../core/lib/timer.ts';
import type { Codec } from '../codec.ts';
import type { Failed, HandlerDefinition } from '../handler.ts';
import type { Row } from '../store/row.ts';
import type { RowStore } from '../store/row-store.ts';
import type { Fence } from '../store/schema.ts';
import type { Running } from './due.ts';
import type { SenderContext } from './page.ts';

type Unkept =
  /** The entry is no longer wanted, or another tab has it. */
  | { readonly kind: 'dropped' }
  /** The entry has no key, and could be done twice. */
  | { readonly kind: 'not-repeatable' }
  /** The record that must be stored before a request could not be written. */
  | { readonly kind: 'unsent'; readonly error: unknown };

/** Records the requests of an entry before one of them is sent. */
interface Recorder {
  readonly past: readonly PastStep[];
  readonly idempotent: boolean | undefined;
  readonly store: Pick<RowStore, 'recordRequest'>;
  readonly fence: Fence;
  readonly codec: Codec;
}

export const encodeSteps = async (
  codec: Codec,
  steps: readonly PastStep[],
): Promise<Pick<Row, 'steps'>> =>
  steps.length > 0 ? { steps: await codec.encode('outbox', steps) } : {};

const isSameStep = (one: PastStep, other: PastStep | undefined): boolean =>
  Object.entries({ ...other, ...one }).every(([name, value]) => Object(other)[name] === value);

/** The submission of an entry in one attempt. None of its requests is sent before that is stored on the disk. */
class EntrySubmission extends Submission {
  readonly #entry: Row;
  readonly #recorder: Recorder;
  readonly #signal: AbortSignal;
  #unkept: Unkept | undefined;
  #wasOut = false;
  #isOver = false;
  /** The steps as they are stored. */
  #stored: readonly PastStep[];

  constructor(entry: Row, recorder: Recorder, signal: AbortSignal) {
    const { id: key, createdAt, aheadMs, isInDoubt: wasSent, isUnkeyed, attempts } = entry;
    const { past, store, fence } = recorder;
    super({ key, createdAt, aheadMs, wasSent, isUnkeyed, past });
    this.#entry = entry;
    this.#recorder = recorder;
    this.#signal = signal;
    this.#stored = entry.isRedriven ? [] : past;
    signal.addEventListener('abort', () => {
      // Nothing was sent, and nothing will be, so the record is taken back at once.
      if (!this.#wasOut) store.recordRequest(entry, fence, { attempts, isUnkeyed }).catch(() => {});
    });
  }

  /** Why no more of its requests are sent; undefined while they may be. */
  get unkept(): Unkept | undefined {
    return this.#unkept;
  }
  get wasOut(): boolean {
    return this.#wasOut;
  }
  /** The steps, if they are not stored as they are. Their bytes may be many, so they are not written again. */
  get unstored(): readonly PastStep[] {
    const { past } = this;
    const isStored =
      past.length === this.#stored.length &&
      past.every((step, at) => isSameStep(step, this.#stored[at]));
    return isStored ? [] : past;
  }

  override recordStep(step: Step, sentTo?: KeyRules): void {
    super.recordStep(step, sentTo);
    if (process.env.NODE_ENV !== 'production' && sentTo && sentTo.lifetimeMs === undefined)
      warnOfLifetime(step);
  }

  override digest(body: FixedBody): Promise<string> {
    return fingerprintOf(body);
  }

  /** Called before each request, because another tab may have taken the entry over since the last one. @throws if it must not be sent. */
  override async stored(): Promise<void> {
    this.#unkept = (await this.#keepAll()) ?? this.#unkept;
    this.refuseLate();
    this.refuseUnkept(this.#signal.aborted);
    this.#wasOut = true;
  }

  async #keepAll(): Promise<Unkept | undefined> {
    // After a restart it is not known whether a request was under way.
    if (this.isUnkeyed && this.#entry.isRestored && !this.#recorder.idempotent)
      return { kind: 'not-repeatable' };
    try {
      const { past, unstored } = this;
      // There may be no room for the bytes, or they cannot be stored. Then only their digests are.
      const isOurs = await this.#record(unstored).catch(() =>
        this.#record(unstored.map((step) => ({ ...step, body: undefined }))),
      );
      this.#stored = past;
      return isOurs ? undefined : { kind: 'dropped' };
    } catch (error) {
      return { kind: 'unsent', error };
    }
  }

  async #record(steps: readonly PastStep[]): Promise<boolean> {
    const { store, fence, codec } = this.#recorder;
    return store.recordRequest(this.#entry, fence, {
      ...(await encodeSteps(codec, steps)),
      isRedriven: false,
      attempts: this.#entry.attempts + 1,
      ...(this.isUnkeyed && { isUnkeyed: true }),
    });
  }

  /** @throws Error if the record before a request could not be stored, or the entry is missing. */
  refuseUnkept(isGone: boolean = false): void {
    if (this.#unkept || isGone)
      throw new Error('This entry is not sent: the outbox could not note it.');
  }

  /** @throws Error after the end of the attempt: only the next attempt sends, or the entry was discarded. */
  refuseLate(): void {
    if (!this.#isOver) return;
    let message = `The attempt of the outbox handler '${this.#entry.handler}' that sends this has ended: it is not sent.`;
    message += inDevelopment(() => ' Await in the mutationFn all that it sends.') ?? '';
    throw new Error(message);
  }

  close(): void {
    this.#isOver = true;
  }
}

function warnOfLifetime({ target }: Step): void {
  const { origin = '' } = toUrl(target.replace(/^\S+ /, '')) ?? {};
  warn(
    EntrySubmission,
    origin,
    `An entry of the outbox is sent to ${origin}, and its API is not declared to forget keys. An entry may wait for ` +
      `days: sent again under a key that is forgotten, it is done twice. Declare how long keys are kept, ` +
      `defineIdempotency({ ...profiles.draft, lifetimeMs: 86_400_000 }), or lifetimeMs: Infinity where it is for ever.`,
    'outbox.md',
  );
}

interface SendOptions extends Omit<Recorder, 'idempotent'> {
  readonly definition: HandlerDefinition;
  readonly variables: unknown;
  /** True if the handler sends without its context, so that its requests are not known. */
  readonly isForeign: boolean;
  /** A user has asked for it, so it is sent whatever the state of its origin. */
  readonly isUrged: boolean;
  /** The operation of its earlier attempts in this tab. */
  readonly before: HandedOver | undefined;
  readonly onChange: (entry: Row, operation: Operation) => void;
}

export interface FailedAttempt extends Failed {
  readonly kind: 'failed';
  readonly error: unknown;
  /** True if the key is of no use any more. */
  readonly isStuck: boolean;
  readonly before: HandedOver;
  /** The steps, if they are not stored as they are. */
  readonly unstored: readonly PastStep[];
}

type Attempted = { readonly kind: 'done'; readonly data: unknown } | FailedAttempt | Unkept;

/** How often the time limit of an entry is doubled after time-outs, for a slow connection or a large body. A hang still ends. */
const mostDoublings = 3;

/** One attempt at an entry, by the same rules as all other operations of this instance. */
export class EntryAttempt extends Owner<Operation> {
  readonly #sender: SenderContext;
  readonly #running: Running;
  readonly #options: SendOptions;
  readonly #submission: EntrySubmission;
  readonly #operation: Operation;
  readonly #idle: IdleLimit;

  constructor(sender: SenderContext, running: Running, options: SendOptions) {
    const { entry, controller } = running;
    const { definition, isUrged, before } = options;
    const { idempotent } = definition.handler;
    super();
    this.#sender = sender;
    this.#running = running;
    this.#options = options;
    this.#submission = new EntrySubmission(entry, { ...options, idempotent }, controller.signal);
    this.#operation = sender.operations.begin('mutation', {
      policy: definition.own,
      submission: this.#submission,
      submissionCode: submissionExtension,
      idempotent,
      attempt: entry.attempts + 1,
      isUrged,
      before,
      timeoutFactor: 2 ** Math.min(entry.timeouts, mostDoublings),
      endsWithOwner: true,
      // A user who sends it again means it now.
      meantAt: isUrged || entry.isRedriven ? undefined : entry.createdAt,
    });
    this.#idle = new IdleLimit(sender, running, definition.policy);
    this.#operation.limitAttempt(this.#idle);
  }

  override onChange(operation: Operation): void {
    this.#options.onChange(this.#running.entry, operation);
  }

  /** Never rejects. */
  async send(): Promise<Attempted> {
    const { executions } = this.#sender.operations;
    const { definition } = this.#options;
    const [submission, operation] = [this.#submission, this.#operation];
    this.#running.begin(operation);
    operation.attend(this);
    operation.owner.onChange(operation);
    const isIdle = (): boolean => this.#running.open === 0;
    const execution: Execution = { submission, operation, isIdle };
    if (!definition.handler.idempotent) executions.add(execution);
    try {
      return { kind: 'done', data: await this.#run() };
    } catch (error) {
      return this.#endFailed(error);
    } finally {
      submission.close();
      executions.delete(execution);
      this.#idle.end();
    }
  }

  async #run(): Promise<unknown> {
    const { definition, variables, isForeign } = this.#options;
    const { signal } = this.#running.controller;
    const { claims } = this.#running.entry;
    const submission = this.#submission;
    const fetches = this.#createFetches();
    if (isForeign) {
      submission.recordUnkeyed();
      await submission.stored();
    }
    const context = attemptContext({}, fetches, submission, claims, signal);
    const given: [never, typeof context] = [variables as never, context];
    const { mutationFn } = definition.handler;
    const run = async (...args: typeof given): Promise<unknown> => {
      const done: unknown = await runAttending(() => mutationFn(...args));
      refuseHandedOut(this.#operation);
      return done;
    };
    const data = await this.#sender.operations.run(this.#operation, run, given, { signal });
    // The handler may have swallowed our error; the request was still not sent.
    submission.refuseUnkept();
    return data;
  }

  /** The fetches of a handler's context. After its attempt they send nothing. */
  #createFetches(): Fetches {
    const { signal } = this.#running.controller;
    const bound = bindFetch(this.#sender, this.#operation, signal).fetchNow();
    const guard =
      (send: SteadyFetch): RawFetch =>
      async (input, init) => {
        this.#submission.refuseLate();
        return send(input, init as SteadyInit);
      };
    return { fetch: guard(bound.fetch), rawFetch: guard(bound.rawFetch) };
  }

  /** Ends a failed attempt. The operation emits no end, because its next attempt continues it. */
  #endFailed(thrown: unknown): Attempted {
    const { unkept, wasOut } = this.#submission;
    // The record before its first request could not be stored.
    const isUnkept = !wasOut && unkept?.kind === 'unsent';
    if (this.#running.controller.signal.aborted || (unkept && !isUnkept)) {
      this.#operation.end('cancelled');
      return unkept ?? { kind: 'dropped' };
    }
    return this.#recordFailed(isUnkept ? unkept.error : thrown, isUnkept);
  }

  #recordFailed(error: unknown, isUnkept: boolean): FailedAttempt {
    const [operation, submission] = [this.#operation, this.#submission];
    const { wasOut } = submission;
    const isIdle = this.#idle.isIts(error);
    const nowMs = this.#sender.clock.now();
    const report = reportOf(error, nowMs);
    const { kind, processed } = report.failure;
    // A late write may still be stored, and the entry would then count as sent.
    const isUnsent = !wasOut && (isUnkept || (kind === 'timeout' && processed === 'no'));
    const authAt = renewableAt.get(report.failure);
    const isLater = isUnsent || authAt !== undefined || this.#isTriedAgain(report, error, isIdle);
    const decision = isLater ? triedAgain : operation.fail(error, nowMs);
    operation.recordError(error, decision);
    operation.end();
    // The policy may know more by now: from the app's reader of errors, or from the rest of the attempt.
    const shown = reportOf(error, nowMs);
    const isInDoubt = isIdle || mayHaveTakenEffect(shown, operation);
    return {
      kind: 'failed',
      error,
      failure: shown.failure,
      isUnsent,
      renewableInMs: authAt && authAt - nowMs,
      decision,
      isInDoubt: isUnsent ? this.#running.entry.isInDoubt : isInDoubt,
      wasSent: wasOut,
      isStuck: submission.isStuck,
      before: operation.handOver(),
      unstored: submission.unstored,
    };
  }

  /** Whether another attempt follows whatever the policy says. `isIdle`: it was given up because nothing happened. */
  #isTriedAgain({ request, failure }: FailureReport, error: unknown, isIdle: boolean): boolean {
    const { idempotent } = this.#options.definition.handler;
    // The effect is unknown, as if the tab had died: the entry may only be repeated with a key, or if it is idempotent.
    if (isIdle) return !this.#submission.isUnkeyed || !!idempotent;
    // The entry was done, and its answer can only be had by a repetition.
    return (
      request?.method === 'PUT' &&
      failure.processed === 'yes' &&
      !this.#operation.effects.isUnrepeatable() &&
      (isNetworkError(error) || failure.kind === 'timeout')
    );
  }
}

const triedAgain: Decision = { kind: 'stop', reason: 'deadline', retryAt: undefined };

/** The least time limit for an attempt that does nothing, in milliseconds. */
const leastMs = 60_000;

/** Limits the time in which an attempt neither ends nor has a request under way, and counts its requests. */
class IdleLimit implements AttemptLimit {
  readonly #running: Running;
  readonly #limit: TimeLimit;
  readonly #limitMs: number;
  #isOver = false;
  #late: Error | undefined;

  constructor(sender: SenderContext, running: Running, { timeout }: Policy) {
    this.#running = running;
    this.#limitMs = Math.max(leastMs, typeof timeout === 'object' ? timeout.headersMs : timeout);
    this.#limit = new TimeLimit(sender, this);
  }

  beginRequest(url?: string): () => void {
    const end = this.#running.beginRequest(url === undefined ? url : toUrl(url)?.origin);
    this.#limit.stop();
    return () => {
      end();
      this.#resume();
    };
  }

  race<T>(begun: Promise<T>): Promise<T> {
    // A request may be under way already.
    this.#resume();
    return this.#limit.race(begun);
  }

  expire(): Error {
    return (this.#late = idleError(this.#limitMs));
  }

  /** Starts the limit anew, unless a request is under way. */
  #resume(): void {
    if (this.#running.open === 0 && !this.#isOver) this.#limit.restart(this.#limitMs);
  }

  end(): void {
    this.#isOver = true;
    this.#limit.stop();
  }

  isIts(error: unknown): boolean {
    return this.#late !== undefined && error === this.#late;
  }
}

function idleError(limitMs: number): Error {
  let message = `The mutationFn of an outbox handler has not settled, and has sent nothing, for ${limitMs / 1000} s. It is tried again later.`;
  message +=
    inDevelopment(
      () => ' Let whatever it awaits end by itself, or give its policy a longer timeout.',
    ) ?? '';
  return Object.assign(new Error(message), { name: 'IdleError' });
}
