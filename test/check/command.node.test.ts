import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { describe, expect, onTestFinished, test } from 'vitest';
import { main } from '../../src/check/terminal/main.ts';
import type { FaultName } from './faults.ts';
import { startFaultyServer } from './faulty-server.ts';

interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command line in this process, without a terminal. */
async function run(...args: readonly string[]): Promise<Ran> {
  const streams = {
    stdin: Readable.from([]),
    stdout: new PassThrough(),
    stderr: new PassThrough(),
  };
  const code = await main(args, streams);
  const read = (stream: PassThrough): string => String(stream.read() ?? '');
  return { code, stdout: read(streams.stdout), stderr: read(streams.stderr) };
}

const check = (...args: readonly string[]): Promise<Ran> => run('check-idempotency', ...args);

/** A server that logs what it is sent, closed after the test. */
async function startServer(listener: RequestListener) {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url} ${request.headers.authorization ?? ''}`.trim());
    listener(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/orders`;
  return { url, requests };
}

const answering =
  (status: number, headers: Record<string, string> = {}): RequestListener =>
  (_, response) =>
    void response.writeHead(status, headers).end('{}');

async function startShop(fault?: FaultName) {
  const shop = await startFaultyServer(fault);
  onTestFinished(shop.close);
  return shop.url.href;
}

const article = '{"article":"kite {{unique}}","quantity":1}';
/** How the server of the tests is called. */
const usual = ['--yes', '-H', 'Authorization: Bearer a-1', '-d', article, '--lease', '1s'];

describe('a wrong command line is refused with its remedy, before anything is sent:', () => {
  test.each([
    [[], 'URL is missing, and must be a URL'],
    [['orders'], 'URL is orders, and must be a URL'],
    [['ftp://shop.test/'], 'must begin with http: or https:'],
    [['http://a:b@shop.test/'], 'give --header "Authorization: …" instead'],
    [['URL', 'http://other.test/'], 'One URL, not 2'],
    [['URL', '--profile', 'strip'], '--profile is strip, and must be draft, stripe,'],
    [['URL', '--boddy', '{}'], "Unknown option '--boddy'"],
    [['URL', '-H', 'Authorization'], '--header is "Authorization", and must be "Name: value"'],
    [['URL', '--lifetime', '24'], '--lifetime is 24, and must be a whole number with a unit'],
    [['URL', '--mismatch', 'no'], '--mismatch is no, and must be statuses (422), 4xx or replayed'],
    [['URL', '--refusals', 'yes'], '--refusals is yes, and must be stored, forgotten, either'],
    [['URL', '--max-length', '0'], '--max-length is 0, and must be a number from 1 up'],
    [['URL', '--key-header', 'a b'], 'header is '],
    [['URL', '--trigger', 'slowly=X: 1'], '--trigger is slowly, and must be refuse, fail,'],
    [['URL', '--trigger', 'slow'], '--trigger slow is "", and must be "Name: value"'],
    [['URL', '--only', 'replay'], '--only is replay, and must be the id of a requirement'],
    [['URL', '--module', './none.mjs'], '--module ./none.mjs cannot be loaded'],
    [['URL', '--body', '@none.json'], '--body names a file that cannot be read'],
    [['URL', '--count-url', 'count'], '--count-url is count, and must be a URL'],
    [['URL', '--profile', 'shopify'], 'A GraphQL API needs --body'],
    [['URL', '--profile', 'square', '-d', 'x'], '--body must be a JSON object'],
  ])('%j', async (args, message) => {
    const { url, requests } = await startServer(answering(201));
    const given = args.map((one) => (one === 'URL' ? url : one));
    const { code, stdout, stderr } = await check(...given, '--yes');
    expect(stderr).toContain(message);
    expect([code, stdout, requests]).toEqual([2, '', []]);
  });
});

describe('an API that cannot be checked is said to be so, with the remedy:', () => {
  test.each([
    [answering(401), '401 {}. It must be done. Credentials are given with --header'],
    [answering(404), 'Are the path and --method right?'],
    [answering(400), 'If it takes keys without quotes, say --format raw.'],
    [answering(415), 'The type of the body is given with --header'],
    [answering(500), 'Give a body that your API accepts with --body.'],
    [answering(429, { 'retry-after': '3600' }), 'asks to wait 3600 s. Run the check later'],
  ])('%#', async (listener, message) => {
    const { url, requests } = await startServer(listener);
    const { code, stdout, stderr } = await check(url, '--yes');
    expect(stderr).toContain(message);
    expect([code, stdout, requests]).toEqual([2, '', ['POST /orders']]);
  });

  test('no server', async () => {
    const { code, stderr } = await check('http://127.0.0.1:1/orders', '--yes');
    expect(stderr).toContain('does not answer (ECONNREFUSED). Does the server run?');
    expect(code).toBe(2);
  });

  test('a redirect, which is not followed', async () => {
    const target = await startServer(answering(201));
    const { url } = await startServer(answering(307, { location: target.url }));
    const { code, stderr } = await check(url, '--yes');
    expect(stderr).toContain('Redirects are not followed: name the address that it points to.');
    expect([code, target.requests]).toEqual([2, []]);
  });

  test('a value that must differ from one request to the next', async () => {
    let requests = 0;
    const { url } = await startServer((_, response) => {
      requests += 1;
      response.writeHead(requests > 1 ? 409 : 201).end('{}');
    });
    const { code, stderr } = await check(url, '--yes', '--lease', '1ms');
    expect(stderr).toContain('write {{unique}} for it in --body');
    expect(code).toBe(2);
  });
});

test('without a terminal to ask, nothing is written', async () => {
  const { url, requests } = await startServer(answering(201));
  const { code, stderr } = await check(url);
  expect(stderr).toBe(
    `This sends some 200 POST requests to ${url}, and each may create something there. Say --yes to agree.\n`,
  );
  expect([code, requests]).toEqual([2, []]);
});

test('a server without a mistake gives 0, and a report that says what was not tried', async () => {
  const { code, stdout, stderr } = await check(await startShop(), ...usual);
  expect(stdout).toContain('Key: Idempotency-Key, in quotes.');
  expect(stdout).toContain('How often something was done: by the answers alone.');
  expect(stdout).toMatch(/Not tried:\n(?: {2}\d+ with .*\n)+/);
  expect(stdout).toContain('  4 with --second-user "Authorization: …"');
  expect(stdout).toMatch(
    /\d+ met, 0 violated \(0 must, 0 should\), \d+ not found out, \d+ skipped\./,
  );
  expect(stderr).toMatch(/^0 of \d+\n20 of \d+\n/);
  expect(code).toBe(0);
});

test('a server that violates a “must” gives 1, and the report quotes its answers', async () => {
  const { code, stdout } = await check(await startShop('no-fingerprint'), ...usual);
  expect(stdout).toContain('  ✗ mismatch-refused (must): Other bytes with a known key are refused');
  expect(stdout).toContain('declared: 422; answered 201 ');
  expect(code).toBe(1);
});

test('a server that violates a “should” gives 0, and 1 with --strict', async () => {
  const url = await startShop('bare-422');
  const only = ['--only', 'mismatch-problem'];
  expect((await check(url, ...usual, ...only)).code).toBe(0);
  expect((await check(url, ...usual, ...only, '--strict')).code).toBe(1);
});

test('--json writes one JSON value, with the exit code in it', async () => {
  const url = await startShop('replay-200');
  const { code, stdout } = await check(url, ...usual, '--json', '--only', 'replay-status');
  const report = JSON.parse(stdout) as { results: object[] };
  expect(report).toMatchObject({ url, method: 'POST', exitCode: 1, answersTell: true });
  expect(report.results).toMatchObject([
    { id: 'replay-status', level: 'must', kind: 'violated', group: 'The same key again' },
  ]);
  expect(code).toBe(1);
});

test('the count of effects is read from --count-url, and another origin gets no credentials', async () => {
  const shop = await startFaultyServer('mismatch-after-effect');
  onTestFinished(shop.close);
  const counter = await startServer(
    (_, response) => void response.end(`{"count":${shop.effects()}}`),
  );
  const args = [...usual, '--count-url', counter.url, '--only', 'mismatch-not-run'];
  const { code, stdout } = await check(shop.url.href, ...args);
  expect(stdout).toContain('refused, and done once, by the count');
  expect(new Set(counter.requests)).toEqual(new Set(['GET /orders']));
  expect(code).toBe(1);
});

test('a module counts, sets the clock and restarts', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'steadfetch-check-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'hooks.mjs');
  const mark = join(folder, 'restarted');
  writeFileSync(
    path,
    `import { writeFileSync } from 'node:fs';
    export const countEffects = () => 1;
    export const restart = () => writeFileSync(${JSON.stringify(mark)}, '');`,
  );
  const args = [...usual, '--module', path, '--only', 'survives-restart'];
  const { code } = await check(await startShop(), ...args);
  expect(existsSync(mark)).toBe(true);
  expect(code).toBe(0);
});

test('a server that dies meanwhile ends the check with 2, and what was found so far is told', async () => {
  let requests = 0;
  const { url } = await startServer((request, response) => {
    requests += 1;
    if (requests > 6) request.socket.destroy();
    else response.writeHead(201).end(`{"id":${requests}}`);
  });
  const { code, stdout } = await check(url, '--yes', '--timeout', '1s');
  expect(stdout).toContain('Stopped: The server does not answer any more');
  expect(stdout).toContain('✗ replay-once (must)');
  expect(code).toBe(2);
});

test('as a process, it ends with the exit code', () => {
  const command = resolve(import.meta.dirname, '../../src/check/terminal/command.ts');
  const { status, stderr } = spawnSync(process.execPath, [command, 'check-idempotency', 'x'], {
    encoding: 'utf8',
  });
  expect([status, stderr]).toEqual([
    2,
    'URL is x, and must be a URL: http://127.0.0.1:3000/orders\n',
  ]);
});

test('in a terminal it asks, and writes only after a yes', async () => {
  const ask = async (answer: string, url: string): Promise<number> => {
    const stdin = Object.assign(Readable.from([`${answer}\n`]), { isTTY: true });
    const streams = { stdin, stdout: new PassThrough(), stderr: new PassThrough() };
    return main(['check-idempotency', url, ...usual.slice(1), '--only', 'replay-once'], streams);
  };
  const refused = await startServer(answering(201));
  expect([await ask('n', refused.url), refused.requests]).toEqual([2, []]);
  expect(await ask('y', await startShop())).toBe(0);
});

test('--help and --list say what there is, and an unknown command is refused', async () => {
  expect(await check('--help')).toMatchObject({ code: 0, stderr: '' });
  const list = await check('--list');
  expect(list.stdout).toContain('  replay-once (must): A request that is sent again with its key');
  expect(await run()).toMatchObject({ code: 0, stderr: '' });
  const unknown = await run('check');
  expect(unknown).toMatchObject({ code: 2, stdout: '' });
  expect(unknown.stderr).toContain('steadfetch check is no command.');
});
