import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createClient } from '@connectrpc/connect';
import { createConnectTransport, createGrpcWebTransport } from '@connectrpc/connect-web';
import { environmentManager, QueryClient } from '@tanstack/react-query';
import { createSteadfetch, outcomeOf } from 'steadfetch';
import { grpcOutcomes } from 'steadfetch/grpc';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Products } from '../clients/recipes/products_pb.ts';
import { message, trailers } from './frames.ts';

type Answer = (response: ServerResponse) => void;

/** A query of a real client, and how many requests it is. */
async function load(
  makeTransport: typeof createConnectTransport,
  ...answers: readonly Answer[]
): Promise<{ readonly shown: unknown; readonly requests: number }> {
  let requests = 0;
  const server = createServer((_, response) => {
    const next = answers[Math.min(requests++, answers.length - 1)];
    next?.(response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  environmentManager.setIsServer(() => false);
  const steady = createSteadfetch({
    apis: [{ match: baseUrl, idempotent: true, outcomes: grpcOutcomes() }],
    policy: { baseMs: 0, capMs: 0 },
  });
  onTestFinished(() => steady.dispose());
  const api = createClient(Products, makeTransport({ baseUrl, fetch: steady.rawFetch }));
  const client = new QueryClient({ defaultOptions: steady.defaultOptions });
  const data = client.fetchQuery({
    queryKey: ['products'],
    queryFn: async ({ signal }) => (await api.list({}, { signal })).names,
  });
  const shown = await data.catch((error: unknown) => outcomeOf(error));
  return { shown, requests };
}

describe('connect-web with gRPC-web', () => {
  const headers = { 'content-type': 'application/grpc-web+proto' };
  const good: Answer = (response) => {
    // As a server writes it: the headers, the message and the trailers one after the other.
    response.writeHead(200, headers).flushHeaders();
    response.write(message('\n\u0004kite'));
    setTimeout(() => response.end(trailers({ 'grpc-status': 0 })), 20);
  };
  const fails =
    (fields: Readonly<Record<string, string | number>>): Answer =>
    (response) =>
      void response.writeHead(200, headers).end(trailers(fields));

  test('a good answer is its data', async () => {
    const { shown, requests } = await load(createGrpcWebTransport, good);
    expect(shown).toEqual(['kite']);
    expect(requests).toBe(1);
  });

  test('UNAVAILABLE in the headers, then in trailers, then data: three requests', async () => {
    const inHeaders: Answer = (response) =>
      void response.writeHead(200, { ...headers, 'grpc-status': '14' }).end();
    const answers = [inHeaders, fails({ 'grpc-status': 14 }), good];
    const { shown, requests } = await load(createGrpcWebTransport, ...answers);
    expect(shown).toEqual(['kite']);
    expect(requests).toBe(3);
  });

  test('INVALID_ARGUMENT: one request', async () => {
    const { shown, requests } = await load(createGrpcWebTransport, fails({ 'grpc-status': 3 }));
    expect(shown).toMatchObject({ status: 400, code: 'INVALID_ARGUMENT', processed: 'no' });
    expect(requests).toBe(1);
  });

  test('a pushback that says no: one request', async () => {
    const fields = { 'grpc-status': 14, 'grpc-retry-pushback-ms': -1 };
    const { shown, requests } = await load(createGrpcWebTransport, fails(fields), good);
    expect(shown).toMatchObject({ code: 'UNAVAILABLE', shouldRetry: false });
    expect(requests).toBe(1);
  });

  test('UNAVAILABLE behind a message is read from the error of the client', async () => {
    const late: Answer = (response) => {
      response.writeHead(200, headers).write(message('\n\u0004kite'));
      setTimeout(() => response.end(trailers({ 'grpc-status': 14 })), 20);
    };
    const { shown, requests } = await load(createGrpcWebTransport, late, good);
    expect(shown).toEqual(['kite']);
    expect(requests).toBe(2);
  });
});

describe('connect-web with Connect', () => {
  const headers = { 'content-type': 'application/json' };
  const good: Answer = (response) =>
    void response.writeHead(200, headers).end(JSON.stringify({ names: ['kite'] }));
  const fails =
    (status: number, code: string): Answer =>
    (response) =>
      void response.writeHead(status, headers).end(JSON.stringify({ code }));

  test('resource_exhausted, then aborted, then data: three requests', async () => {
    const answers = [fails(429, 'resource_exhausted'), fails(409, 'aborted'), good];
    const { shown, requests } = await load(createConnectTransport, ...answers);
    expect(shown).toEqual(['kite']);
    expect(requests).toBe(3);
  });

  test('data_loss: one request', async () => {
    const { shown, requests } = await load(createConnectTransport, fails(500, 'data_loss'), good);
    expect(shown).toMatchObject({ status: 500, code: 'DATA_LOSS' });
    expect(requests).toBe(1);
  });
});
