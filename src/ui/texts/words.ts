import { useMemo } from 'react';
import type { Failure } from '../../policy/outcome.ts';
import type { RetryState } from '../../react-query/status/status.ts';
import { reportOf } from '../../operation/error-info.ts';
import { systemClock } from '../../lib/clock.ts';
import type { FailureWord, TimeTexts, UiTexts } from './ui-texts.ts';

/** What a user is told of a query or a mutation. */
export interface StatusWords {
  readonly title: string;
  readonly detail: string;
}

function wordOf(failure: Failure): FailureWord {
  switch (failure.kind) {
    case 'network':
    case 'timeout':
    case 'body':
      return failure.kind;
    case 'http': {
      const { status } = failure;
      if (status === 429) return 'rate-limited';
      if (status === 503) return 'unavailable';
      return status >= 500 ? 'server-error' : 'refused';
    }
    default:
      return 'error';
  }
}

/** What went wrong, in the words of the user in front of the page. */
function failureText(error: unknown, { failures }: UiTexts): string {
  const { failure } = reportOf(error, systemClock.now());
  const text = failures[wordOf(failure)];
  return failure.kind === 'http' ? `${text} (${failure.status})` : text;
}

/** The state in words; empty where there is nothing to say. */
export function wordsOf(
  state: RetryState,
  kind: 'query' | 'mutation',
  texts: UiTexts,
  isAgain: boolean = state.attempt > 1,
): StatusWords {
  const { status, attempt, maxAttempts, lastError, reason, probedBy } = state;
  const own = texts[kind];
  const counted = texts.attempt(attempt, Number.isFinite(maxAttempts) ? maxAttempts : undefined);
  switch (status) {
    case 'sending':
      if (isAgain) return { title: own.again, detail: counted };
      return { title: kind === 'query' ? '' : texts.mutation.sending, detail: '' };
    case 'waiting':
      return { title: failureText(lastError, texts), detail: `${counted} ${texts.goesOn}` };
    case 'paused': {
      const title = texts.pauses[reason as keyof UiTexts['pauses']] ?? texts.pauses.queued;
      return { title, detail: probedBy ? texts.otherTabProbes : texts.goesOn };
    }
    case 'failed': {
      const why = reason === 'cancelled' ? texts.cancelled : failureText(lastError, texts);
      return { title: own.failed, detail: texts.sentence(why) };
    }
    case 'unknown':
      return {
        title: texts.mutation.unknown,
        detail: texts.sentence(failureText(lastError, texts)),
      };
    case 'succeeded':
      return { title: attempt > 1 || kind === 'mutation' ? own.succeeded : '', detail: '' };
    default:
      return { title: '', detail: '' };
  }
}

/** What a screen reader hears at a transition: a wait is told once, with the length that it has at first. */
export function useTold(
  { title, detail }: StatusWords,
  { status, retryAt }: RetryState,
  texts: UiTexts,
): string {
  const seconds = useMemo(
    () => retryAt && Math.max(1, Math.ceil((retryAt - systemClock.now()) / 1000)),
    [retryAt],
  );
  if (!title) return '';
  if (status !== 'waiting' || seconds === undefined)
    return `${texts.sentence(title)} ${detail}`.trim();
  return `${texts.sentence(title)} ${texts.tryingAgainIn(timeOf(seconds, texts.time))}`;
}

/**
 * A time of so many seconds, in words. `Intl` has them as well, but its first format with a unit takes 30 ms, and
 * on a phone four times as long, in the moment in which something has failed.
 */
export const timeOf = (seconds: number, words: TimeTexts): string =>
  seconds < 120 ? words.seconds(seconds) : words.minutes(Math.ceil(seconds / 60));
