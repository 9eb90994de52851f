import {
  type Born,
  bornNow,
  type FixedBody,
  type PastStep,
  renewRefused,
  type Step,
  Submission,
} from '../operation/parts/submission.ts';
import { createIdempotencyKey, whyForgotten } from '../idempotency/key.ts';
import type { Clock } from '../lib/clock.ts';
import type { TabStorage } from './tab-storage.ts';
import { fingerprintOf, canonicalise } from '../lib/fingerprint.ts';
import { reject } from '../lib/input/check.ts';

/**
 * A submission of a form that may have been done, as its tab keeps it, also over a reload. What has
 * succeeded or surely failed is forgotten: the next press is another submission, with another key.
 */
export interface FormSubmission extends Born {
  readonly key: string;
  /** Of its payload. */
  readonly fingerprint: string;
  /**
   * Whether it may be sent again by itself: its key has gone with it, or its requests are idempotent.
   * False once a request of it may have gone without a key; undefined while none is known to have gone.
   */
  readonly isRepeatable?: boolean | undefined;
  /** Which press has sent it last: another page of the tab may have, while this one was put away. */
  readonly sentBy?: string | undefined;
  /** From then on, in epoch milliseconds, an API that it was sent to may have forgotten its key. */
  readonly expiresAt?: number | undefined;
  /** Its requests, without their bytes. */
  readonly steps?: readonly PastStep[] | undefined;
  /** The payload, where the form is to keep it. */
  readonly payload?: unknown;
  /** Its key tells nothing any more: its API has stored an answer under it that does not say what was done. */
  readonly isStuck?: boolean | undefined;
  /** How many presses have sent it again, and have not found out what became of it. @default 0 */
  readonly fruitless?: number | undefined;
  /** One that may have been done, beside which the user has allowed this one. */
  readonly before?: FormSubmission | undefined;
}

/** What is kept of one form. What this tab has stored counts: another page of it may have gone on. */
export interface Submissions {
  readonly read: () => FormSubmission | undefined;
  readonly write: (submission: FormSubmission) => void;
  /** Changes the submission with this key, if it is still there. */
  readonly update: (key: string, change: Partial<FormSubmission>) => void;
  /** Forgets the submission with this key, if it is still there, and the one before it. */
  readonly remove: (key: string) => void;
  /** The same where it was surely not done: what is known of the one before it is known again. */
  readonly undo: (key: string) => void;
  /**
   * The text of the bodies that this page has sent, by their digests: what is sent again is the same,
   * though the same content may be written otherwise by then. Files are not kept, and nothing over a reload.
   */
  readonly texts: Map<string, string>;
}

/** What this tab keeps of the form with this name. */
export function createSubmissions(storage: TabStorage, form: string): Submissions {
  const name = `steadfetch.form.${form}`;
  const read = (): FormSubmission | undefined => parse(storage.read(name));
  const put = (submission: FormSubmission): void => storage.write(name, JSON.stringify(submission));
  const texts = new Map<string, string>();
  const forget = (): void => {
    storage.remove(name);
    texts.clear();
  };
  return {
    texts,
    read,
    write(submission) {
      // Where there is no room for this one, the one before must not come back.
      storage.remove(name);
      put(submission);
    },
    update(key, change) {
      const known = read();
      if (known?.key === key) put({ ...known, ...change });
    },
    remove(key) {
      if (read()?.key === key) forget();
    },
    undo(key) {
      const known = read();
      if (known?.key !== key) return;
      if (known.before) put(known.before);
      else forget();
    },
  };
}

/** What is in the storage may be anybody's. */
function parse(text: string | null): FormSubmission | undefined {
  try {
    const submission = JSON.parse(text ?? '') as FormSubmission;
    return isWhole(submission) ? submission : undefined;
  } catch {
    return undefined;
  }
}

function isWhole({ key, createdAt, fingerprint, steps = [], before }: FormSubmission): boolean {
  return (
    !!key &&
    typeof key === 'string' &&
    Number.isFinite(createdAt) &&
    typeof fingerprint === 'string' &&
    steps.every(({ id, target, key: own }) => [id, target, own].every(isText)) &&
    (before === undefined || isWhole(before))
  );
}

const isText = (value: unknown): boolean => typeof value === 'string';

/** Why the user must be asked before anything is sent. */
export type ConfirmationReason =
  | 'edited-after-unknown'
  | 'key-expired'
  | 'age-unknown'
  | 'no-key'
  | 'cannot-find-out';

/** What a press of Submit comes to. */
export type SubmissionPlan =
  | { readonly kind: 'send'; readonly submission: FormSubmission; readonly wasSent: boolean }
  | { readonly kind: 'ask'; readonly reason: ConfirmationReason; readonly key: string };

/** What is pressed, and for which unknown submission the user has said that it may be sent. */
export interface Press {
  readonly fingerprint: string;
  readonly confirmedKey?: string | undefined;
  /**
   * What this page was told not to have been done, by whoever it asked. Where that was wrong, because
   * it is still on its way, the same payload under the same key is done once all the same.
   */
  readonly notDone?: FormSubmission | undefined;
  /** The key under which this page could not send it again, because its requests are others by now. */
  readonly changedKey?: string | undefined;
}

/**
 * One submission, one key: the same payload goes again under the same key until its outcome is known.
 * Another payload is another submission; but the key of an unknown outcome is given up by the user
 * alone.
 *
 * @param clock - The steady clock of the page.
 */
export function planSubmission(
  known: FormSubmission | undefined,
  { fingerprint, confirmedKey, notDone, changedKey }: Press,
  clock: Clock,
): SubmissionPlan {
  const fresh = (before?: FormSubmission): SubmissionPlan => ({
    kind: 'send',
    submission: { key: createIdempotencyKey(), ...bornNow(clock), fingerprint, before },
    wasSent: false,
  });
  if (!known)
    return notDone && !whyAsk(notDone, fingerprint, clock)
      ? { kind: 'send', submission: notDone, wasSent: false }
      : fresh();
  const { key } = known;
  const reason = changedKey === key ? 'edited-after-unknown' : whyAsk(known, fingerprint, clock);
  const isConfirmed = confirmedKey === key;
  if (!reason && !(isConfirmed && isFruitless(known)))
    return { kind: 'send', submission: known, wasSent: true };
  if (reason && !isConfirmed) return { kind: 'ask', reason, key };
  const { before: _, ...before } = known;
  return fresh(before);
}

function whyAsk(
  known: FormSubmission,
  fingerprint: string,
  clock: Clock,
): ConfirmationReason | undefined {
  if (known.fingerprint !== fingerprint) return 'edited-after-unknown';
  if (!known.isRepeatable) return 'no-key';
  const why = whyKeyForgotten(known, clock);
  if (why) return why === 'expired' ? 'key-expired' : why;
  return known.isStuck ? 'cannot-find-out' : undefined;
}

/** Why an API that it was sent to may have forgotten its key. */
export function whyKeyForgotten(
  known: FormSubmission,
  clock: Clock,
): ReturnType<typeof whyForgotten> {
  const { createdAt, expiresAt = Infinity } = known;
  return whyForgotten(known, expiresAt - createdAt, clock);
}

/** So many presses that have not found out what became of a submission are enough: the next one would not, either. */
const mostFruitless = 2;

/** Whether sending it again under its key has found nothing out. */
export const isFruitless = ({ isStuck, fruitless = 0 }: FormSubmission): boolean =>
  !!isStuck || fruitless >= mostFruitless;

/** A submission whose facts are stored in the tab before its requests go. */
export class TabSubmission extends Submission {
  readonly #submissions: Submissions;
  #expiresAt: number;

  constructor(submissions: Submissions, known: FormSubmission, wasSent: boolean) {
    const { key, createdAt, aheadMs, isRepeatable, expiresAt = Infinity, steps = [] } = known;
    super({
      key,
      createdAt,
      aheadMs,
      wasSent,
      isRepeatable,
      isUnkeyed: isRepeatable === false,
      // A request that was refused gets a new key: the old one would be refused for ever.
      past: renewRefused(steps).map((step) => ({
        ...step,
        body: submissions.texts.get(step.digest ?? ''),
      })),
    });
    this.#submissions = submissions;
    this.#expiresAt = expiresAt;
  }

  override recordRepeatable(): void {
    super.recordRepeatable();
    this.#storeRepeatable();
  }
  override recordUnkeyed(): void {
    super.recordUnkeyed();
    this.#storeRepeatable();
  }
  override recordStuck(): void {
    super.recordStuck();
    this.#submissions.update(this.key, { isStuck: true });
  }
  override recordSent(
    step: Step,
    { lifetimeMs = Infinity }: { readonly lifetimeMs?: number },
  ): void {
    this.#expiresAt = Math.min(this.#expiresAt, this.createdAt + lifetimeMs);
    super.recordSent(step, {});
  }
  override recordStep(step: Step): void {
    super.recordStep(step);
    const { texts } = this.#submissions;
    if (typeof step.body === 'string' && step.digest) texts.set(step.digest, step.body);
    const steps = this.past.map((kept) => ({ ...kept, body: undefined }));
    const expiresAt = this.#expiresAt < Infinity ? this.#expiresAt : undefined;
    this.#submissions.update(this.key, { steps, expiresAt });
  }
  override digest(body: FixedBody): Promise<string> {
    return fingerprintOf(body);
  }
  #storeRepeatable(): void {
    const isRepeatable = this.isRepeatable && !this.isUnkeyed;
    if (this.#submissions.read()?.isRepeatable !== isRepeatable)
      this.#submissions.update(this.key, { isRepeatable });
  }
}

/** What is submitted, without what is used up by one request: a FormData or an object without these fields. */
export function withoutFields(payload: unknown, names: readonly string[]): unknown {
  if (names.length === 0) return payload;
  if (payload instanceof FormData) {
    const copy = new FormData();
    for (const [name, value] of payload) if (!names.includes(name)) copy.append(name, value);
    return copy;
  }
  const prototype: unknown = Object(payload) === payload && Object.getPrototypeOf(payload);
  if (prototype !== Object.prototype && prototype !== null) return payload;
  return Object.fromEntries(
    Object.entries(payload as object).filter(([name]) => !names.includes(name)),
  );
}

/**
 * A payload as it comes back after a reload.
 *
 * @throws TypeError when that is not what it was.
 */
export function toKept(payload: unknown): unknown {
  try {
    const kept: unknown = JSON.parse(JSON.stringify(payload));
    if (canonicalise(kept).text === canonicalise(payload).text) return kept;
  } catch {
    // No JSON at all.
  }
  return reject(
    'useSafeSubmit',
    'keepPayload',
    true,
    process.env.NODE_ENV !== 'production' &&
      'left out, because this payload is not JSON: after a reload it would be another',
  );
}
