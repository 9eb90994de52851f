import { createSteadfetch, type Failure, type OperationFacts, retry } from 'steadfetch';
import { grpcOutcomes, policyFromServiceConfig } from 'steadfetch/grpc';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { answer, fakeServer, origin } from '../core/fetch/fake-server.ts';
import { fakeTime, observe } from '../core/fetch/observe.ts';
import { trailers } from './frames.ts';

const retryPolicy = {
  maxAttempts: 4,
  initialBackoff: '0.1s',
  maxBackoff: '1s',
  backoffMultiplier: 2,
  retryableStatusCodes: ['UNAVAILABLE', 'unknown', 8],
};
const configOf = (own: object) => ({ methodConfig: [{ name: [{}], ...own }] });
const read = (own: object) =>
  policyFromServiceConfig(configOf({ retryPolicy: { ...retryPolicy, ...own } }));

describe('policyFromServiceConfig', () => {
  beforeEach(fakeTime);

  test('reads a retryPolicy', () => {
    const { shouldRetry, ...policy } = policyFromServiceConfig(
      JSON.stringify(configOf({ retryPolicy })),
    );
    expect(policy).toEqual({
      maxRetries: 3,
      backoff: 'proportional',
      baseMs: 100,
      factor: 2,
      capMs: 1250,
    });
    expect(shouldRetry).toBeTypeOf('function');
  });

  test('takes no more than five attempts, as gRPC does', () => {
    expect(read({ maxAttempts: 12 }).maxRetries).toBe(4);
    expect(read({ maxAttempts: 2 }).maxRetries).toBe(1);
  });

  test('sets nothing where there is no retryPolicy', () => {
    expect(policyFromServiceConfig(configOf({ timeout: '2.5s' }))).toEqual({});
    expect(policyFromServiceConfig({})).toEqual({});
  });

  test('waits in the steps of the config', async () => {
    const server = fakeServer(
      answer(200, trailers({ 'grpc-status': 8 }), { 'content-type': 'application/grpc-web' }),
    );
    const policy = read({ initialBackoff: '1s', maxBackoff: '3s', maxAttempts: 5 });
    const apis = [{ match: origin, idempotent: true, outcomes: grpcOutcomes(), policy }];
    const steady = createSteadfetch({ fetch: server.fetch, apis, random: () => 0.5 });
    const init = { method: 'POST', body: 'x' };
    observe(retry(steady, ({ signal }) => steady.fetch(origin, { ...init, signal })));
    await vi.runAllTimersAsync();
    expect(server.timesMs).toEqual([0, 1000, 3000, 6000, 9000]);
  });

  const operation = {} as OperationFacts;
  const http = (status: number, more = {}): Failure => ({
    kind: 'http',
    status,
    retryAfterMs: undefined,
    inProgress: false,
    processed: 'unknown',
    ...more,
  });

  test.each<readonly [string, Failure, boolean | undefined]>([
    ['a code of the list', http(429, { code: 'RESOURCE_EXHAUSTED' }), true],
    ['a code that is not in the list', http(504, { code: 'DEADLINE_EXCEEDED' }), false],
    ['a status of a proxy, which is UNAVAILABLE', http(502), true],
    ['a status of a proxy, which is UNKNOWN', http(520), true],
    ['a status of a proxy, which is UNIMPLEMENTED', http(404), false],
    [
      'an answer that asks for no retry',
      http(503, { code: 'UNAVAILABLE', shouldRetry: false }),
      false,
    ],
    ['no answer', { kind: 'network', processed: 'unknown' }, undefined],
    ['a time limit', { kind: 'timeout', phase: 'headers', processed: 'unknown' }, undefined],
  ])('shouldRetry says of %s', (_, failure, said) => {
    expect(read({}).shouldRetry?.(failure, operation)).toBe(said);
  });

  test('shouldRetry says no to no answer where UNAVAILABLE is not in the list', () => {
    const { shouldRetry } = read({ retryableStatusCodes: ['ABORTED'] });
    expect(shouldRetry?.({ kind: 'network', processed: 'unknown' }, operation)).toBe(false);
  });

  test('finds the config of a method: by its name, else by its service, else that of all', () => {
    const upTo = (maxAttempts: number) => ({ retryPolicy: { ...retryPolicy, maxAttempts } });
    const config = {
      methodConfig: [
        { name: [{}], ...upTo(2) },
        { name: [{ service: 'shop.v1.Products' }], ...upTo(3) },
        {
          name: [
            { service: 'shop.v1.Orders', method: 'List' },
            { service: 'shop.v1.Products', method: 'List' },
          ],
          ...upTo(4),
        },
      ],
    };
    const retriesOf = (method?: string) => policyFromServiceConfig(config, method).maxRetries;
    expect(retriesOf()).toBe(1);
    expect(retriesOf('shop.v1.Carts/Get')).toBe(1);
    expect(retriesOf('shop.v1.Orders/Get')).toBe(1);
    expect(retriesOf('/shop.v1.Products/Get')).toBe(2);
    expect(retriesOf('shop.v1.Products/List')).toBe(3);
  });

  test.each<readonly [unknown, string]>([
    ['{', `config is '{', and must be JSON`],
    [[], 'config is [], and must be an object'],
    [{ methodConfig: 1 }, 'config.methodConfig is 1, and must be a list'],
    [{ methodConfig: [1] }, 'config.methodConfig[0] is 1, and must be an object'],
    [{ methodConfig: [{ name: 'x' }] }, `config.methodConfig[0].name is 'x', and must be a list`],
    [{ methodConfig: [{ name: [7] }] }, 'config.methodConfig[0].name[0] is 7'],
    [configOf({ retryPolicy: 1 }), 'config.methodConfig[0].retryPolicy is 1'],
  ])('refuses %j', (config, said) => {
    expect(() => policyFromServiceConfig(config as string)).toThrow(
      `policyFromServiceConfig: ${said}`,
    );
  });

  test.each([
    [{ maxAttempts: 1 }, 'maxAttempts is 1, and must be a whole number from 2'],
    [{ maxAttempts: '4' }, `maxAttempts is '4'`],
    [{ initialBackoff: '0s' }, `initialBackoff is '0s', and must be a duration above 0`],
    [{ initialBackoff: '1' }, `initialBackoff is '1'`],
    [{ maxBackoff: undefined }, 'maxBackoff is undefined'],
    [{ backoffMultiplier: 0 }, 'backoffMultiplier is 0, and must be a number above 0'],
    [
      { retryableStatusCodes: [] },
      'retryableStatusCodes is [], and must be a list of status codes',
    ],
    [{ retryableStatusCodes: ['OK'] }, `retryableStatusCodes[0] is 'OK'`],
    [{ retryableStatusCodes: ['UNAVAILABLE', 'DOWN'] }, `retryableStatusCodes[1] is 'DOWN'`],
  ])('refuses a retryPolicy with %j', (own, said) => {
    expect(() => read(own)).toThrow(TypeError);
    expect(() => read(own)).toThrow(`config.methodConfig[0].retryPolicy.${said}`);
  });
});
