import { isKeyExpired } from '../idempotency/key.ts';
import type { Submission, PastStep } from '../operation/parts/submission.ts';
import { createIdempotencyKey } from '../idempotency/key.ts';
import type { TabStorage } from './tab-storage.ts';
import { fingerprintOf, canonicalise } from '../lib/fingerprint.ts';
import { reject } from '../lib/input/check.ts';

/**
 * A submission of a form that may have been done, as its tab keeps it, also over a reload. What has
 * succeeded or surely failed is forgotten: the next press is another submission, with another key.
 */
export interface FormSubmission extends Pick<Submission, 'key' | 'createdAt'> {
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
export type ConfirmationReason = 'edited-after-unknown' | 'key-expired' | 'no-key';

/** What a press of Submit comes to. */
export type SubmissionPlan =
  | { readonly kind: 'send'; readonly submission: FormSubmission; readonly wasSent: boolean }
  | { readonly kind: 'ask'; readonly reason: ConfirmationReason; readonly key: string };

/** What is pressed, when, and for which unknown submission the user has said that it may be sent. */
export interface Press {
  readonly fingerprint: string;
  readonly nowMs: number;
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
 */
export function planSubmission(
  known: FormSubmission | undefined,
  { fingerprint, nowMs, confirmedKey, notDone, changedKey }: Press,
): SubmissionPlan {
  const fresh = (before?: FormSubmission): SubmissionPlan => ({
    kind: 'send',
    submission: { key: createIdempotencyKey(), createdAt: nowMs, fingerprint, before },
    wasSent: false,
  });
  if (!known)
    return notDone && !whyAsk(notDone, fingerprint, nowMs)
      ? { kind: 'send', submission: notDone, wasSent: false }
      : fresh();
  const { key } = known;
  const reason = changedKey === key ? 'edited-after-unknown' : whyAsk(known, fingerprint, nowMs);
  if (!reason) return { kind: 'send', submission: known, wasSent: true };
  if (confirmedKey !== key) return { kind: 'ask', reason, key };
  const { before: _, ...before } = known;
  return fresh(before);
}

function whyAsk(
  known: FormSubmission,
  fingerprint: string,
  nowMs: number,
): ConfirmationReason | undefined {
  if (known.fingerprint !== fingerprint) return 'edited-after-unknown';
  if (!known.isRepeatable) return 'no-key';
  return isExpired(known, nowMs) ? 'key-expired' : undefined;
}

/** Whether an API that it was sent to may have forgotten its key. */
export function isExpired(
  { createdAt, expiresAt = Infinity }: FormSubmission,
  nowMs: number,
): boolean {
  return isKeyExpired(createdAt, expiresAt - createdAt, nowMs);
}

/** A submission as fetch uses it: whatever is known of its requests is stored before they go. */
export function trackSubmission(
  submissions: Submissions,
  { key, createdAt, steps: before = [], ...submission }: FormSubmission,
  wasSent: boolean,
): Submission {
  const { texts } = submissions;
  // Of this page's own, the bytes are known.
  let steps: readonly PastStep[] = before.map((step) => ({
    ...step,
    body: texts.get(step.digest ?? ''),
  }));
  let { isRepeatable, expiresAt = Infinity } = submission;
  const repeat = (next: boolean): void => {
    // One request without a key is enough.
    if (isRepeatable === next || isRepeatable === false) return;
    isRepeatable = next;
    submissions.update(key, { isRepeatable });
  };
  return {
    key,
    createdAt,
    wasSent,
    get isUnkeyed() {
      return isRepeatable === false;
    },
    set isUnkeyed(_) {
      repeat(false);
    },
    get isRepeatable() {
      return !!isRepeatable;
    },
    set isRepeatable(_) {
      repeat(true);
    },
    get past() {
      return steps;
    },
    digest: fingerprintOf,
    keep(step, lifetimeMs = Infinity) {
      const { body, attempt: _, ...kept } = step;
      if (typeof body === 'string' && step.digest) texts.set(step.digest, body);
      steps = [...steps.filter(({ id }) => id !== step.id), kept];
      expiresAt = Math.min(expiresAt, createdAt + lifetimeMs);
      submissions.update(key, { steps, ...(expiresAt < Infinity && { expiresAt }) });
    },
  };
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
