import { useMemo } from 'react';
import type { OutboxEntry } from '../../outbox/entries.ts';
import type { DeadReason } from '../../outbox/store/row.ts';
import {
  problemOf,
  reportOf,
  type Failure,
  type Processed,
  type RetryState,
  type UnknownSubmission,
} from '../../core/internal.ts';
import { systemClock } from '../../core/lib/clock.ts';
import type { FailureWord, TimeTexts, UiTexts } from './ui-texts.ts';

/** The text about a query or a mutation, for users. */
export interface StatusWords {
  readonly title: string;
  readonly detail: string;
}

/** The failures without a status that have a word of their own. */
const kinds = ['network', 'timeout', 'body', 'paused-too-long', 'superseded'] as const;
const statuses: Readonly<Record<number, FailureWord>> = {
  408: 'timeout',
  429: 'rate-limited',
  503: 'unavailable',
};

function wordOf(failure: Failure, isRetried: boolean): FailureWord {
  if (failure.kind !== 'http') return kinds.find((kind) => kind === failure.kind) ?? 'error';
  const { status, inProgress } = failure;
  const refused = inProgress || isRetried ? 'not-ready' : 'refused';
  return statuses[status] ?? (status >= 500 ? 'server-error' : refused);
}

/** The longest text of an API's error that is shown to users, in characters. */
const longestDetail = 300;

/**
 * The failure in words for the user. It must not contradict the text beside it: a refusal is not retried, and
 * leaves no doubt whether the mutation was done.
 */
function failureText({ lastError, status: state, reason }: RetryState, texts: UiTexts): string {
  if (reason === 'superseded') return texts.failures.superseded;
  const { failure } = reportOf(lastError, systemClock.now());
  const word = wordOf(failure, state === 'waiting');
  if (state === 'unknown' && (word === 'refused' || word === 'rate-limited'))
    return texts.mutation.earlier;
  const { detail, title } = problemOf(lastError) ?? {};
  const own = state === 'failed' && word === 'refused' ? (detail ?? title) : undefined;
  // Without its full stop, which `sentence` adds.
  if (own)
    return own.length > longestDetail
      ? `${own.slice(0, longestDetail)}…`
      : own.replace(/[.。]$/, '');
  const text = texts.failures[word];
  return failure.kind === 'http' ? `${text} (${failure.status})` : text;
}

/** The state in words; empty if there is nothing to say. `isShown`: the query has data. */
export function wordsOf(
  state: RetryState,
  kind: 'query' | 'mutation',
  texts: UiTexts,
  isAgain: boolean = state.attempt > 1,
  isShown = false,
): StatusWords {
  const { status, attempt, maxAttempts, reason, probedBy } = state;
  const own = texts[kind];
  // While waiting, one more attempt follows. The app's own `retry` may exceed the policy.
  const isCounted = maxAttempts < Infinity && attempt + Number(status === 'waiting') <= maxAttempts;
  const counted = texts.attempt(attempt, isCounted ? maxAttempts : undefined);
  const ended = (title: string): StatusWords => {
    const why = reason === 'cancelled' ? texts.cancelled : failureText(state, texts);
    return { title, detail: texts.sentence(why) };
  };
  const words: Readonly<Record<RetryState['status'], () => StatusWords>> = {
    idle: () => silent,
    sending() {
      if (isAgain) return { title: own.again, detail: counted };
      return kind === 'query' ? silent : { title: texts.mutation.sending, detail: '' };
    },
    waiting: () => ({ title: failureText(state, texts), detail: `${counted} ${texts.goesOn}` }),
    paused() {
      const why = texts.pauses[reason as keyof UiTexts['pauses']] ?? texts.pauses.queued;
      const title = isShown && reason === 'server-down' ? texts.query.stale : why;
      return { title, detail: probedBy ? texts.otherTabProbes : texts.goesOn };
    },
    failed: () => ended(isShown ? texts.query.stale : own.failed),
    unknown: () => ended(texts.mutation.unknown),
    succeeded: () =>
      isAgain || kind === 'mutation' ? { title: own.succeeded, detail: '' } : silent,
  };
  return words[status]();
}

const silent: StatusWords = { title: '', detail: '' };

/** The text of a form: about the submission in progress, or else about an earlier one with an unknown outcome. */
export function formWordsOf(
  state: RetryState,
  unknown: Pick<UnknownSubmission, 'isExpired' | 'isRepeatable'> | undefined,
  isBusy: boolean,
  submit: string,
  texts: UiTexts,
): StatusWords {
  const { form, outbox } = texts;
  const { status } = state;
  const words = wordsOf(state, 'mutation', texts);
  if (isBusy) return { ...words, detail: form.busy };
  if (status === 'sending' || status === 'waiting' || status === 'paused') return words;
  if (status === 'succeeded') return { title: form.succeeded, detail: '' };
  if (unknown) {
    const title = status === 'unknown' ? form.unknown : form.unknownBefore;
    if (unknown.isExpired) return { title, detail: form.expired };
    const again = outbox.reasons['not-repeatable'];
    return { title, detail: unknown.isRepeatable ? form.pressAgain(submit) : again };
  }
  if (status === 'failed')
    return { title: words.title, detail: `${words.detail} ${form.failed(submit)}` };
  return silent;
}

/** Whether an entry was processed, as the reason of its failure implies. */
const claims: Partial<Record<DeadReason, Processed>> = {
  refused: 'no',
  'not-repeatable': 'unknown',
  expired: 'unknown',
  'age-unknown': 'unknown',
  'cannot-find-out': 'unknown',
  'answer-lost': 'yes',
};

/** The state of an outbox entry in words. */
export function entryWordsOf(entry: OutboxEntry, texts: UiTexts): StatusWords {
  const { state, attempts, nextRetryAt, pause, waitsFor } = entry;
  const { outbox } = texts;
  switch (state) {
    case 'dead':
      return deadWordsOf(entry, texts);
    case 'sending':
      return { title: outbox.sending, detail: texts.attempt(Math.max(1, attempts), undefined) };
    case 'paused':
      return { title: texts.pauses[pause?.reason ?? 'queued'], detail: texts.goesOn };
    default: {
      if (waitsFor) return { title: outbox.otherVersion, detail: '' };
      if (nextRetryAt === undefined) return { title: outbox.behind, detail: '' };
      const tried = attempts > 0 ? `${texts.attempt(attempts, undefined)} ` : '';
      return { title: outbox.pending, detail: `${tried}${texts.goesOn}` };
    }
  }
}

function deadWordsOf(
  { processed, reason = 'refused', lastError }: OutboxEntry,
  { outbox, mutation, failures, sentence }: UiTexts,
): StatusWords {
  const title = { no: outbox.deadTitle, yes: outbox.done, unknown: mutation.unknown }[processed];
  const claim = claims[reason];
  const { status } = lastError ?? {};
  if (claim && claim !== processed) {
    // The reason is about the last attempt, `processed` about all of them.
    const own = { no: '', yes: outbox.reasons['answer-lost'], unknown: sentence(mutation.earlier) };
    return { title, detail: own[processed] };
  }
  if (reason !== 'refused' || status === undefined)
    return { title, detail: outbox.reasons[reason] };
  return { title, detail: sentence(`${failures.refused} (${status})`) };
}

/** The announcement for screen readers at a transition. A wait is announced once, with its initial length. */
export function useAnnounced(
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
 * A duration in words. Not by `Intl`: its first format with a unit takes 30 ms (120 ms on a phone), just when
 * something has failed.
 */
export const timeOf = (seconds: number, words: TimeTexts): string =>
  seconds < 120 ? words.seconds(seconds) : words.minutes(Math.ceil(seconds / 60));
