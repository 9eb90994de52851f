import { createClient } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-web';
import { Products } from './products_pb.ts';
import { steady } from './steady.ts';

const baseUrl = 'https://api.example';
const transport = createConnectTransport({ baseUrl, fetch: steady.rawFetch, useHttpGet: true });
export const api = createClient(Products, transport);

export const load = async (signal: AbortSignal): Promise<string[]> =>
  (await api.list({}, { signal })).names;
