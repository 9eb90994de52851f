import { fingerprintOf } from '../../lib/fingerprint.ts';
import {
  type FixedBody,
  type KeyRules,
  type PastStep,
  type Step,
  Submission,
} from '../../operation/parts/submission.ts';
import { toUrl } from '../../lib/input/url.ts';
import { warn } from '../../lib/input/warn.ts';
import type { Row } from '../store/row.ts';

/** What is written of the requests of an entry, before one of them goes. */
interface RequestNote {
  readonly isUnkeyed: boolean;
  readonly steps: readonly PastStep[];
}

/** Why nothing of an attempt goes. */
export type Unkept =
  /** It is no longer wanted, or another tab's. */
  | { readonly kind: 'dropped' }
  /** Without a key, it could be done twice. */
  | { readonly kind: 'not-repeatable' }
  /** What had to be kept before it went could not be. */
  | { readonly kind: 'unsent'; readonly error: unknown };

/** How the submission of an entry is kept. */
export interface KeepOptions {
  /** Its requests so far, in whatever tab. */
  readonly past: readonly PastStep[];
  /** Whatever its handler does may be done twice. */
  readonly idempotent: boolean | undefined;
  /** Keeps this before a request goes. @returns whether it may go. */
  readonly note: (note: RequestNote) => Promise<boolean>;
  /** Takes that back, at once: nothing has gone, and nothing goes any more. */
  readonly takeBack: () => Promise<unknown>;
}

/** The submission of an entry, in one attempt: nothing of it goes before that is kept on the disk. */
export class EntrySubmission extends Submission {
  readonly #entry: Row;
  readonly #options: KeepOptions;
  readonly #signal: AbortSignal;
  #unkept: Unkept | undefined;
  #wasOut = false;
  #isOver = false;

  constructor(entry: Row, options: KeepOptions, signal: AbortSignal) {
    const { id: key, createdAt, aheadMs, isInDoubt: wasSent, isUnkeyed } = entry;
    const { past, takeBack } = options;
    super({ key, createdAt, aheadMs, wasSent, isUnkeyed, past });
    this.#entry = entry;
    this.#options = options;
    this.#signal = signal;
    signal.addEventListener('abort', () => {
      if (!this.#wasOut) takeBack().catch(() => {});
    });
  }

  /** Why nothing more of it goes; undefined while it may go. */
  get unkept(): Unkept | undefined {
    return this.#unkept;
  }
  /** A request of this attempt may have gone. */
  get wasOut(): boolean {
    return this.#wasOut;
  }

  override recordStep(step: Step, sentTo?: KeyRules): void {
    super.recordStep(step, sentTo);
    if (process.env.NODE_ENV !== 'production' && sentTo && sentTo.lifetimeMs === undefined)
      warnOfLifetime(step);
  }

  override digest(body: FixedBody): Promise<string> {
    return fingerprintOf(body);
  }

  /** Before each request: since the last one, another tab may have taken it over. @throws where it may not go. */
  override async stored(): Promise<void> {
    this.#unkept = (await this.#keepAll()) ?? this.#unkept;
    this.refuseLate();
    this.refuseUnkept(this.#signal.aborted);
    this.#wasOut = true;
  }

  async #keepAll(): Promise<Unkept | undefined> {
    const { isUnkeyed } = this;
    const { idempotent, note } = this.#options;
    // Nobody knows any more whether it was under way already.
    if (isUnkeyed && this.#entry.isRestored && !idempotent) return { kind: 'not-repeatable' };
    try {
      return (await note({ isUnkeyed, steps: this.past })) ? undefined : { kind: 'dropped' };
    } catch (error) {
      return { kind: 'unsent', error };
    }
  }

  /** @throws Error where what had to be kept before a request was not, or the entry is gone. */
  refuseUnkept(isGone: boolean = false): void {
    if (this.#unkept || isGone)
      throw new Error('This entry is not sent: the outbox could not note it.');
  }

  /** @throws Error once the attempt is over: the next one sends it, or the entry was discarded meanwhile. */
  refuseLate(): void {
    if (!this.#isOver) return;
    let message = `The attempt of the outbox handler '${this.#entry.handler}' that sends this has ended: it is not sent.`;
    if (process.env.NODE_ENV !== 'production')
      message += ' Await in the mutationFn all that it sends.';
    throw new Error(message);
  }

  /** The attempt is over. */
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
