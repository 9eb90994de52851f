import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser } from 'playwright';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Outbox } from '../../src/outbox.ts';
import { buildPage, type BuiltPage } from './build-page.ts';
import { launchBrowser } from './launch.ts';

let browser: Browser;
let page: BuiltPage;
let server: Server;
let origin: string;
let isDown = false;
const keys: string[] = [];
const booked: string[] = [];

beforeAll(async () => {
  page = buildPage('sync-page');
  server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    response.shouldKeepAlive = false;
    if (pathname === '/blank') {
      response
        .writeHead(200, { 'content-type': 'text/html' })
        .end('<title>Blank</title><link rel="icon" href="data:,">');
    } else if (pathname === '/api/orders') {
      const key = String(request.headers['idempotency-key']);
      keys.push(key);
      // What a tab has sent before it was closed may come after it.
      const isOfWorker = request.headers.referer === `${origin}/sw.js`;
      if (isDown || !isOfWorker) return void request.socket.destroy();
      booked.push(key);
      response.writeHead(201, { 'content-type': 'application/json' }).end('{}');
    } else page.serve(pathname, response);
  });
  await new Promise<void>((listening) => void server.listen(0, '127.0.0.1', listening));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser.close();
  server.closeAllConnections();
  await new Promise((closed) => void server.close(closed));
  page.remove();
});

test('the service worker delivers what a page has left, under the same key', async () => {
  const context = await browser.newContext();
  const tab = await context.newPage();
  await tab.goto(`${origin}/`);
  await expect.poll(() => tab.title()).toBe('Ready');
  isDown = true;
  const key = await tab.evaluate(async () => {
    const { outbox } = globalThis as unknown as { outbox: Outbox };
    const { idempotencyKey, saved } = outbox.submit('order', 'lamp' as never);
    await saved;
    return idempotencyKey;
  });
  await expect.poll(() => keys.length).toBeGreaterThan(0);
  const watcher = await context.newPage();
  await watcher.goto(`${origin}/blank`);
  const cdp = await context.newCDPSession(watcher);
  const registrations: string[] = [];
  cdp.on('ServiceWorker.workerRegistrationUpdated', ({ registrations: known }) => {
    registrations.push(...known.map(({ registrationId }) => registrationId));
  });
  await cdp.send('ServiceWorker.enable');
  await expect.poll(() => registrations.length).toBeGreaterThan(0);
  await tab.close();
  isDown = false;
  await cdp.send('ServiceWorker.dispatchSyncEvent', {
    origin,
    registrationId: registrations[0] ?? '',
    tag: 'steadfetch steadfetch-outbox',
    lastChance: false,
  });
  await expect.poll(() => booked.length).toBeGreaterThan(0);
  expect(booked).toEqual([`"${key}"`]);
  await context.close();
});
