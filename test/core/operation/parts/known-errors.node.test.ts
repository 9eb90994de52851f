import { HttpError, NetworkError } from 'steadfetch';
import { expect, test } from 'vitest';
import { reportOf } from '../../../../src/core/operation/error-info.ts';
import { Effects } from '../../../../src/core/operation/parts/effects.ts';
import {
  KnownErrors,
  mayHaveTakenEffect,
  speakForAll,
} from '../../../../src/core/operation/parts/known-errors.ts';
import { failures } from '../../../../src/core/policy/outcome.ts';

const http = (status: number) =>
  ({
    kind: 'http',
    status,
    retryAfterMs: undefined,
    inProgress: false,
    processed: 'unknown',
  }) as const;

const known = (): KnownErrors => new KnownErrors(new Effects(undefined));

test("the caller's reason is an abort, whatever value it is", () => {
  for (const reason of [new Error('left'), 'left', 7, null]) {
    const errors = known();
    expect(errors.abortOf(reason)).toBeUndefined();
    expect(errors.abortBy({ reason }, { failure: failures.aborted })).toBe(reason);
    expect(errors.abortOf(reason)?.failure).toBe(failures.aborted);
    expect(errors.reportOf(reason, 0).failure).toBe(failures.aborted);
  }
});

test('a request that was not sent has done nothing, unless another one may have', () => {
  const reason = new Error('left');
  known().abortUnsent({ method: 'POST' }, { aborted: true, reason });
  expect(reportOf(reason, 0).failure).toEqual({ kind: 'aborted', processed: 'no' });

  const effects = new Effects(undefined);
  effects.begin({ method: 'POST' }, 'POST /orders', true);
  const other = new Error('left');
  new KnownErrors(effects).abortUnsent({ method: 'POST' }, { aborted: true, reason: other });
  expect(reportOf(other, 0).failure).toEqual({ kind: 'aborted', processed: 'unknown' });
});

test('an error that says nothing is about the latest request of its client', () => {
  const errors = known();
  const sent = { failure: http(503), method: 'GET', url: '/prices' };
  errors.recordRaw(sent);
  expect(errors.reportOf(new Error('made of it'), 0)).toEqual(sent);
  errors.recordRaw();
  expect(errors.reportOf(new Error('of its own'), 0).failure).toBe(failures.error);
});

test.each([true, false])(
  'a bare status is about the latest request of its client, if that has failed with the same (keyed: %s)',
  (keyed) => {
    const errors = known();
    const sent = { failure: http(503), request: { method: 'PUT', url: '/orders', keyed } };
    errors.recordRaw(sent);
    expect(errors.reportOf({ status: 503 }, 0)).toEqual(sent);
    expect(errors.reportOf({ status: 409 }, 0)).toMatchObject({ failure: { status: 409 } });
    const ofAnother = { status: 503, config: { method: 'post' } };
    expect(errors.reportOf(ofAnother, 0)).toMatchObject({ request: { method: 'POST' } });
    errors.recordRaw();
    expect(errors.reportOf({ status: 503 }, 0).request).toBeUndefined();
  },
);

test('what was found out about a failure is kept with its error', () => {
  const errors = known();
  const error = new Error('no luck');
  errors.keep(error, { failure: http(500) });
  expect(reportOf(error, 0).failure).toEqual(http(500));

  errors.abortBy({ reason: 'left' }, { failure: failures.aborted });
  errors.keep('left', { failure: { kind: 'aborted', processed: 'no' } });
  expect(errors.reportOf('left', 0).failure).toEqual({ kind: 'aborted', processed: 'no' });
});

test('the last error speaks for all requests, also where it is frozen', () => {
  const operation = {
    id: 1,
    kind: 'call',
    startedAt: 0,
    attempt: 1,
    method: 'GET',
    url: undefined,
    keyed: false,
    idempotent: true,
    retriedFor: [],
    previousBackoffMs: undefined,
    pausedMs: 0,
  } as const;
  const error = new NetworkError('no answer', { operation, outcome: failures.network });
  expect(speakForAll(error, failures.network, 'unknown')).toBe(failures.network);
  const said = { kind: 'network', processed: 'no' };
  expect(speakForAll(error, failures.network, 'no')).toEqual(said);
  expect(error.outcome).toEqual(said);
  const frozen = Object.freeze(new HttpError('503', { operation, outcome: http(503) }));
  expect(speakForAll(frozen, http(503), 'no')).toEqual({ ...http(503), processed: 'no' });
  expect(frozen.outcome).toEqual(http(503));
});

test('a failure may have taken effect if it is no read, and the server may have done it', () => {
  const effects = new Effects(undefined);
  const [query, call] = [
    { ref: { kind: 'query' }, effects } as const,
    { ref: { kind: 'call' }, effects } as const,
  ];
  expect(mayHaveTakenEffect({ failure: failures.network }, query)).toBe(false);
  expect(mayHaveTakenEffect({ failure: failures.network }, call)).toBe(true);
  expect(mayHaveTakenEffect({ failure: failures.network, request: { method: 'GET' } }, call)).toBe(
    false,
  );
  expect(mayHaveTakenEffect({ failure: failures.invalid }, call)).toBe(false);
  effects.begin({ method: 'POST' }, 'POST /orders', true);
  expect(mayHaveTakenEffect({ failure: failures.invalid }, call)).toBe(true);
});
