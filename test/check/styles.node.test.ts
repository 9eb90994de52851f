import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { dialects } from '../../src/check/dialects.ts';
import { requirements } from '../../src/check/requirements/all.ts';
import { runCheck } from '../../src/check/run.ts';
import type { Settings } from '../../src/check/settings.ts';
import { createSettings, wrongIn } from './rig.ts';

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** How a server differs from others that are as right as it is. */
interface Style {
  readonly keyOf?: (request: IncomingMessage, body: string) => string | undefined;
  readonly isKeyOptional?: boolean;
  /** The answer to a new operation. */
  readonly answer?: (id: number, body: string) => Answer;
  /** A refusal before any key is looked up. */
  readonly refuse?: (body: string, id: number) => Answer | undefined;
  readonly mismatch?: Answer | 'replayed';
  /** Waits for the first request, instead of a refusal. */
  readonly waits?: boolean;
  readonly inProgress?: Answer;
  readonly replayHeader?: string;
  /** A part of the body that changes with each answer. */
  readonly stamp?: (text: string) => string;
}

const bareKey = ({ headers }: IncomingMessage): string | undefined => {
  const field = headers['idempotency-key'];
  return typeof field === 'string' && /^[!#-+\--~]{1,255}$/.test(field) ? field : undefined;
};
const quotedKey = ({ headers }: IncomingMessage): string | undefined => {
  const field = headers['idempotency-key'];
  const found =
    typeof field === 'string' ? /^"((?:[ !#-[\]-~]|\\["\\])+)"(?:;.*)?$/.exec(field) : null;
  const key = found?.[1]?.replaceAll(/\\(.)/g, '$1');
  return key !== undefined && key.length <= 255 ? key : undefined;
};
const parse = (text: string): Record<string, unknown> | undefined => {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return undefined;
  }
};
const created = (id: number): Answer => ({ status: 201, text: JSON.stringify({ id }) });
const refusal = (status: number, title: string, headers = {}): Answer => ({
  status,
  text: JSON.stringify({ title }),
  headers,
});

interface Known {
  readonly body: string;
  readonly answer: Promise<Answer>;
  isDone: boolean;
}

/** A server that takes keys rightly, in its own style. */
function createStyled(style: Style) {
  const known = new Map<string, Known>();
  const { keyOf = quotedKey, answer: answerNew = created } = style;
  let lastId = 0;
  const run = async (request: IncomingMessage, body: string): Promise<Answer> => {
    await delay(request.headers['x-test'] === 'slow' ? 150 : 2);
    if (request.headers['x-test'] === 'refuse') return refusal(404, 'no such article');
    lastId += 1;
    return answerNew(lastId, body);
  };
  const serve = async (request: IncomingMessage, body: string): Promise<Answer> => {
    const refused = style.refuse?.(body, lastId);
    if (refused) return refused;
    const key = keyOf(request, body);
    if (key === undefined) {
      const isThere = request.headers['idempotency-key'] !== undefined;
      return style.isKeyOptional && !isThere ? run(request, body) : refusal(400, 'key');
    }
    const id = `${request.method} ${request.url} ${request.headers.authorization} ${key}`;
    const found = known.get(id);
    if (!found) {
      const entry: Known = { body, answer: run(request, body), isDone: false };
      known.set(id, entry);
      const given = await entry.answer;
      known.set(id, { ...entry, isDone: true });
      return given;
    }
    const { mismatch = refusal(422, 'other bytes') } = style;
    if (found.body !== body && mismatch !== 'replayed') return mismatch;
    if (!found.isDone && !style.waits)
      return style.inProgress ?? refusal(409, 'running', { 'retry-after': '1' });
    const given = await found.answer;
    const mark = style.replayHeader === undefined ? {} : { [style.replayHeader]: 'true' };
    return { ...given, headers: { ...given.headers, ...mark } };
  };
  return { serve, effects: () => lastId };
}

async function start(style: Style, limitEvery = Infinity) {
  const { serve, effects } = createStyled(style);
  const { stamp = (text: string) => text } = style;
  let requests = 0;
  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    let body = '';
    try {
      for await (const chunk of request.setEncoding('utf8')) body += chunk;
    } catch {
      return;
    }
    requests += 1;
    const isLimited = requests % limitEvery === 0;
    const isKnown = /^Bearer \w/.test(request.headers.authorization ?? '');
    const { status, text, headers } = isLimited
      ? refusal(429, 'slowly', { 'retry-after': '0' })
      : isKnown
        ? await serve(request, body)
        : refusal(401, 'credentials');
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(status === 204 ? undefined : stamp(text));
  };
  const server = createServer((request, response) => void respond(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: new URL(`http://127.0.0.1:${port}/orders`),
    effects,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

const { draft, stripe, square, shopify, monday } = dialects;
const mutation = '{"query":"mutation M { create }","variables":{"title":"kite {{unique}}"}}';
let clock = 0;
const requirementsWithoutRetryAfter = requirements
  .map(({ id }) => id)
  .filter((id) => id !== 'in-progress-retry-after');

const styles: readonly (readonly [name: string, style: Style, settings: Partial<Settings>])[] = [
  ['waits for the first request', { waits: true }, {}],
  ['answers 204', { answer: () => ({ status: 204, text: '' }) }, {}],
  ['answers no id', { answer: () => ({ status: 200, text: '{"ok":true}' }) }, {}],
  [
    'answers a text',
    {
      answer: (id) => ({
        status: 200,
        text: `order ${id}`,
        headers: { 'content-type': 'text/plain' },
      }),
    },
    {},
  ],
  [
    'takes bare keys, and none',
    {
      keyOf: bareKey,
      isKeyOptional: true,
      mismatch: refusal(400, 'other'),
      replayHeader: 'idempotent-replayed',
    },
    { declared: { ...stripe, failures: 'either' } },
  ],
  [
    'takes the key in the body',
    {
      keyOf: (_, body) => {
        const key = parse(body)?.['idempotency_key'];
        return typeof key === 'string' && key !== '' && key.length <= 45 ? key : undefined;
      },
      mismatch: refusal(400, 'IDEMPOTENCY_KEY_REUSED'),
    },
    { declared: { ...square, key: 'required' } },
  ],
  [
    'replays whatever the bytes',
    {
      keyOf: bareKey,
      isKeyOptional: true,
      mismatch: 'replayed',
      replayHeader: 'idempotency-replayed',
    },
    {
      declared: monday,
      body: '{"query":"mutation { create_item(name: \\"{{unique}}\\") { id } }"}',
    },
  ],
  [
    'is a GraphQL API',
    {
      keyOf: (_, body) => {
        const { idempotencyKey: key } = (parse(body)?.['variables'] ?? {}) as {
          idempotencyKey?: string;
        };
        return key === '' ? undefined : key;
      },
      isKeyOptional: true,
      answer: (id) => ({
        status: 200,
        text: JSON.stringify({ data: { create: { id, userErrors: [] } } }),
      }),
      mismatch: {
        status: 200,
        text: '{"errors":[{"extensions":{"code":"IDEMPOTENCY_KEY_PARAMETER_MISMATCH"}}]}',
      },
      inProgress: {
        status: 200,
        text: '{"errors":[{"extensions":{"code":"IDEMPOTENCY_CONCURRENT_REQUEST"}}]}',
        headers: { 'retry-after': '1' },
      },
    },
    { declared: shopify, body: mutation },
  ],
  [
    'has one status for other bytes and a running request',
    { mismatch: refusal(409, 'other bytes'), inProgress: refusal(409, 'running', { link: '<x>' }) },
    { declared: { ...draft, mismatch: ['409'] }, only: requirementsWithoutRetryAfter },
  ],
  [
    'has a time in its answers',
    { stamp: (text) => JSON.stringify({ ...parse(text), servedAt: (clock += 1) }) },
    { ignore: ['servedAt'] },
  ],
  [
    'takes forms',
    {},
    {
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        authorization: 'Bearer a',
      },
      body: 'description=kite+{{unique}}&amount=12',
    },
  ],
  [
    'takes no value but its own in some fields',
    {
      refuse: (body) =>
        body !== '' && parse(body)?.['currency'] !== 'EUR' ? refusal(400, 'currency') : undefined,
    },
    { body: '{"currency":"EUR","note":"{{unique}}"}' },
  ],
];

/** What is found wrong, by the answers alone and with a count. */
async function findWrong(style: Style, settings: Partial<Settings>, limitEvery?: number) {
  const { url, effects, close } = await start(style, limitEvery);
  const wrong: string[] = [];
  let requests = 0;
  for (const hooks of [{}, { countEffects: effects }]) {
    const usual = createSettings(url, hooks);
    const { slow, refuse } = usual.triggers;
    const own: Settings = {
      ...usual,
      declared: draft,
      headers: { ...usual.headers, authorization: 'Bearer a' },
      secondUser: { authorization: 'Bearer b' },
      renewed: undefined,
      origin: undefined,
      triggers: { ...(slow && { slow }), ...(refuse && { refuse }) },
      ...settings,
    };
    const report = await runCheck(own, () => {});
    wrong.push(...wrongIn(report));
    ({ requests } = report);
  }
  close();
  return { wrong, requests };
}

describe.concurrent('a server that is right, in its own style, has nothing wrong:', () => {
  test.each(styles)('one that %s', async (_, style, settings) => {
    expect((await findWrong(style, settings)).wrong).toEqual([]);
  });

  test('one that limits the rate', async () => {
    const { wrong, requests } = await findWrong({}, {}, 7);
    expect(wrong).toEqual([]);
    expect(requests).toBeGreaterThan(100);
  });
});
