import { createClient, type Transport } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-web';
import { rawFetchFor } from 'steadfetch';
import { Products } from './products_pb.ts';
import { steady } from './steady.ts';

const own = { baseUrl: 'https://api.example', useHttpGet: true };
const linked = (signal: AbortSignal | undefined) =>
  createConnectTransport({ ...own, fetch: rawFetchFor(steady, signal) });
const transport: Transport = {
  unary: (method, signal, ...rest) => linked(signal).unary(method, signal, ...rest),
  stream: (method, signal, ...rest) => linked(signal).stream(method, signal, ...rest),
};
export const api = createClient(Products, transport);

export const load = async (signal: AbortSignal): Promise<string[]> =>
  (await api.list({}, { signal })).names;
