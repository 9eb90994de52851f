import { createPromiseClient } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-web';
import { Products } from './products_pb.js';
import { steady } from '../recipes/steady.ts';

const baseUrl = 'https://api.example';
const transport = createConnectTransport({ baseUrl, fetch: steady.rawFetch, useHttpGet: true });
export const api = createPromiseClient(Products, transport);

export async function load(signal) {
  const { names } = await api.list({}, { signal });
  return names;
}
