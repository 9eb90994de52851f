import type { Clock } from '../../lib/clock.ts';
import { toUrl } from '../../lib/input/url.ts';

/** When a key was made. */
export interface Born {
  /** On the wall clock, in epoch milliseconds. */
  readonly createdAt: number;
  /** How far the clock of its page was ahead of that, because that was set back before, in milliseconds. @default 0 */
  readonly aheadMs?: number | undefined;
}

/** A key that is made now. @param clock - The steady clock of the page. */
export function bornNow(clock: Clock): Born {
  const aheadMs = clock.setBackMs?.() ?? 0;
  return { createdAt: clock.now() - aheadMs, aheadMs: aheadMs || undefined };
}

/** What is known of a submission when an operation begins. */
export interface SubmissionFacts extends Born {
  readonly key: string;
  /** It may have been sent before this operation: the form was, or the page is a new one. @default false */
  readonly wasSent?: boolean | undefined;
  /** A request of it has gone without a key. @default false */
  readonly isUnkeyed?: boolean | undefined;
  /** A request that may be sent again has gone. @default false */
  readonly isRepeatable?: boolean | undefined;
  /** Its steps so far. */
  readonly past?: readonly PastStep[] | undefined;
}

/** What gives the requests of one operation their idempotency keys, and remembers what became of them. */
export class Submission implements Born {
  /** Carried by the one request that needs no name. Those with a name carry keys derived from it and the name. */
  readonly key: string;
  /** On the wall clock, in epoch milliseconds: a key that is older than its API keeps it is never sent again by itself. */
  readonly createdAt: number;
  readonly aheadMs: number | undefined;
  #wasSent: boolean;
  #isUnkeyed: boolean;
  #isRepeatable: boolean;
  #isChanged = false;
  #isStuck = false;
  readonly #steps: Map<string, PastStep>;
  /** The ids of its steps from before this operation. */
  #earlier: ReadonlySet<string>;

  constructor(facts: SubmissionFacts) {
    const { key, createdAt, wasSent = false, isUnkeyed = false, isRepeatable = false } = facts;
    this.key = key;
    this.createdAt = createdAt;
    this.aheadMs = facts.aheadMs;
    this.#wasSent = wasSent;
    this.#isUnkeyed = isUnkeyed;
    this.#isRepeatable = isRepeatable;
    this.#steps = new Map(facts.past?.map((step) => [step.id, step]));
    this.#earlier = new Set(this.#steps.keys());
  }

  /** It may have been done before this operation. */
  get wasSent(): boolean {
    return this.#wasSent;
  }
  /** A request of it went without a key, because its API honours none: once more may be twice. */
  get isUnkeyed(): boolean {
    return this.#isUnkeyed;
  }
  /** A request that may be sent again has gone: with a key, or an idempotent one. */
  get isRepeatable(): boolean {
    return this.#isRepeatable;
  }
  /** A step from before this operation is not what it was, and its bytes are not kept: it cannot be sent again. */
  get isChanged(): boolean {
    return this.#isChanged;
  }
  /** Its API has stored an answer under its key that does not tell what was done: the key tells nothing any more. */
  get isStuck(): boolean {
    return this.#isStuck;
  }
  /** Its steps so far. They bind it where it may have been sent. */
  get past(): readonly PastStep[] {
    return [...this.#steps.values()];
  }
  /** Whether this step was sent before this operation, as far as is known. */
  isEarlier(id: string): boolean {
    return this.#earlier.has(id);
  }

  /** Its mutationFn runs again in this page: what it sent before may have been done. */
  recordResent(): void {
    this.#wasSent = true;
    this.#earlier = new Set(this.#steps.keys());
  }
  /** Its API has refused all that was sent before this operation. */
  recordRefused(): void {
    this.#wasSent = false;
  }
  /** A request goes that may be sent again. */
  recordRepeatable(): void {
    this.#isRepeatable = true;
  }
  /** A request goes without a key. */
  recordUnkeyed(): void {
    this.#isUnkeyed = true;
  }
  /** A step is not what it was. */
  recordChanged(): void {
    this.#isChanged = true;
  }
  /** Its API gives a stored answer that does not tell what was done. */
  recordStuck(): void {
    this.#isStuck = true;
  }
  /** A step is sent now, to an API that remembers its key for so long. */
  recordSent(step: Step, _rules: { readonly lifetimeMs?: number | undefined }): void {
    this.recordStep(step);
  }
  /** A step is sent, done, or refused. */
  recordStep(step: Step): void {
    const { attempt: _, ...past } = step;
    this.#steps.set(step.id, past);
  }

  /** What a body is known by where its bytes are not stored. Undefined where they are. */
  digest(_body: FixedBody): Promise<string> | undefined {
    return undefined;
  }
  /** Resolves once what was recorded is stored: no request goes before. Undefined where nothing is stored. */
  stored(): Promise<void> | undefined {
    return undefined;
  }
}

/** A body that no longer changes. */
export type FixedBody = string | URLSearchParams | Blob | ArrayBuffer | null;

/** One keyed request of an operation, in all its attempts. */
export interface Step {
  /** '' for the one without a name, `#` and its name, or `=` and the key that it brings. */
  readonly id: string;
  /** Method and absolute URL. */
  readonly target: string;
  readonly key: string;
  /** One key never has two payloads: what was sent first is what is sent. Undefined where only the digest is kept. */
  body?: FixedBody | undefined;
  /** What its body is known by. */
  readonly digest?: string | undefined;
  /** The latest attempt that it was part of. */
  attempt: number;
  /** When it was first sent, in epoch milliseconds. */
  sentAt?: number | undefined;
  /** It was answered, and well. */
  isDone?: boolean | undefined;
  /** It was definitely refused: its key stands for that refusal. */
  isRefused?: boolean | undefined;
  /** How many keys of it stand for refusals. @default 0 */
  readonly refusals?: number | undefined;
}

/** The `target` of a request. */
export const stepTarget = (method: string, url: string): string =>
  `${method} ${toUrl(url)?.href ?? url}`.replace(/#.*/s, '');

/** What is kept of a step when its operation is over. */
export type PastStep = Omit<Step, 'attempt'>;

/**
 * The steps of a submission that the user sends again. What was definitely refused takes a fresh key:
 * the old one would be answered with the same refusal for ever.
 */
export function renewRefused(steps: readonly PastStep[]): readonly PastStep[] {
  return steps.map((step) => {
    const { id, target, key, isRefused, refusals = 0 } = step;
    return isRefused ? { id, target, key, refusals: refusals + 1 } : step;
  });
}

/** The keyed requests of an operation, each of which waits its turn to be told which step it is. */
export interface Steps {
  readonly known: Map<string, Step>;
  turn: Promise<unknown>;
  /** The latest attempt with a keyed request, and where the first of them goes: the others need names. */
  asked?: { readonly attempt: number; readonly target: string } | undefined;
  /** Why no request of this attempt goes any more: it could not be told which step one of them is. */
  mistake?: { readonly attempt: number; readonly error: unknown } | undefined;
  /** The submission may have been sent by an earlier operation. */
  readonly wasSent: boolean;
}
