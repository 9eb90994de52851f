import type { Clock } from '../../lib/clock.ts';
import { toUrl } from '../../lib/input/url.ts';
import type { Processed } from '../../policy/outcome.ts';

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

/** The facts about a submission when an operation begins. */
export interface SubmissionFacts extends Born {
  readonly key: string;
  /** An earlier operation may have sent it: the form was submitted before, or the page is a new one. @default false */
  readonly wasSent?: boolean | undefined;
  /** A request of it went without a key. @default false */
  readonly isUnkeyed?: boolean | undefined;
  /** A request of it that may be repeated was sent. @default false */
  readonly isRepeatable?: boolean | undefined;
  /** The steps so far. */
  readonly past?: readonly PastStep[] | undefined;
}

/**
 * Gives the requests of one operation their idempotency keys, and remembers their ends. Any module may read its
 * fields; only its methods write them.
 */
export class Submission implements Born {
  /** Carried by the one request that needs no name. Those with a name carry keys derived from it and the name. */
  readonly key: string;
  readonly createdAt: number;
  readonly aheadMs: number | undefined;
  /** True if the submission may have been done before this operation. */
  wasSent: boolean;
  /** A request of it went without a key, because its API honours none: sending it again may do it twice. */
  isUnkeyed: boolean;
  /** A request that may be repeated was sent: with a key, or an idempotent one. */
  isRepeatable: boolean;
  /** The app has taken its key for another client: what that sends carries it. */
  isTaken = false;
  /** A step from before this operation has changed, and its bytes are not kept: it cannot be sent again. */
  isChanged = false;
  /** True if the API has stored an answer under the key that does not say whether the submission was done. */
  isStuck = false;
  /** When an API that the submission was sent to may forget its key, in epoch milliseconds. */
  expiresAt: number = Infinity;
  /** The steps so far, the latest last. A submission that may have been sent repeats them. */
  past: readonly PastStep[];
  /** The ids of the steps from before this operation. */
  #earlier: readonly string[];

  constructor(facts: SubmissionFacts) {
    const { key, createdAt, wasSent = false, isUnkeyed = false, isRepeatable = false } = facts;
    this.key = key;
    this.createdAt = createdAt;
    this.aheadMs = facts.aheadMs;
    this.wasSent = wasSent;
    this.isUnkeyed = isUnkeyed;
    this.isRepeatable = isRepeatable;
    this.past = facts.past ?? [];
    this.#earlier = this.past.map(({ id }) => id);
  }

  /** Whether this step was sent before this operation, as far as is known. */
  isEarlier(id: string): boolean {
    return this.#earlier.includes(id);
  }

  /** Records that the mutationFn runs again in this page, so that all requests so far may have been done. */
  recordResent(): void {
    this.wasSent = true;
    this.#earlier = this.past.map(({ id }) => id);
  }
  /** Records that the API has refused all that was sent before this operation. */
  recordRefused(): void {
    this.wasSent = false;
  }
  /** A request that may be repeated is sent. */
  recordRepeatable(): void {
    if (this.isRepeatable) return;
    this.isRepeatable = true;
    this.keep();
  }
  /** The app takes its key. */
  recordTaken(): void {
    this.isTaken = true;
    this.recordRepeatable();
  }
  /** A request is sent without a key. */
  recordUnkeyed(): void {
    this.isUnkeyed = true;
    this.keep();
  }
  /** A step has changed. */
  recordChanged(): void {
    this.isChanged = true;
    this.keep();
  }
  /** Records that the API gives a stored answer that does not say whether the submission was done. */
  recordStuck(): void {
    this.isStuck = true;
    this.keep();
  }
  /** A step is sent, done, or refused. @param sentTo - The rules of the API that it is sent to. */
  recordStep(step: Step, sentTo?: KeyRules): void {
    const { lifetimeMs = Infinity } = sentTo ?? {};
    this.expiresAt = Math.min(this.expiresAt, this.createdAt + lifetimeMs);
    const { attempt: _, ...past } = step;
    this.past = [...this.past.filter(({ id }) => id !== step.id), past];
    this.keep();
  }

  /** Called after each change, where the facts are stored. */
  protected keep(): void {}

  /** Identifies a body whose bytes are not stored; undefined where they are. */
  digest(_body: FixedBody): Promise<string> | undefined {
    return undefined;
  }
  /** Resolves once the facts are stored: no request is sent before. Undefined where they are stored at once, or not. */
  stored(): Promise<void> | undefined {
    return undefined;
  }
  /** Whether it succeeds only if its last write does, whatever its mutationFn returns. */
  get isOfForm(): boolean {
    return false;
  }
}

/** The rules of an API about its keys. */
export interface KeyRules {
  readonly lifetimeMs?: number | undefined;
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
  /** One key never has two payloads: the bytes that were sent first are sent again. Undefined where only the digest is kept. */
  readonly body?: FixedBody | undefined;
  /** Identifies its body. */
  readonly digest?: string | undefined;
  /** The latest attempt that it was part of; 0 for one before this operation. */
  readonly attempt: number;
  /** When it was first sent, in epoch milliseconds. */
  readonly sentAt?: number | undefined;
  /** True if the step succeeded. */
  readonly isDone?: boolean | undefined;
  /** True if the step was definitely refused, so that its key stands for that refusal. */
  readonly isRefused?: boolean | undefined;
  /** How many keys of it stand for refusals. @default 0 */
  readonly refusals?: number | undefined;
}

/** The `target` of a request. */
export const stepTarget = (method: string, url: string): string =>
  `${method} ${toUrl(url)?.href ?? url}`.replace(/#.*/s, '');

/** The facts of a step that are kept when its operation is over. */
export type PastStep = Omit<Step, 'attempt'>;

/**
 * The steps of a submission that the user sends again. One that was definitely refused gets a fresh key: the old one
 * would be answered with the same refusal for ever.
 */
export function renewRefused(steps: readonly PastStep[]): readonly PastStep[] {
  return steps.map((step) => {
    const { id, target, key, isRefused, refusals = 0 } = step;
    return isRefused ? { id, target, key, refusals: refusals + 1 } : step;
  });
}

/** A request that needs a key. */
export interface StepRequest {
  /** Method and absolute URL. */
  readonly target: string;
  /** The key that it has already. */
  readonly own: string | undefined;
  readonly name: string | undefined;
  readonly attempt: number;
  /** Whether the requests with this key were processed; undefined while one of them is in flight. */
  readonly processedWith: (key: string) => Processed | undefined;
  /** The body as it was passed this time. */
  readonly body: () => Promise<BodyInit | null>;
}

/** The keyed requests of an operation. */
export interface Steps {
  readonly known: ReadonlyMap<string, Step>;
  readonly take: (request: StepRequest) => Promise<Step>;
  readonly change: (step: Step, change: Partial<Step>) => Step;
}
