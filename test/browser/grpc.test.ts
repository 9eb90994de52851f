import { createClient } from '@connectrpc/connect';
import { createConnectTransport, createGrpcWebTransport } from '@connectrpc/connect-web';
import { QueryClient } from '@tanstack/react-query';
import { createSteadfetch, outcomeOf } from 'steadfetch';
import { grpcOutcomes } from 'steadfetch/grpc';
import { beforeEach, expect, inject, onTestFinished, test, vi } from 'vitest';
import { Products } from '../clients/recipes/products_pb.ts';
import type { AnswerName } from './answers.ts';
import { openTalk } from './talk.ts';

const [origin] = inject('origins');

// What it hints at about CORS is another test's subject.
beforeEach(() => void vi.spyOn(console, 'warn').mockReturnValue());

const baseUrl = 'https://api.example';

/** A query of a real client against a server of another origin, and how many requests it is. */
async function load(
  makeTransport: typeof createConnectTransport,
  ...answers: readonly [AnswerName, ...AnswerName[]]
): Promise<{ readonly shown: unknown; readonly requests: number }> {
  const talk = openTalk(origin, ...answers);
  const steady = createSteadfetch({
    apis: [{ match: baseUrl, idempotent: true, outcomes: grpcOutcomes() }],
    policy: { baseMs: 0, capMs: 0 },
    fetch: (_, init) => fetch(talk.url, init),
  });
  onTestFinished(() => steady.dispose());
  const api = createClient(Products, makeTransport({ baseUrl, fetch: steady.rawFetch }));
  const client = new QueryClient({ defaultOptions: steady.defaultOptions });
  const data = client.fetchQuery({
    queryKey: ['products'],
    queryFn: async ({ signal }) => (await api.list({}, { signal })).names,
  });
  const shown = await data.catch((error: unknown) => outcomeOf(error));
  return { shown, requests: (await talk.log()).requests.length };
}

test.each<[string, typeof createConnectTransport, ...[AnswerName, AnswerName, AnswerName]]>([
  [
    'gRPC-web, UNAVAILABLE in the headers and then in the trailers',
    createGrpcWebTransport,
    'grpc-unavailable-headers',
    'grpc-unavailable',
    'grpc-ok',
  ],
  [
    'Connect, resource_exhausted and then unavailable',
    createConnectTransport,
    'connect-exhausted',
    'connect-unavailable',
    'connect-ok',
  ],
])('%s, then data: three requests', async (_, makeTransport, ...answers) => {
  expect(await load(makeTransport, ...answers)).toEqual({ shown: ['kite'], requests: 3 });
});

test.each<[string, typeof createConnectTransport, AnswerName]>([
  ['gRPC-web', createGrpcWebTransport, 'grpc-invalid'],
  ['Connect', createConnectTransport, 'connect-invalid'],
])('%s, INVALID_ARGUMENT: one request', async (_, makeTransport, answer) => {
  const { shown, requests } = await load(makeTransport, answer);
  expect(shown).toMatchObject({ status: 400, code: 'INVALID_ARGUMENT', processed: 'no' });
  expect(requests).toBe(1);
});

test('gRPC-web, a pushback that says no: one request', async () => {
  const { shown, requests } = await load(createGrpcWebTransport, 'grpc-pushback', 'grpc-ok');
  expect(shown).toMatchObject({ code: 'UNAVAILABLE', shouldRetry: false });
  expect(requests).toBe(1);
});
