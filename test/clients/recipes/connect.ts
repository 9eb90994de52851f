import { createClient } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-web';
import { Products } from './products_pb.ts';
import { steady } from './steady.ts';

const baseUrl = 'https://api.example';
const transport = createConnectTransport({ baseUrl, fetch: steady.rawFetch, useHttpGet: true });
const api = createClient(Products, transport);

export async function load(signal: AbortSignal): Promise<string[]> {
  const { names } = await api.list({}, { signal });
  return names;
}
