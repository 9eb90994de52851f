import { type ChildProcess, spawn, type SpawnOptions } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import type { Readable } from 'node:stream';
import { patienceMs } from '../setup/patience.ts';
import { findWebKitDriver, findXvfb } from '../setup/webkit.ts';

/** One window of a browser of its own, spoken to in W3C WebDriver. */
export interface WebKitPage {
  readonly goto: (url: string) => Promise<void>;
  readonly back: () => Promise<void>;
  /** The function gets nothing but its argument, and its answer is JSON, as a promise or not. */
  readonly evaluate: <Given, Answer>(
    act: (given: Given) => Answer,
    given?: Given,
  ) => Promise<Awaited<Answer>>;
  readonly waitFor: <Given>(
    isSo: (given: Given) => boolean | Promise<boolean>,
    given?: Given,
  ) => Promise<void>;
  /** Presses a key, and lets it go. */
  readonly press: (key: string) => Promise<void>;
  /** Selects a file in the input with this id. */
  readonly pickFile: (id: string, path: string) => Promise<void>;
  readonly close: () => Promise<void>;
}

export interface WebKit {
  readonly open: () => Promise<WebKitPage>;
  readonly close: () => void;
}

/** What there must be to drive WebKitGTK, and is not on this machine. */
export const missingForWebKit = [
  ['WebKitWebDriver', findWebKitDriver()],
  ['Xvfb', findXvfb()],
].flatMap(([name, path]) => (path === undefined ? [name] : []));

function required(path: string | undefined): string {
  if (path === undefined) throw new Error(`There is no ${missingForWebKit.join(' and no ')}.`);
  return path;
}

const soon = (): Promise<void> => new Promise((passed) => setTimeout(passed, 20));

function start(path: string, args: readonly string[], options: SpawnOptions): ChildProcess {
  const child = spawn(path, args, { stdio: 'ignore', ...options });
  // Whoever forgets to close it does not wait for it, and does not leave it behind.
  child.unref();
  process.once('exit', () => child.kill());
  return child;
}

/** A screen that nobody sees, and what to call it. */
async function startScreen(): Promise<readonly [ChildProcess, string]> {
  const display = required(findXvfb());
  const screen = start(display, ['-displayfd', '3', '-nolisten', 'tcp'], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
  });
  let number = '';
  // To its end: it dies of a pipe that is closed between the number and the line's end.
  for await (const told of screen.stdio[3] as Readable) number += String(told);
  if (number === '') throw new Error(`${display} has not started.`);
  return [screen, `:${number.trim()}`];
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

async function send<Answer>(method: string, url: string, body?: unknown): Promise<Answer> {
  const response = await fetch(url, {
    method,
    signal: AbortSignal.timeout(patienceMs),
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const { value } = (await response.json()) as { value: Answer & { message?: string } };
  if (!response.ok) throw new Error(`${method} ${url}: ${value.message ?? response.status}`);
  return value;
}

function pageOf(session: string): WebKitPage {
  const page: WebKitPage = {
    goto: (url) => send('POST', `${session}/url`, { url }),
    back: () => send('POST', `${session}/back`, {}),
    async evaluate(act, given) {
      const script = `const [given, done] = arguments;
        Promise.resolve(given).then(${String(act)}).then(
          (answer) => done({ answer }),
          (error) => done({ error: String(error) }),
        );`;
      const said = await send<{ answer?: never; error?: string }>(
        'POST',
        `${session}/execute/async`,
        { script, args: [given ?? null] },
      );
      if (said.error !== undefined) throw new Error(said.error);
      return said.answer as never;
    },
    async waitFor(isSo, given) {
      while (!(await page.evaluate(isSo, given))) await soon();
    },
    press(key) {
      const actions = [
        { type: 'keyDown', value: key },
        { type: 'keyUp', value: key },
      ];
      return send('POST', `${session}/actions`, {
        actions: [{ type: 'key', id: 'keys', actions }],
      });
    },
    async pickFile(id, path) {
      const found = await send<Record<string, string>>('POST', `${session}/element`, {
        using: 'css selector',
        value: `[id="${id}"]`,
      });
      const [element] = Object.values(found);
      await send('POST', `${session}/element/${element}/value`, { text: path });
    },
    close: () => send('DELETE', session),
  };
  return page;
}

/** Starts the driver that Debian's `webkit2gtk-driver` has; it knows where its browser is. */
export async function startWebKit(): Promise<WebKit> {
  const driver = required(findWebKitDriver());
  const [screen, name] = await startScreen();
  const port = await freePort();
  const running = start(driver, [`--port=${port}`], {
    env: { ...process.env, DISPLAY: name, GDK_BACKEND: 'x11' },
  });
  const url = `http://127.0.0.1:${port}`;
  const isReady = (): Promise<boolean> =>
    send('GET', `${url}/status`).then(
      () => true,
      () => false,
    );
  while (!(await isReady())) {
    if (running.exitCode !== null) throw new Error(`${driver} ended with ${running.exitCode}.`);
    await soon();
  }
  return {
    async open() {
      const capabilities = { alwaysMatch: { browserName: 'MiniBrowser' } };
      const { sessionId } = await send<{ sessionId: string }>('POST', `${url}/session`, {
        capabilities,
      });
      return pageOf(`${url}/session/${sessionId}`);
    },
    close() {
      running.kill();
      screen.kill();
    },
  };
}
