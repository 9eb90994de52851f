import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { captureException, createTransport, flush, init } from '@sentry/browser';
import { retry } from 'steadfetch';
import { expect, test, vi } from 'vitest';
import { origin } from '../core/fetch/fake-server.ts';
import { fakeTime, observe } from '../core/fetch/observe.ts';
import { steady } from './recipe/steady.ts';

const read = (path: string): string => readFileSync(resolve(import.meta.dirname, path), 'utf8');

test('docs/telemetry/sentry.md has the recipe for Sentry as it is run here', () => {
  const code = read('recipe/sentry.ts');
  expect(read('../../docs/telemetry/sentry.md')).toContain(`\`\`\`ts\n${code}\`\`\``);
});

test('an error that Sentry is told of has the last decisions as breadcrumbs, without query strings', async () => {
  const bodies: (string | Uint8Array)[] = [];
  init({
    dsn: 'https://key@sentry.example/1',
    defaultIntegrations: false,
    transport: (options) =>
      createTransport(options, async ({ body }) => {
        bodies.push(body);
        return { statusCode: 200 };
      }),
  });
  await import('./recipe/sentry.ts');
  fakeTime();
  const url = `${origin}/items`;
  observe(retry(steady, (context) => steady.fetch(`${url}?token=secret`, context)));
  await vi.runAllTimersAsync();
  vi.useRealTimers();
  captureException(new Error('The items are missing.'));
  await flush();
  // An envelope is a line of JSON for itself, and two for each of its items.
  const [, , item = ''] = String(bodies[0]).split('\n');
  const { breadcrumbs } = JSON.parse(item) as { breadcrumbs: readonly object[] };
  const common = { category: 'steadfetch', timestamp: expect.any(Number) as number };
  const request = { event: 'decision', operation: 1, kind: 'call', method: 'GET', url, origin };
  const at = 1_800_000_000_000;
  expect(breadcrumbs).toEqual([
    {
      ...common,
      level: 'warning',
      message:
        `[steadfetch] call 1, attempt 1: GET ${url} failed: 503. ` +
        'Next attempt in 500 ms (at most 3 retries): the server is unavailable.',
      data: {
        ...request,
        at,
        attempt: 1,
        outcome: 'http',
        status: 503,
        reason: 'unavailable',
        maxRetries: 3,
        delayMs: 500,
        retryAt: at + 500,
      },
    },
    {
      ...common,
      level: 'error',
      message:
        `[steadfetch] call 1, attempt 2: GET ${url} failed: 404. ` +
        'No further attempt: another attempt would get the same answer.',
      data: {
        ...request,
        at: at + 500,
        attempt: 2,
        outcome: 'http',
        status: 404,
        reason: 'not-retryable',
        maxRetries: 3,
      },
    },
  ]);
});
