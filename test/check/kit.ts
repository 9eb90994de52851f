import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { idempotent, type IdempotentOptions } from 'steadfetch/server';
import { expect, onTestFinished, test } from 'vitest';
import { runCheck } from '../../src/check/run.ts';
import type { Settings } from '../../src/check/settings.ts';
import { toListener } from '../server/node-adapter.ts';
import type { StoreRig } from '../server/rig.ts';
import { lifetimeMs } from './faulty-server.ts';
import { createSettings, wrongIn } from './rig.ts';

const origin = 'https://app.example';
const corsHeaders: Readonly<Record<string, string>> = {
  'access-control-allow-origin': origin,
  'access-control-allow-credentials': 'true',
  'access-control-expose-headers': 'Retry-After, Date, Location, Idempotent-Replayed',
};
const preflightHeaders = {
  ...corsHeaders,
  'access-control-allow-headers': 'Idempotency-Key, Content-Type, Authorization, X-Test',
  'access-control-allow-methods': 'POST, PUT, PATCH',
};

const userOf = (request: Request): string =>
  /^Bearer (\w+)-/.exec(request.headers.get('authorization') ?? '')?.[1] ?? '';

interface Kit {
  readonly url: URL;
  readonly advanceClock: (ms: number) => void;
  /** Goes on with another store of the same keys, as a new process does. */
  readonly restart: () => void;
}

/** Our own server kit behind node:http, as the docs write it, closed after the test. */
async function startKit(
  rig: StoreRig & { readonly twin?: StoreRig['store'] },
  options: Partial<IdempotentOptions<unknown>>,
): Promise<Kit> {
  let aheadMs = 0;
  let runs = 0;
  const place = async (request: Request, { tx }: { readonly tx: unknown }): Promise<Response> => {
    const wanted = request.headers.get('x-test');
    if (wanted === 'slow') await delay(200);
    if (wanted === 'refuse') return Response.json({ error: 'no such article' }, { status: 404 });
    if (wanted === 'crash') throw new Error('crash');
    const order: unknown = await request.json().catch(() => undefined);
    if (!order) return Response.json({ error: 'no JSON' }, { status: 400 });
    await rig.ledger.write(tx, JSON.stringify(order));
    if (wanted === 'fail' || wanted === 'failLate')
      return Response.json({ error: 'later' }, { status: 503 });
    runs += 1;
    const headers = { location: `/orders/${runs}`, 'set-cookie': `session=${runs}` };
    return Response.json({ id: runs, ...order }, { status: 201, headers });
  };
  const create = (store: StoreRig['store']) =>
    idempotent(place, {
      lifetimeMs,
      leaseMs: 5000,
      scope: userOf,
      documentationUrl: 'https://api.example/keys',
      now: () => Date.now() + aheadMs,
      ...options,
      store,
    });
  let handle = create(rig.store);
  const serve = toListener(async (request) => {
    if (request.method === 'OPTIONS')
      return new Response(null, { status: 204, headers: preflightHeaders });
    const isKnown = userOf(request) !== '';
    const response = isKnown
      ? await handle(request).catch(() => new Response(null, { status: 500 }))
      : Response.json({ error: 'credentials' }, { status: 401 });
    const answer = new Response(response.body, response);
    for (const [name, value] of Object.entries(corsHeaders)) answer.headers.set(name, value);
    return answer;
  });
  const server = createServer(serve);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return {
    url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/orders`),
    advanceClock: (ms) => void (aheadMs += ms),
    restart: () => void (handle = create(rig.twin ?? rig.store)),
  };
}

/** Declares the test that our kit has nothing wrong, with one store. */
export function testKit(
  createRig: () => Promise<StoreRig> | StoreRig,
  { hasOwnClock, untried, settings = {}, options = {} }: KitVariant,
): void {
  test('meets every requirement', async () => {
    const rig = await createRig();
    const { url, restart, advanceClock } = await startKit(rig, options);
    const countEffects = async (): Promise<number> => (await rig.ledger.orders()).length;
    const hooks = { countEffects, restart, ...(!hasOwnClock && { advanceClock }) };
    const usual = createSettings(url, hooks);
    const declared = { ...usual.declared, ...settings };
    const report = await runCheck({ ...usual, declared }, () => {});
    expect(wrongIn(report)).toEqual([]);
    const open = report.results
      .filter(({ finding }) => finding.kind === 'unknown')
      .map(({ id }) => id);
    // With one handle of SQLite all others wait for a transaction: none is answered while one runs.
    const whileRunning = /^in-progress-|^slow-other-bytes$/;
    expect(open.filter((id) => !whileRunning.test(id))).toEqual([]);
    const skipped = report.results.filter(({ finding }) => finding.kind === 'skipped');
    expect(skipped.map(({ id }) => id)).toEqual(untried);
  });
}

interface KitVariant {
  /** Whether the store has a clock that a test cannot set forward. */
  readonly hasOwnClock: boolean;
  /** Requirements that do not concern it. */
  readonly untried: readonly string[];
  readonly settings?: Partial<Settings['declared']>;
  readonly options?: Partial<IdempotentOptions<unknown>>;
}
