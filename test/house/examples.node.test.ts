import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { compile, type Sample } from '../docs/compile.ts';

const root = resolve(import.meta.dirname, '../..');

/** What an example may take as given: it shows one thing, not the whole module around it. */
const given = `
import { QueryClient, useMutation, useQuery } from '@tanstack/react-query';
import { backoffDelay, composePersister, createIdempotencyKey, createSteadfetch, decide, defineIdempotency, fallback, isSteadfetchError, limitConcurrency, mergeDefaultOptions, mutationOptions, parseRetryAfter, presets, profiles, rateLimitFields, retry, shareAcrossTabs, watchConnectivity } from 'steadfetch';
import type { OperationFacts } from 'steadfetch';
import { useConnectivity, useCountdown, useFallback, useMutationStatus, useOriginStatus, useOutbox, useOutboxEntries, useOutboxEntry, useOutboxMutation, useRetryStatus, useSafeSubmit, useSteadyMutation } from 'steadfetch/react';
import { traceOperations } from 'steadfetch/otel';
import { answerOf, coalesceUnsent, createOutbox, deliverOnSync, isDeadLetterError, outboxHandler, outboxLinks } from 'steadfetch/outbox';
import { consoleLogger, describeReason, metrics, subscribeAll, watchHealth } from 'steadfetch/telemetry';
import { useState } from 'react';
import { parseHttpDate } from '${root}/src/core/headers/retry-after.ts';
import { failures } from '${root}/src/core/policy/outcome.ts';
import { readRateLimit } from '${root}/src/core/headers/rate-limit.ts';
import { readListItems, readStringItem } from '${root}/src/core/headers/structured-field.ts';
const steady = createSteadfetch();
const placeOrder = mutationOptions(steady, { mutationFn: async (order: { sku: string }) => order.sku });
const queryClient = new QueryClient({ defaultOptions: steady.defaultOptions });
const handlers = { placeOrder: { mutationFn: async (order: { sku: string }) => order.sku } };
const outbox = createOutbox({ steady, queryClient, handlers });
declare const orderKey: string;
declare const error: unknown;
declare const operation: OperationFacts;
declare const retryAt: number | undefined;
declare const queryKey: readonly string[];
declare const queryFn: () => Promise<string>;
declare function askTheUser(): void;
`;

/** The code of every @example in src, by the file and the place in it. */
function findExamples(): Sample[] {
  const files = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' });
  return files
    .filter((file) => /\.tsx?$/.test(file))
    .flatMap((file) => {
      const text = readFileSync(join(root, 'src', file), 'utf8');
      const comments = [...text.matchAll(/\/\*\*.*?\*\//gs)].map(([comment]) => comment);
      const blocks = comments
        .filter((comment) => comment.includes('@example'))
        .map((comment) => comment.replaceAll(/^\s*\* ?/gm, ''))
        .flatMap((comment) => [...comment.matchAll(/```(?<kind>tsx?)\n(?<code>.*?)```/gs)]);
      return blocks.map(({ groups }, index) => ({
        name: `${file.replaceAll(/[^a-z]/g, '-')}-${index}.${groups?.['kind']}`,
        code: groups?.['code'] ?? '',
      }));
    });
}

test('every example in the documentation of src compiles', () => {
  const examples = findExamples();
  expect(examples.length).toBeGreaterThan(20);
  const modules = examples.map(({ name, code }) => ({
    name,
    code: code.includes('import ')
      ? code
      : `${given}\nexport async function example() {\n${code}\n}\n`,
  }));
  expect(compile(modules)).toBe('');
});

const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.tsx?$/.test(file))
  .map((file) => readFileSync(join(root, 'src', file), 'utf8'));

/** What can be called from outside: functions of the package, except type guards, and of an instance. */
function findPublicCalls(): readonly string[] {
  const entries = [
    'index',
    'grpc',
    'react',
    'server',
    'server/postgres',
    'server/redis',
    'telemetry',
    'ui',
    'devtools',
    'otel',
    'testing',
  ].map((entry) => readFileSync(join(root, `src/${entry}.ts`), 'utf8'));
  const names = entries.flatMap((entry) =>
    [...entry.matchAll(/export \{([^}]*)\}/g)].flatMap(([, list = '']) => list.match(/\w+/g) ?? []),
  );
  const isFunction = (name: string): boolean =>
    sources.some((source) => new RegExp(`export function ${name}\\b(?!.*value is)`).test(source));
  const instance = sources.find((source) => source.includes('export interface Steadfetch {')) ?? '';
  const members = instance.split('export interface Steadfetch {')[1] ?? '';
  const ofInstance = [...members.matchAll(/: (Steady\w+);/g)].map(([, type = '']) => type);
  return [...names.filter(isFunction), ...ofInstance];
}

test('whatever can be called from outside has an example', () => {
  const calls = findPublicCalls();
  expect(calls).toEqual(
    expect.arrayContaining(['useSafeSubmit', 'SteadyFetch', 'mutationOptions']),
  );
  const hasExample = (name: string): boolean =>
    sources.some((source) =>
      new RegExp(
        `@example(?:(?!\\*/).)*\\*/\\nexport (?:function|type|interface) ${name}\\b`,
        's',
      ).test(source),
    );
  expect(calls.filter((name) => !hasExample(name))).toEqual([]);
});
