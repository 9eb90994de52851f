import { createPromiseClient } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-web';
import { rawFetchFor } from 'steadfetch';
import { Products } from './products_pb.js';
import { steady } from '../recipes/steady.ts';

const own = { baseUrl: 'https://api.example', useHttpGet: true };
const linked = (signal) => createConnectTransport({ ...own, fetch: rawFetchFor(steady, signal) });
const transport = {
  unary: (...call) => linked(call[2]).unary(...call),
  stream: (...call) => linked(call[2]).stream(...call),
};
export const api = createPromiseClient(Products, transport);

export async function load(signal) {
  const { names } = await api.list({}, { signal });
  return names;
}
