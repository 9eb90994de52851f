import axios from 'axios';
import {
  createSteadfetch,
  type Decision,
  type Failure,
  outcomeOf,
  profiles,
  retry,
} from 'steadfetch';
import { steadyAdapter } from 'steadfetch/axios';
import { beforeEach, expect, inject, onTestFinished, test, vi } from 'vitest';
import { commands } from 'vitest/browser';
import { rejectionOf } from '../core/fetch/observe.ts';
import { openTalk } from './talk.ts';

const [origin] = inject('origins');

beforeEach(() => {
  const warn = vi.spyOn(console, 'warn').mockReturnValue();
  onTestFinished(() => warn.mockRestore());
});

/** A file that a user has selected, which is on the disk. */
async function pick(act: (path: string) => Promise<void>, isChecked = true): Promise<File> {
  const name = `report-${crypto.randomUUID()}.txt`;
  const path = `node_modules/.picked/${name}`;
  await commands.writeFile(path, 'a report');
  await commands.ageFile(path);
  // In the document of the window: not every engine can be driven to select one in a frame.
  const { document: page } = window.top ?? window;
  const input = page.createElement('input');
  Object.assign(input, { type: 'file', id: name });
  page.body.append(input);
  onTestFinished(async () => {
    input.remove();
    await commands.removeFile(path).catch(() => {});
  });
  await commands.pickFile(name, path);
  const [selected] = input.files ?? [];
  if (!selected) throw new Error('No file was picked.');
  // One of the frame.
  const file = structuredClone(selected);
  // Chromium remembers how a file was from when that was asked first.
  if (isChecked && file.size === 0) throw new Error('The file is empty.');
  await act(path);
  return file;
}

const changed = (): Promise<File> =>
  pick((path) => commands.writeFile(path, 'a report that is longer by now'));
const shortened = (): Promise<File> => pick((path) => commands.writeFile(path, 'a'));
const gone = (): Promise<File> => pick((path) => commands.removeFile(path));
const goneUnseen = (): Promise<File> => pick((path) => commands.removeFile(path), false);
const kept = (): Promise<File> => pick(async () => {});

function formOf(...files: readonly Blob[]): FormData {
  const form = new FormData();
  form.append('title', 'Report');
  for (const file of files) form.append('file', file);
  return form;
}

const post = (body: BodyInit, rest: RequestInit = {}): RequestInit => ({
  method: 'POST',
  body,
  ...rest,
});

const long = 'a'.repeat(65_537);
const apis = [{ match: origin, idempotency: profiles.draft }];

/** Three attempts at most, and what was decided about each; then a good request to the same endpoint. */
async function attempt(
  url: string,
  make: () => RequestInfo | URL,
  init: RequestInit,
  key?: string,
) {
  const decisions: (readonly [Failure, Decision])[] = [];
  const paused: unknown[] = [];
  const steady = createSteadfetch({ policy: { baseMs: 0 }, apis: key ? apis : [] });
  onTestFinished(() => steady.dispose());
  steady.subscribe((event) => {
    if (event.type === 'decision') decisions.push([event.failure, event.decision]);
    if (event.type === 'pause:start') paused.push(event.reason);
  });
  const own = key ? { ...init, idempotencyKey: key } : init;
  const run = retry(steady, ({ signal }) => steady.fetch(make(), { ...own, signal }), {
    idempotent: true,
    maxRetries: 2,
  });
  const error = await rejectionOf(run);
  const good = await steady.fetch(url, { method: init.method ?? 'GET' });
  return { error, decisions, paused, good: good.status };
}

const invalid = { kind: 'invalid', processed: 'no' };
const stop = { kind: 'stop', reason: 'not-retryable', retryAt: undefined };

interface Refused {
  readonly init?: () => RequestInit | Promise<RequestInit>;
  readonly url?: string;
  readonly key?: string;
  readonly says: string;
}

const again = 'was changed, moved or removed. Select it again.';

const refused: Readonly<Record<string, Refused>> = {
  'a file that was changed': { init: async () => post(await changed()), says: again },
  'a file that was shortened': { init: async () => post(await shortened()), says: again },
  'a file that was removed': { init: async () => post(await gone()), says: again },
  'a file that was removed before its size was asked for': {
    init: async () => post(await goneUnseen()),
    says: again,
  },
  'a form with a file that was changed': {
    init: async () => post(formOf(new Blob(['a']), await kept(), await changed())),
    says: again,
  },
  'a changed file with an idempotency key': {
    init: async () => post(await changed()),
    key: 'a',
    says: again,
  },
  'a form of a removed file, with an idempotency key': {
    init: async () => post(formOf(await gone())),
    key: 'a',
    says: again,
  },
  'a text that is too long for keepalive': {
    init: () => post(long, { keepalive: true }),
    says: 'with keepalive, a body has at most 65536 bytes',
  },
  'a form that is too long for keepalive': {
    init: () => post(formOf(new Blob([long])), { keepalive: true }),
    says: 'with keepalive',
  },
  'another origin in the mode same-origin': {
    init: () => ({ mode: 'same-origin' }),
    says: 'its mode is same-origin',
  },
  'a scheme that fetch does not know': { url: 'ftp://127.0.0.1/', says: 'does not support ftp:' },
  'a URL of a Blob that was revoked': { url: `blob:${location.origin}/1`, says: 'nothing is kept' },
  'a miss of only-if-cached': {
    url: `/${crypto.randomUUID()}`,
    init: () => ({ cache: 'only-if-cached', mode: 'same-origin' }),
    says: 'nothing is kept',
  },
  'credentials in the URL': { url: 'http://a:b@127.0.0.1/', says: 'credentials' },
  'a header that is none': { init: () => ({ headers: { 'a b': '1' } }), says: 'nvalid' },
};

test.each(Object.entries(refused))(
  '%s is refused once, without a request, and a good one to the same endpoint goes at once',
  async (_, { init = () => ({}), url, key, says }) => {
    const talk = openTalk(origin, 'ok');
    const target = url ?? talk.url;
    const given = await Promise.resolve(init());
    const { error, decisions, ...rest } = await attempt(talk.url, () => target, given, key);
    expect(error).toBeInstanceOf(TypeError);
    expect((error as Error).message).toContain(says);
    expect(outcomeOf(error)).toEqual(invalid);
    expect(decisions).toEqual([[invalid, stop]]);
    expect(rest).toEqual({ paused: [], good: 200 });
    expect((await talk.log()).requests).toHaveLength(1);
  },
);

test('the error of a file names it', async () => {
  const file = await changed();
  const { url } = openTalk(origin, 'ok');
  const error = await rejectionOf(createSteadfetch().fetch(url, post(formOf(file))));
  expect((error as Error).message).toBe(`The file "${file.name}" ${again}`);
});

test('with axios the error is an AxiosError that names the file', async () => {
  const file = await changed();
  const steady = createSteadfetch();
  const api = axios.create({ adapter: steadyAdapter(steady, axios) });
  const error = await rejectionOf(api.post(openTalk(origin, 'ok').url, formOf(file)));
  expect(axios.isAxiosError(error)).toBe(true);
  expect((error as Error).message).toBe(`The file "${file.name}" ${again}`);
  expect(outcomeOf(error)).toEqual(invalid);
});

test('a file that can be read is not blamed for a connection that breaks', async () => {
  const talk = openTalk(origin, 'reset');
  const init = post(formOf(await kept()));
  expect(await rejectionOf(createSteadfetch().fetch(talk.url, init))).toMatchObject({
    code: 'network',
    outcome: { kind: 'network', processed: 'unknown' },
  });
});

/** What the browser may have refused, or the server answered. */
const doubtful: Readonly<
  Record<string, () => Promise<[make: () => RequestInfo, init: RequestInit]>>
> = {
  'an answer with another hash': async () => [
    () => openTalk(origin, 'ok').url,
    { integrity: 'sha256-AAAA' },
  ],
  'a redirect that is an error': async () => [
    () => openTalk(origin, 'redirect-to-next').url,
    { redirect: 'error' },
  ],
  'a stream over HTTP/1.1': async () => [
    () => openTalk(origin, 'ok').url,
    // A stream that is locked by the attempt before it would be another refusal.
    { method: 'POST', duplex: 'half' } as RequestInit,
  ],
  'a Request of a file that was changed': async () => {
    const file = await changed();
    return [() => new Request(openTalk(origin, 'ok').url, post(file)), {}];
  },
};

test.each(Object.entries(doubtful))(
  '%s is no evidence against the server: three attempts, and no pause',
  async (name, make) => {
    const [input, init] = await make();
    const steady = createSteadfetch({ policy: { baseMs: 0 }, apis: [{ match: origin }] });
    onTestFinished(() => steady.dispose());
    const paused: unknown[] = [];
    steady.subscribe((event) => void (event.type === 'pause:start' && paused.push(event.reason)));
    const send = ({ signal }: { readonly signal: AbortSignal }): Promise<Response> =>
      steady.fetch(input(), {
        ...init,
        signal,
        ...(name.includes('stream') && { body: new Blob(['a']).stream() }),
      });
    const error = await rejectionOf(retry(steady, send, { idempotent: true, maxRetries: 2 }));
    expect(error).toMatchObject({ code: 'network', operation: { attempt: 3 } });
    expect(paused).toEqual([]);
  },
);

test('a stream of the app that fails is a failure of our own side, with its own error', async () => {
  const steady = createSteadfetch({ policy: { baseMs: 0 } });
  onTestFinished(() => steady.dispose());
  const disk = new Error('the disk is full');
  const send = ({ signal }: { readonly signal: AbortSignal }): Promise<Response> => {
    const body = new ReadableStream({ start: (controller) => controller.error(disk) });
    const init = { method: 'PUT', body, duplex: 'half', signal } as RequestInit;
    return steady.fetch(openTalk(origin, 'ok').url, init);
  };
  const error = await rejectionOf(retry(steady, send));
  expect(error).toBe(disk);
  expect(outcomeOf(error)).toEqual({ kind: 'invalid', processed: 'no' });
});
