import { createIdempotencyKey } from '../idempotency/key.ts';
import { promptBeforeUnload } from '../lib/browser/page.ts';
import { inDevelopment } from '../lib/development.ts';
import { warn } from '../lib/input/warn.ts';
import { reportOf } from '../operation/error-info.ts';
import type { FormObserver } from './observer.ts';
import { type FormSubmission, isFruitless, type Submissions, TabSubmission } from './submission.ts';

/** The parts of a form that send its submissions. */
export interface Sender {
  readonly submissions: Submissions;
  readonly observer: FormObserver;
}

/** The end of a submission. */
export type Sent =
  | { readonly status: 'succeeded'; readonly data: unknown }
  | { readonly status: 'failed' | 'unknown'; readonly error: Error }
  /** Unknown, and so would be the end of the next press. */
  | { readonly status: 'cannot-find-out' };

/**
 * Sends a submission, and stores it while its outcome is unknown.
 *
 * @param wasSent - An earlier press may have done it.
 */
export async function sendSubmission(
  { submissions, observer }: Sender,
  variables: unknown,
  record: FormSubmission,
  wasSent: boolean,
): Promise<Sent> {
  const { key } = record;
  const isKept = observer.isKept();
  const sentBy = createIdempotencyKey();
  // Stored before anything is sent, so that the next page knows the key. An outbox stores its keys itself.
  submissions.write({ ...record, sentBy, ...(isKept && { isRepeatable: true }) });
  // An outbox prompts itself, until the entry is on the disk. A callback that leaves the page is not asked about.
  const stay = isKept ? undefined : promptBeforeUnload(() => observer.isSending());
  // Without variables its content is elsewhere, such as in the state of a component: other bytes are other content.
  if (variables === undefined) submissions.texts.clear();
  const submission = new TabSubmission(submissions, record, wasSent);
  const checkKey = (): void => {
    const { isRepeatable, isUnkeyed } = submission;
    if (!isKept && !isRepeatable && !isUnkeyed) inDevelopment(() => warnOfNoKey(observer));
  };
  try {
    const data = await observer.send(variables, submission);
    checkKey();
    submissions.remove(key);
    return { status: 'succeeded', data };
  } catch (thrown) {
    const error = thrown as Error;
    const { isChanged } = submission;
    submissions.remember(key, { variables, error, isChanged });
    const known = submissions.read();
    // Another page of the tab may have sent it since, and have done it.
    const isOthers = known?.key === key && known.sentBy !== sentBy;
    if (observer.hasFailed() && !isOthers)
      return undo(submissions, variables, record, submission, error);
    checkKey();
    return isStuck(submissions, record, error, wasSent)
      ? { status: 'cannot-find-out' }
      : { status: 'unknown', error };
  } finally {
    stay?.();
  }
}

/** Ends a submission that was certainly not done. The one before it is still unknown; with the same content, so is this one. */
function undo(
  submissions: Submissions,
  variables: unknown,
  { key, fingerprint, before }: FormSubmission,
  submission: TabSubmission,
  error: Error,
): Sent {
  submissions.undo(key);
  if (before?.fingerprint !== fingerprint) return { status: 'failed', error };
  submissions.remember(before.key, { variables, error });
  submission.recordResent();
  return { status: 'unknown', error };
}

/** Records a press that has ended as unknown. @returns whether the next press would end as unknown, too. */
function isStuck(
  submissions: Submissions,
  { key, createdAt, fruitless = 0 }: FormSubmission,
  error: Error,
  wasSent: boolean,
): boolean {
  const { failure, decision } = reportOf(error, createdAt);
  const { kind } = failure;
  // The lifetime of keys at its API has changed since it was sent.
  if (kind === 'expired' || kind === 'age-unknown')
    submissions.update(key, { expiresAt: createdAt });
  // The first press, and one that was not sent to its end, tell nothing about the next.
  if (!wasSent || kind === 'aborted' || decision?.reason === 'paused-too-long') return false;
  const known = submissions.update(key, { fruitless: fruitless + 1 });
  return !!known && isFruitless(known);
}

function warnOfNoKey(observer: FormObserver): void {
  const { mutation: name } = observer.target;
  warn(
    observer,
    name,
    `useSafeSubmit, ${name}: no request of this submission carried its idempotency key, so it cannot be ` +
      `sent again without asking the user. Send it with the json or fetch of the mutationFn's context, ` +
      `also after an await, or give another client context.takeKey() as its key.`,
    'mutations.md#what-the-mutationfn-gets',
  );
}
