import { createJson } from '../fetch/json.ts';
import { ageOf } from '../idempotency/key.ts';
import type { Clock } from '../lib/clock.ts';
import { startAlarm, withLimit } from '../lib/timer.ts';
import type { Instance } from '../react-query/instance.ts';
import type { FormObserver } from './observer.ts';
import type { SafeSubmitOptions, UnknownSubmission } from './safe-submit.ts';
import type { FormSubmission } from './submission.ts';

/** The answer of an API about an unknown submission. */
export type Found =
  | { readonly status: 'done'; readonly data: unknown }
  | { readonly status: 'not-done' | 'unknown' };

/** Asks the API whether an unknown submission was done. Never rejects. */
export async function findOut(
  instance: Instance,
  resolve: NonNullable<SafeSubmitOptions['resolve']>,
  { idempotencyKey, variables }: UnknownSubmission,
): Promise<Found> {
  const { fetch } = instance;
  const answer = await withLimit(
    instance,
    () => resolve({ idempotencyKey, variables, fetch, json: createJson(fetch) }),
    Error,
  ).catch(() => {});
  if (Object(answer) === answer && 'done' in (answer as object))
    return { status: 'done', data: (answer as { readonly done: unknown }).done };
  return { status: answer === 'not-done' ? answer : 'unknown' };
}

/**
 * Watches the end of an unknown submission without a press: an outbox delivers it, or its key expires.
 *
 * @returns a function that stops it.
 */
export function watchSubmission(
  { key, createdAt, expiresAt = Infinity, aheadMs }: FormSubmission,
  observer: FormObserver,
  clock: Clock,
  onExpired: () => void,
  onDone: (data: unknown) => void,
): () => void {
  const leftMs = expiresAt - createdAt - ageOf({ createdAt, aheadMs }, clock);
  const alarm = startAlarm(clock, leftMs + 1, onExpired);
  const unfollow = observer.follow(key, onDone);
  return () => {
    alarm(Infinity);
    unfollow?.();
  };
}
