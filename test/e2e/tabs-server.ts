import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename, join, resolve } from 'node:path';

const dist = resolve(import.meta.dirname, '../../dist');
/** All of React Query that the package imports where there is no component. */
const queryCore = resolve(
  import.meta.dirname,
  '../../node_modules/@tanstack/query-core/build/modern',
);

/** A page with the built package, beside an API that is up or down. */
export interface TabsServer {
  readonly url: string;
  isUp: boolean;
  /** The paths of the requests to the API, in the order in which they came. */
  readonly arrivals: readonly string[];
  readonly close: () => Promise<void>;
}

/** The page's script: what a test calls is `window.tab`. */
const page = `<!doctype html><title>Tab</title><link rel="icon" href="data:,">
<script type="importmap">${JSON.stringify({ imports: { '@tanstack/react-query': '/query-core/index.js' } })}</script>
<script type="module">
  globalThis.process = { env: { NODE_ENV: 'production' } };
  const { createSteadfetch, shareAcrossTabs } = await import('/dist/index.js');
  let inFlight = 0;
  let asked = 0;
  let now = Date.UTC(2026, 0, 1);
  let timers = [];
  const clock = {
    now: () => now,
    setTimeout(callback, delayMs) {
      const timer = { at: now + delayMs, callback };
      timers.push(timer);
      return timer;
    },
    clearTimeout: (handle) => (timers = timers.filter((timer) => timer !== handle)),
  };
  // The number of the tab, so that no two of them do the same at the same time.
  const number = Number(new URLSearchParams(location.search).get('tab'));
  const steady = createSteadfetch({
    clock,
    random: () => number / 4,
    tabs: shareAcrossTabs(),
    fetch: (...request) => {
      inFlight += 1;
      return fetch(...request).finally(() => (inFlight -= 1));
    },
  });
  /** A channel that the browser knows of: what another tab posts from now on reaches it. */
  const connect = async () => {
    const channel = new BroadcastChannel('steadfetch');
    const own = new BroadcastChannel('steadfetch');
    await new Promise((resolve) => {
      channel.onmessage = ({ data }) => data.isOwn && resolve();
      own.postMessage({ isOwn: true });
    });
    own.close();
    return channel;
  };
  const echoes = await connect();
  const heard = new Set();
  let tellHeard = () => {};
  echoes.onmessage = ({ data }) => {
    heard.add(data.echo);
    tellHeard();
  };
  const tab = {
    results: [],
    held: () => asked - inFlight - tab.results.length,
    ask(path) {
      asked += 1;
      steady.fetch(path).then(
        () => tab.results.push('ok'),
        (error) => tab.results.push(error.name),
      );
    },
    pass(ms) {
      now += ms;
      for (let due; (due = timers.find(({ at }) => at <= now)); ) {
        clock.clearTimeout(due);
        due.callback();
      }
    },
    async settle() {
      while (inFlight > 0) await fetch('/ping');
      await navigator.locks.query();
    },
    /** The package has a message of another tab before this has. */
    async listen() {
      const channel = await connect();
      channel.onmessage = () => (tab.isTold = true);
    },
    mute: () => echoes.close(),
    say: (echo) => echoes.postMessage({ echo }),
    async hear(echo) {
      while (!heard.has(echo)) await new Promise((resolve) => (tellHeard = resolve));
    },
  };
  addEventListener('pageshow', ({ persisted }) => (tab.isRestored = persisted));
  window.tab = tab;
</script>`;

/** A page that has nothing to do with it. */
const elsewhere = '<!doctype html><title>Elsewhere</title><link rel="icon" href="data:,">';

export async function startTabsServer(): Promise<TabsServer> {
  const arrivals: string[] = [];
  const state = { isUp: true };
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    // Else a browser resends by itself what failed on a connection that it has used before.
    response.shouldKeepAlive = false;
    const send = (type: string, body: string | Buffer): void =>
      void response.writeHead(200, { 'content-type': type }).end(body);
    if (pathname.startsWith('/api/')) {
      arrivals.push(pathname);
      response.setHeader('cache-control', 'no-store');
      if (state.isUp) send('application/json', '{}');
      else request.socket.destroy();
    } else if (pathname.startsWith('/dist/')) {
      void readFile(join(dist, pathname.slice('/dist/'.length))).then((code) =>
        send('text/javascript', code),
      );
    } else if (pathname.startsWith('/query-core/')) {
      void readFile(join(queryCore, basename(pathname))).then((code) =>
        send('text/javascript', code),
      );
    } else if (pathname === '/ping') response.writeHead(204).end();
    else send('text/html', pathname === '/' ? page : elsewhere);
  });
  await new Promise<void>((listening) => void server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    arrivals,
    get isUp() {
      return state.isUp;
    },
    set isUp(isUp) {
      state.isUp = isUp;
    },
    close: () =>
      new Promise((closed, fail) => {
        server.close((error) => (error ? fail(error) : closed()));
        server.closeAllConnections();
      }),
  };
}
