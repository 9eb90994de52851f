import type { Clock } from '../lib/clock.ts';
import { formPrefix } from '../lib/browser/tab-names.ts';
import { fingerprintOf } from '../lib/fingerprint.ts';
import { createEmitter, type Emitter } from '../lib/store.ts';
import { createIdempotencyKey, whyForgotten } from '../idempotency/key.ts';
import {
  type Born,
  bornNow,
  type FixedBody,
  type PastStep,
  renewRefused,
  Submission,
} from '../operation/parts/submission.ts';
import type { TabStorage } from './tab-storage.ts';

/**
 * A submission of a form that may have been done, as its tab keeps it, also over a reload. One that has succeeded or
 * certainly failed is forgotten: the next press is another submission, with another key.
 */
export interface FormSubmission extends Born {
  readonly key: string;
  /** Of its payload. */
  readonly fingerprint: string;
  /**
   * Whether it may be sent again without asking: its key was sent with it, or its requests are idempotent. False once
   * a request of it may have gone without a key; undefined while none is known to have gone.
   */
  readonly isRepeatable?: boolean | undefined;
  /** The press that sent it last: another page of the tab may have, while this one was put away. */
  readonly sentBy?: string | undefined;
  /** From then on, in epoch milliseconds, an API that it was sent to may have forgotten its key. */
  readonly expiresAt?: number | undefined;
  /** The requests of the submission, without their bytes. */
  readonly steps?: readonly PastStep[] | undefined;
  /** The payload, where the form is to keep it. */
  readonly payload?: unknown;
  /** True if the API has stored an answer under the key that does not say whether the submission was done. */
  readonly isStuck?: boolean | undefined;
  /** How many presses have sent it again without finding out whether it was done. @default 0 */
  readonly fruitless?: number | undefined;
  /** An unknown submission beside which the user has allowed this one. */
  readonly before?: FormSubmission | undefined;
}

/** The facts about a submission that are lost at a reload. */
export interface PageFacts {
  readonly variables?: unknown;
  /** The error that it ended in. */
  readonly error?: unknown;
  /** True if the submission cannot be sent again, because its requests have changed. */
  readonly isChanged?: boolean;
}

/** The submissions that have begun or ended: those of a form belong to all clients of the page. */
export const submissionChanges: Emitter<Submissions> = /* @__PURE__ */ createEmitter();

/** The submissions of one form. The storage of the tab counts: another page of it may have sent one meanwhile. */
export class Submissions {
  /**
   * The text bodies that this page has sent, by their digests: the same bytes are sent again, even if the same content
   * is written otherwise by then. Files are not kept.
   */
  readonly texts: Map<string, string> = new Map();
  readonly #inPage: Map<string, PageFacts> = new Map();
  readonly #storage: TabStorage;
  readonly name: string;

  constructor(storage: TabStorage, form: string) {
    this.#storage = storage;
    this.name = formPrefix + form;
  }

  read(): FormSubmission | undefined {
    return parse(this.#storage.read(this.name));
  }

  write(submission: FormSubmission): void {
    // If the storage is full, the submission before must not come back.
    this.#storage.remove(this.name);
    this.#put(submission);
    submissionChanges.emit(this);
  }

  /** Changes the submission with this key, if it is still there. @returns it as it is now. */
  update(key: string, change: Partial<FormSubmission>): FormSubmission | undefined {
    const known = this.read();
    if (known?.key !== key) return undefined;
    const changed = { ...known, ...change };
    this.#put(changed);
    return changed;
  }

  /** Forgets the submission with this key, if it is still there, and the one before it. */
  remove(key: string): void {
    if (this.read()?.key === key) this.forget();
  }

  /** Forgets the submission with this key, which was certainly not done: the one before it is known again. */
  undo(key: string): void {
    const known = this.read();
    if (known?.key !== key) return;
    if (known.before) this.#put(known.before);
    else this.forget();
  }

  /** Forgets all of them. */
  forget(): void {
    this.#storage.remove(this.name);
    this.texts.clear();
    this.#inPage.clear();
    submissionChanges.emit(this);
  }

  /** The facts that only this page knows about the submission with this key. */
  inPage(key: string): PageFacts {
    return this.#inPage.get(key) ?? {};
  }
  remember(key: string, facts: PageFacts): void {
    this.#inPage.set(key, facts);
  }

  #put(submission: FormSubmission): void {
    this.#storage.write(this.name, JSON.stringify(submission));
  }
}

/** Other code of the page may have written to the storage. */
function parse(text: string | null): FormSubmission | undefined {
  try {
    const submission = JSON.parse(text ?? '') as FormSubmission;
    if (isWhole(submission)) return submission;
  } catch {
    // The text is no JSON.
  }
  return undefined;
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

/** A submission whose facts are stored in the tab before its requests are sent. */
export class TabSubmission extends Submission {
  readonly #submissions: Submissions;

  constructor(submissions: Submissions, known: FormSubmission, wasSent: boolean) {
    const { isRepeatable, expiresAt = Infinity, steps = [] } = known;
    // A request that was refused gets a new key: the old one would be refused for ever.
    const past = renewRefused(steps).map((step) => ({
      ...step,
      body: submissions.texts.get(step.digest as string),
    }));
    super({ ...known, wasSent, isUnkeyed: isRepeatable === false, past });
    this.expiresAt = expiresAt;
    this.#submissions = submissions;
  }

  protected override keep(): void {
    const { isUnkeyed, isStuck, expiresAt, past } = this;
    for (const { body, digest } of past)
      if (typeof body === 'string' && digest) this.#submissions.texts.set(digest, body);
    this.#submissions.update(this.key, {
      isRepeatable: isUnkeyed ? false : this.isRepeatable || undefined,
      steps: past.map((step) => ({ ...step, body: undefined })),
      ...(isStuck && { isStuck }),
      ...(expiresAt < Infinity && { expiresAt }),
    });
  }

  override digest(body: FixedBody): Promise<string> {
    return fingerprintOf(body);
  }

  override get isOfForm(): boolean {
    return true;
  }
}

/** Why the user must be asked before anything is sent. */
export type ConfirmationReason =
  | 'edited-after-unknown'
  | 'key-expired'
  | 'age-unknown'
  | 'no-key'
  | 'cannot-find-out';

/** The plan for a press of Submit. */
export type SubmissionPlan =
  | { readonly kind: 'send'; readonly submission: FormSubmission; readonly wasSent: boolean }
  | { readonly kind: 'ask'; readonly reason: ConfirmationReason; readonly key: string };

/** A press of Submit. */
export interface Press {
  readonly fingerprint: string;
  /** The key of the unknown submission that the user has confirmed to send this beside. */
  readonly confirmedKey?: string | undefined;
  /**
   * The submission that was found not to be done. If that was wrong, because it was still on its way, the same payload
   * under the same key is done once all the same.
   */
  readonly notDone?: FormSubmission | undefined;
  /** The unknown submission cannot be sent again by this page, because its requests have changed. */
  readonly isChanged?: boolean | undefined;
}

/**
 * One submission, one key: the same payload is sent again under the same key until its outcome is known. Another payload
 * is another submission, but only the user gives up the key of an unknown outcome.
 *
 * @param clock - The steady clock of the page.
 */
export function planSubmission(
  known: FormSubmission | undefined,
  { fingerprint, confirmedKey, notDone, isChanged = false }: Press,
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
  const reason = isChanged ? 'edited-after-unknown' : whyAsk(known, fingerprint, clock);
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

/** Why an API that it was sent to may have forgotten its key; undefined while it remembers it. */
export function whyKeyForgotten(
  known: FormSubmission,
  clock: Clock,
): ReturnType<typeof whyForgotten> {
  const { createdAt, expiresAt = Infinity } = known;
  return whyForgotten(known, expiresAt - createdAt, clock);
}

/** After this many presses that did not find out whether a submission was done, the next one would not, either. */
const mostFruitless = 2;

/** Whether sending it again under its key does not find out whether it was done. */
export const isFruitless = ({ isStuck, fruitless = 0 }: FormSubmission): boolean =>
  !!isStuck || fruitless >= mostFruitless;
