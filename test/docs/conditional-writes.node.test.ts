import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { MutationObserver, QueryClient } from '@tanstack/react-query';
import axios, { type AxiosAdapter } from 'axios';
import { outcomeOf, retry } from 'steadfetch';
import { steadyAdapter } from 'steadfetch/axios';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { rejectionOf } from '../core/fetch/observe.ts';
import { notesServer } from './conditional/notes-server.ts';
import { type Note, saveNote, steadyNotes } from './conditional/notes.ts';

const site = 'https://notes.example/';
const page = readFileSync(resolve(import.meta.dirname, '../../docs/conditional-writes.md'), 'utf8');

test.each(['notes-server.ts', 'notes.ts'])('the page has %s as it is run here', (file) => {
  const code = readFileSync(resolve(import.meta.dirname, 'conditional', file), 'utf8');
  expect(page).toContain(`\`\`\`ts\n${code}\`\`\``);
});

let origin = '';
/** What happens to the next requests on their way back; they reach the server all the same. */
let lose: ((method: string) => boolean)[] = [];
/** What else reaches the server before the answer is lost. */
let meanwhile: (() => Promise<unknown>) | undefined;
let sent: string[] = [];
const native = globalThis.fetch;

beforeAll(async () => {
  notesServer.listen(0, '127.0.0.1');
  await once(notesServer, 'listening');
  origin = `http://127.0.0.1:${(notesServer.address() as AddressInfo).port}/`;
  vi.stubGlobal('fetch', async (input: RequestInfo, init: RequestInit = {}) => {
    const { method = 'GET' } = init;
    sent.push(method);
    const response = await native((input as string).replace(site, origin), init);
    if (!lose.shift()?.(method)) return response;
    await response.arrayBuffer();
    await meanwhile?.();
    throw new TypeError('Failed to fetch');
  });
});

afterAll(() => {
  vi.unstubAllGlobals();
  steadyNotes.dispose();
  notesServer.closeAllConnections();
  notesServer.close();
});

beforeEach(() => {
  lose = [];
  sent = [];
  meanwhile = undefined;
});

const read = async (): Promise<Note> => (await native(origin)).json() as Promise<Note>;
const put = (text: string, version: number): Promise<Response> =>
  native(origin, {
    method: 'PUT',
    body: JSON.stringify({ text }),
    headers: { 'if-match': `"${version}"`, 'edit-id': 'of somebody else' },
  });

/** Saves a text over the version that there is. */
async function save(text: string): Promise<Note> {
  const note = await read();
  const client = new QueryClient({ defaultOptions: steadyNotes.defaultOptions });
  const observer = new MutationObserver(client, { ...saveNote, gcTime: 0 });
  return observer.mutate({ ...note, text });
}

const isPut = (method: string): boolean => method === 'PUT';
const isGet = (method: string): boolean => method === 'GET';

test('a write whose answer is lost is a success: its read finds that it was ours', async () => {
  const { version } = await read();
  lose = [isPut];
  expect(await save('a')).toMatchObject({ text: 'a', version: version + 1 });
  expect(sent).toEqual(['PUT', 'PUT', 'GET']);
  expect(await read()).toMatchObject({ text: 'a', version: version + 1 });
});

test('a write that another has beaten is a plain conflict', async () => {
  const { version } = await read();
  await put('theirs', version);
  const error = await rejectionOf(
    retry(steadyNotes, ({ signal }) =>
      steadyNotes.fetch(site, {
        method: 'PUT',
        body: '{"text":"ours"}',
        headers: { 'if-match': `"${version}"`, 'edit-id': 'ours' },
        signal,
      }),
    ),
  );
  expect(outcomeOf(error)).toMatchObject({ status: 412, processed: 'no' });
  expect(await read()).toMatchObject({ text: 'theirs' });
});

test('where another has written over ours before we look, ours counts as beaten', async () => {
  const { version } = await read();
  lose = [isPut];
  meanwhile = () => put('theirs', version + 1);
  const error = await rejectionOf(save('ours'));
  expect(outcomeOf(error)).toMatchObject({ status: 412, processed: 'no' });
  expect(await read()).toMatchObject({ text: 'theirs', version: version + 2 });
});

test('where the read fails, too, the outcome is unknown, and nothing is written twice', async () => {
  const warn = vi.spyOn(console, 'warn').mockReturnValue(undefined);
  const { version } = await read();
  lose = [isPut, () => false, isGet];
  const error = await rejectionOf(save('b'));
  expect(outcomeOf(error)).toMatchObject({ status: 412, processed: 'unknown' });
  expect(await read()).toMatchObject({ text: 'b', version: version + 1 });
  expect(warn.mock.calls.join()).toContain('conditional: wasOurs threw');
  warn.mockRestore();
});

test('axios makes its own answer, so that there the outcome is unknown', async () => {
  const { version } = await read();
  let isFirst = true;
  const instance = axios.create();
  const inner: AxiosAdapter = async (config) => {
    const { status } = await native(origin, {
      method: 'PUT',
      body: config.data as string,
      headers: Object.fromEntries(Object.entries(config.headers.toJSON())) as HeadersInit,
    });
    const response = { data: '', status, statusText: '', headers: {}, config };
    if (isFirst) {
      isFirst = false;
      throw new axios.AxiosError('Network Error', 'ERR_NETWORK', config);
    }
    throw new axios.AxiosError('no', 'ERR_BAD_REQUEST', config, undefined, response);
  };
  const own = axios.defaults.adapter ?? [];
  axios.defaults.adapter = inner;
  onTestFinished(() => void (axios.defaults.adapter = own));
  instance.defaults.adapter = steadyAdapter(steadyNotes, axios);
  const headers = { 'if-match': `"${version}"`, 'edit-id': 'by axios' };
  const error = await rejectionOf(
    retry(steadyNotes, ({ signal }) => instance.put(site, { text: 'c' }, { headers, signal })),
  );
  expect(axios.isAxiosError(error) && error.response?.status).toBe(412);
  expect(outcomeOf(error)).toMatchObject({ status: 412, processed: 'unknown' });
});
