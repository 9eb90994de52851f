import type { RetryState } from 'steadfetch/react';
import { english } from 'steadfetch/ui';
import { expect, test } from 'vitest';
import { reportFailure } from '../../../src/core/operation/error-info.ts';
import type { OutboxEntry } from '../../../src/outbox/entries.ts';
import type { Failure, PauseReason, Processed } from '../../../src/core/policy/outcome.ts';
import type { UiTexts } from '../../../src/ui/texts/ui-texts.ts';
import {
  entryWordsOf,
  formWordsOf,
  type StatusWords,
  wordsOf,
} from '../../../src/ui/texts/words.ts';

/** Whether the thing was done, and what comes next. */
type Claim = 'done' | 'not done' | 'may be done' | 'goes on' | 'is over';
const opposites: readonly (readonly [Claim, Claim])[] = [
  ['done', 'not done'],
  ['done', 'may be done'],
  ['not done', 'may be done'],
  ['goes on', 'is over'],
];

/** What each text says about a query, a mutation or an entry: every text that is shown of one is here. */
const claims: Readonly<Record<string, readonly Claim[]>> = {
  'failures.network': [],
  'failures.timeout': [],
  'failures.body': [],
  'failures.rate-limited': ['not done'],
  'failures.unavailable': [],
  'failures.server-error': [],
  'failures.not-ready': [],
  'failures.refused': ['not done', 'is over'],
  'failures.paused-too-long': [],
  'failures.superseded': [],
  'failures.error': [],
  'pauses.offline': ['goes on'],
  'pauses.server-down': ['goes on'],
  'pauses.rate-limited': ['goes on'],
  'pauses.queued': ['goes on'],
  'pauses.hidden': ['goes on'],
  goesOn: ['goes on'],
  otherTabProbes: ['goes on'],
  cancelled: ['is over'],
  'query.again': ['goes on'],
  'query.succeeded': ['done', 'is over'],
  'query.failed': ['not done', 'is over'],
  'query.stale': [],
  'mutation.sending': ['goes on'],
  'mutation.again': ['goes on'],
  'mutation.succeeded': ['done', 'is over'],
  'mutation.failed': ['not done', 'is over'],
  'mutation.unknown': ['may be done', 'is over'],
  'mutation.earlier': ['may be done'],
  'attempt(1)': [],
  'attempt(1,4)': [],
  'attempt(4)': [],
  'attempt(4,4)': [],
  'outbox.pending': ['goes on'],
  'outbox.behind': ['goes on'],
  'outbox.otherVersion': ['goes on'],
  'outbox.sending': ['goes on'],
  'outbox.done': ['done', 'is over'],
  'outbox.deadTitle': ['not done', 'is over'],
  'outbox.reasons.refused': ['not done', 'is over'],
  'outbox.reasons.not-repeatable': ['may be done', 'is over'],
  'outbox.reasons.answer-lost': ['done', 'is over'],
  'outbox.reasons.expired': ['may be done', 'is over'],
  'outbox.reasons.age-unknown': ['may be done', 'is over'],
  'outbox.reasons.cannot-find-out': ['may be done', 'is over'],
  'outbox.reasons.superseded': [],
  'outbox.reasons.max-attempts': ['is over'],
  'outbox.reasons.max-age': ['is over'],
  'outbox.reasons.handler-missing': ['is over'],
  'outbox.reasons.not-migrated': ['is over'],
  'outbox.reasons.unreadable': ['is over'],
  'outbox.reasons.parent-dead': ['is over'],
  'outbox.reasons.answer-missing': ['is over'],
  'form.succeeded': ['done', 'is over'],
  'form.failed(Send)': ['not done', 'is over'],
  'form.unknown': ['may be done', 'is over'],
  'form.unknownBefore': ['may be done', 'is over'],
  'form.pressAgain(Send)': ['may be done', 'is over'],
  'form.expired': ['may be done', 'is over'],
  'form.busy': ['goes on'],
};

/** Texts that are their own names, whatever the language. */
function named<T extends object>(texts: T, path = ''): T {
  const entries = Object.entries(texts).map(([name, text]): [string, unknown] => {
    const key = path + name;
    if (key === 'sentence') return [name, (sentence: string) => sentence];
    if (typeof text === 'object') return [name, named(text as object, `${key}.`)];
    const call = (...given: unknown[]): string => `«${key}(${given.filter(Boolean).join()})»`;
    return [name, typeof text === 'function' ? call : `«${key}»`];
  });
  return Object.fromEntries(entries) as T;
}

const texts: UiTexts = named(english);
const shown = new Set<string>();

/** What of these words contradicts something else in them. */
function contradictions({ title, detail }: StatusWords): readonly string[] {
  const keys = [...`${title} ${detail}`.matchAll(/«(.+?)»/g)].map(([, key]) => key as string);
  for (const key of keys) shown.add(key);
  const said = (claim: Claim): string | undefined =>
    keys.find((key) => claims[key]?.includes(claim));
  return opposites
    .filter(([one, other]) => said(one) && said(other))
    .map(([one, other]) => `${one}: ${said(one)}, ${other}: ${said(other)}`);
}

const everyProcessed: readonly Processed[] = ['no', 'yes', 'unknown'];
const pauseReasons: readonly PauseReason[] = ['offline', 'server-down', 'rate-limited', 'queued'];
const answers = [
  302, 400, 401, 403, 404, 408, 409, 410, 412, 422, 423, 425, 429, 500, 501, 502, 503, 504, 505,
  511, 520, 529, 530,
];
const retryAfterMs = undefined;
type Kind = Failure extends infer F ? (F extends Failure ? Omit<F, 'processed'> : never) : never;
const failures: readonly Kind[] = [
  ...answers.map((status) => ({ kind: 'http', status, retryAfterMs, inProgress: false }) as const),
  { kind: 'http', status: 409, retryAfterMs, inProgress: true },
  { kind: 'network' },
  { kind: 'timeout', phase: 'headers' },
  { kind: 'timeout', phase: 'body' },
  { kind: 'body', status: 200 },
  { kind: 'aborted' },
  { kind: 'invalid' },
  { kind: 'expired' },
  { kind: 'age-unknown' },
  { kind: 'superseded' },
  { kind: 'error' },
  ...pauseReasons.map(
    (reason) => ({ kind: 'paused-too-long', reason, retryAt: undefined }) as const,
  ),
];

function errorOf(kind: Kind, processed: Processed): Error {
  const failure = { ...kind, processed } as Failure;
  const error = new Error(JSON.stringify(failure));
  reportFailure(error, { failure });
  return error;
}

const stops: readonly RetryState['reason'][] = [
  'not-retryable',
  'not-idempotent',
  'processed',
  'max-retries',
  'deadline',
  'retry-after',
  'aborted',
  'should-retry',
  'paused-too-long',
  'expired',
  'age-unknown',
  'superseded',
  'cancelled',
];
const reasons: Readonly<Record<RetryState['status'], readonly RetryState['reason'][]>> = {
  idle: [undefined],
  sending: [undefined],
  waiting: ['in-progress', 'should-retry', undefined],
  paused: [...pauseReasons, 'hidden'],
  succeeded: [undefined],
  failed: [undefined, ...stops],
  unknown: [undefined, ...stops],
};

/** Every state with every failure, also those that no code makes today. */
function* everyState(): Generator<RetryState> {
  for (const [status, of] of Object.entries(reasons) as [RetryState['status'], typeof stops][])
    for (const reason of of)
      for (const attempt of [1, 4])
        for (const probedBy of [undefined, 'another-tab'] as const)
          for (const lastError of [undefined, new Error('none of ours'), ...everyError()])
            yield {
              status,
              reason,
              attempt,
              probedBy,
              lastError,
              maxAttempts: 4,
              retryAt: undefined,
            };
}

function* everyError(): Generator<Error> {
  for (const failure of failures)
    for (const processed of everyProcessed) yield errorOf(failure, processed);
}

const describe = ({ status, reason, lastError }: RetryState): string =>
  `${status} (${reason}), ${String(lastError)}`;

test.each(['query', 'mutation'] as const)(
  'nothing that is said of a %s contradicts what is said beside it, whatever it ended in',
  (kind) => {
    for (const state of everyState()) {
      // Of a query it is never open whether it was done.
      if (kind === 'query' && state.status === 'unknown') continue;
      for (const isShown of kind === 'query' ? [true, false] : [false]) {
        const words = wordsOf(state, kind, texts, undefined, isShown);
        expect([describe(state), contradictions(words)]).toEqual([describe(state), []]);
      }
    }
  },
);

test('nothing that a form says contradicts what it says beside it, whatever its submission ended in', () => {
  const before = [
    undefined,
    ...[true, false].flatMap((isExpired) =>
      [true, false].map((isRepeatable) => ({ isExpired, isRepeatable })),
    ),
  ];
  for (const state of everyState())
    for (const unknown of before)
      for (const isBusy of [true, false]) {
        // Busy is said of what is under way.
        if (isBusy && ['failed', 'unknown', 'succeeded'].includes(state.status)) continue;
        const words = formWordsOf(state, unknown, isBusy, 'Send', texts);
        expect([describe(state), contradictions(words)]).toEqual([describe(state), []]);
      }
});

const entryStates: readonly OutboxEntry['state'][] = [
  'pending',
  'sending',
  'paused',
  'done',
  'dead',
];
const deadReasons = [undefined, ...Object.keys(english.outbox.reasons)] as OutboxEntry['reason'][];

test('nothing that is said of an entry of the outbox contradicts what is said beside it', () => {
  for (const state of entryStates)
    for (const processed of everyProcessed)
      for (const reason of state === 'dead' ? deadReasons : [undefined])
        for (const status of [undefined, ...answers])
          for (const nextRetryAt of [undefined, 1])
            for (const pause of pauseReasons) {
              const entry = {
                state,
                processed,
                reason,
                attempts: 1,
                nextRetryAt,
                lastError: status === undefined ? undefined : { kind: 'http', status },
                pause: state === 'paused' ? { reason: pause, retryAt: undefined } : undefined,
              } as unknown as OutboxEntry;
              const name = `${state} ${processed} ${reason} ${status}`;
              expect([name, contradictions(entryWordsOf(entry, texts))]).toEqual([name, []]);
            }
});

test('every text that was shown has its claim in the table, and every claim was shown', () => {
  const unseen = ['outbox.otherVersion'];
  expect([...shown, ...unseen].toSorted()).toEqual(Object.keys(claims).toSorted());
});
