import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { Api } from '../../src/check/api.ts';
import { createSettings } from './rig.ts';

async function startApi(status: number) {
  const server = createServer((_, response) => void response.writeHead(status).end());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  return new Api({ ...createSettings(url, {}), leaseMs: 10 });
}

test('an API that answers 409 for whatever is done already is not waited for again and again', async () => {
  const api = await startApi(409);
  for (let times = 0; times < 5; times += 1) await api.sendUntilAnswered(api.operation());
  const before = api.requests;
  await api.sendUntilAnswered(api.operation());
  expect(api.requests - before).toBe(1);
});

test('an operation has its own key and value, and keeps them', async () => {
  const api = await startApi(201);
  const [one, other] = [api.operation(), api.operation()];
  expect(one.key).not.toBe(other.key);
  expect(one.text).not.toBe(other.text);
  expect(api.compose(one)).toEqual(api.compose(one));
});
