import { createSteadfetch, isHttpError, type OperationFacts, defineIdempotency } from 'steadfetch';
import { describe, expect, test } from 'vitest';
import { isIdempotentMethod, isSafeMethod } from '../../../src/core/policy/operation.ts';
import { type Method, methods } from './samples.ts';

describe('methods', () => {
  test.each(['GET', 'HEAD', 'OPTIONS', 'TRACE', 'QUERY'])('%s is safe, so idempotent', (method) => {
    expect(isSafeMethod(method)).toBe(true);
    expect(isIdempotentMethod(method)).toBe(true);
  });

  test.each(['PUT', 'DELETE'])('%s is idempotent and not safe', (method) => {
    expect(isSafeMethod(method)).toBe(false);
    expect(isIdempotentMethod(method)).toBe(true);
  });

  test.each([
    'POST',
    'PATCH',
    'CONNECT',
    'PURGE',
    'PROPFIND',
    'MERGE',
    '',
    'GETS',
    'FORGET',
    'GET ',
    'GET\n',
    'PUTS',
    'OUTPUT',
    'UNDELETE',
    'toString',
  ])('%j is neither: it might do something twice', (method) => {
    expect(isSafeMethod(method)).toBe(false);
    expect(isIdempotentMethod(method)).toBe(false);
  });
});

/** The operation of a request that is answered with 503. */
async function operationOf(
  path: string,
  init: RequestInit & { idempotent?: boolean },
): Promise<OperationFacts> {
  const steady = createSteadfetch({
    apis: [
      { match: '/keyed', idempotency: defineIdempotency({ header: 'Idempotency-Key' }) },
      { match: '/search', idempotent: true },
    ],
    fetch: () => Promise.resolve(new Response(null, { status: 503 })),
  });
  const error: unknown = await steady.fetch(path, init).catch((thrown: unknown) => thrown);
  if (!isHttpError(error)) throw error;
  return error.operation;
}

describe('the operation of a steady.fetch', () => {
  const headers = { 'idempotency-key': '"8e03978e"' };
  const sendable = Object.keys(methods) as Method[];

  test.each(sendable)('%s: idempotent or not, and without a key', async (method) => {
    expect(await operationOf('/plain', { method })).toMatchObject({
      method,
      idempotent: methods[method] === 'idempotent',
      keyed: false,
      attempt: 1,
    });
  });

  test.each(sendable)('%s: keyed where its API is declared to honour the key', async (method) => {
    expect(await operationOf('/keyed', { method, headers })).toMatchObject({ method, keyed: true });
  });

  test('a key that no API is declared to honour protects nobody', async () => {
    const operation = await operationOf('/plain', { method: 'POST', headers });
    expect(operation).toMatchObject({ keyed: false });
  });

  test('a declared API without a key in the request does not either', async () => {
    expect(await operationOf('/keyed', { method: 'POST' })).toMatchObject({ keyed: false });
  });

  test.each([
    ['get', 'GET', true],
    ['put', 'PUT', true],
    ['post', 'POST', false],
    ['patch', 'PATCH', false],
  ])('%s is %s', async (written, method, idempotent) => {
    expect(await operationOf('/plain', { method: written })).toMatchObject({ method, idempotent });
  });

  test('a POST is idempotent where the call or its API says so', async () => {
    const declared = { method: 'POST', idempotent: true };
    expect(await operationOf('/plain', declared)).toMatchObject(declared);
    expect(await operationOf('/search', { method: 'POST' })).toMatchObject(declared);
  });
});
