import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { dialects } from '../../../src/check/dialects.ts';
import { type Report, runCheck } from '../../../src/check/run.ts';
import type { Settings } from '../../../src/check/settings.ts';
import { defineIdempotency } from '../../../src/core/idempotency/profiles.ts';
import { install } from '../../matrix/app.ts';
import { startRedis } from '../../stores/databases.ts';
import { createSettings } from '../rig.ts';

interface Middleware {
  readonly name: string;
  readonly file: string;
  readonly packages: Readonly<Record<string, string>>;
  /** How it is used here. */
  readonly used: string;
  /** By its own documentation, or by the configuration here. */
  readonly declares: string;
  readonly declared: Partial<Settings['declared']>;
  readonly maxLength?: number;
  /** For its server. */
  readonly argument?: string;
}

const powertools = {
  '@aws-lambda-powertools/idempotency': '2.35.0',
  '@redis/client': '6.3.1',
};

const middlewares: readonly Middleware[] = [
  {
    name: '@aws-lambda-powertools/idempotency 2.35.0',
    file: 'powertools.mjs',
    packages: powertools,
    used: '`makeIdempotent` around a function that takes events of API Gateway, with `CachePersistenceLayer` and a real Redis; the key is `headers."idempotency-key"`, and `throwOnNoIdempotencyKey` is on. It is for functions, not for HTTP: the statuses 400 and 409 are given to its errors by the server here, and the key could have the user in it by another `eventKeyJmesPath`.',
    declares:
      'the bytes are not compared; the answer that the function returns is stored, an error that it throws is not',
    declared: {
      mismatch: ['replayed'],
      key: 'required',
      refusals: 'stored',
      failures: 'forgotten',
    },
  },
  {
    name: 'The same with payload validation',
    file: 'powertools.mjs',
    packages: powertools,
    argument: 'validate',
    used: 'as above, with `payloadValidationJmesPath: "body"`. `CachePersistenceLayer` writes the hash of the payload when a request begins, and not again with the answer (`_updateRecord`), so that the hash is missing when it is compared; the layer of DynamoDB updates the record that has it, and was not tried.',
    declares: 'other bytes are answered 422, by the server here; otherwise as above',
    declared: { mismatch: ['422'], key: 'required', refusals: 'stored', failures: 'forgotten' },
  },
  {
    name: 'express-idempotency 1.0.6',
    file: 'express-idempotency.mjs',
    packages: { 'express-idempotency': '1.0.6', express: '5.3.0' },
    used: 'as its README says: `app.use(idempotency())` after `express.json()`, `isHit` at the beginning of the route, `reportError` where it throws; its default store, in memory.',
    declares: 'other bytes are answered 417, a running request 409; only a 2xx is stored',
    declared: { mismatch: ['417'], refusals: 'forgotten', failures: 'forgotten' },
  },
  {
    name: '@node-idempotency/nestjs 1.0.4',
    file: 'nestjs.mjs',
    packages: {
      '@node-idempotency/nestjs': '1.0.4',
      '@node-idempotency/storage-adapter-memory': '1.0.2',
      '@nestjs/common': '10.4.22',
      '@nestjs/core': '10.4.22',
      '@nestjs/platform-express': '10.4.22',
      'reflect-metadata': '0.2.2',
      rxjs: '7.8.2',
    },
    used: 'as its README says: `NodeIdempotencyModule.forRootAsync` with the storage in memory, and `@Idempotent()` at the methods of a controller.',
    declares:
      'other bytes are answered 422, a running request 409; answers and errors are stored, and a replay has `Idempotent-Replayed: true`',
    declared: {
      mismatch: ['422'],
      refusals: 'stored',
      failures: 'stored',
      replayHeader: 'idempotent-replayed',
    },
    maxLength: 256,
  },
];

/** Starts a server as a process, and gives its address. */
async function start(
  path: string,
  ...args: readonly string[]
): Promise<{ url: URL; child: ChildProcess }> {
  const child = spawn(process.execPath, [path, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const said: string[] = [];
  child.stderr.on('data', (chunk) => said.push(String(chunk)));
  for await (const line of createInterface({ input: child.stdout })) {
    child.stdout.resume();
    return { url: new URL(line), child };
  }
  throw new Error(`${path} has ended:\n${said.join('')}`);
}

async function check(middleware: Middleware, socket: string): Promise<Report> {
  const { file, packages, declared, maxLength, argument = '' } = middleware;
  const folder = install(`middleware-${file.replace('.mjs', '')}`, packages);
  for (const name of ['shop.mjs', file])
    copyFileSync(join(import.meta.dirname, name), join(folder, name));
  const { url, child } = await start(join(folder, file), socket, argument);
  const countEffects = async (): Promise<number> => {
    const answer = await fetch(new URL('/count', url));
    return Number(await answer.text());
  };
  const usual = createSettings(url, { countEffects });
  const { slow, fail, refuse } = usual.triggers;
  const { refusals, failures, inProgress } = dialects.draft;
  try {
    return await runCheck(
      {
        ...usual,
        declared: {
          profile: defineIdempotency({
            header: 'Idempotency-Key',
            format: 'raw',
            ...(maxLength !== undefined && { maxLength }),
          }),
          mismatch: ['422'],
          inProgress,
          key: 'optional',
          refusals,
          failures,
          source: 'its documentation',
          ...declared,
        },
        // A function is behind one path, with one method.
        ...(file === 'powertools.mjs' && { otherUrl: undefined, otherMethod: undefined }),
        origin: undefined,
        hasCredentials: false,
        triggers: {
          ...(slow && { slow }),
          ...(fail && { fail }),
          ...(refuse && { refuse }),
        },
      },
      () => {},
    );
  } finally {
    child.kill();
    if (child.exitCode === null) await once(child, 'exit');
  }
}

/** Keys and values that differ from run to run, cut; a bar would end the cell, and a tag would be HTML. */
const steadied = (seen: string): string =>
  seen
    .replaceAll(/[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/g, '…')
    .replaceAll(/kite [\da-f]{8}\d+/g, 'kite')
    .replaceAll(/[\da-f]{8}-[\da-f]{4}-\S*/g, '…')
    .replaceAll(/#[\w+/]{22}==/g, '#…')
    .replaceAll(/"id":\d+/g, '"id":…')
    .replaceAll(/\/(orders|invoices)\/\d+/g, '/$1/…')
    .replaceAll('|', '\\|')
    .replaceAll('<', '&lt;');

function section({ name, used, declares }: Middleware, { results, stopped }: Report): string[] {
  const violated = results.filter(({ finding }) => finding.kind === 'violated');
  const count = (kind: string): number =>
    results.filter(({ finding }) => finding.kind === kind).length;
  const rows = violated.map(({ id, level, sentence, finding }) => {
    const seen = finding.kind === 'violated' ? finding.seen : '';
    return `| \`${id}\` | ${level} | ${sentence} | ${steadied(seen)} |`;
  });
  return [
    `## ${name}`,
    '',
    `Used ${used}`,
    '',
    `Declared: ${declares}.`,
    '',
    `${count('met')} met, ${violated.length} violated, ${count('unknown')} not found out, ${count('skipped')} do not concern it or were not tried.${stopped === undefined ? '' : ` Stopped: ${stopped}`}`,
    '',
    '| requirement | level | sentence | seen |',
    '|---|---|---|---|',
    ...rows,
    '',
  ];
}

const redis = await startRedis();
const sections: string[] = [];
try {
  for (const middleware of middlewares) {
    console.log(middleware.name);
    const report = await check(middleware, redis.socket);
    sections.push(...section(middleware, report));
  }
} finally {
  await redis.remove();
}
const page = `# Middlewares for Node, checked

[\`steadfetch check-idempotency\`](check-your-server.md) against the three packages about idempotency keys for Node that are downloaded most from npm, in the newest versions that npm has, each as its documentation says, in a small shop with two users and bare keys. Each is asked for what it declares, and for nothing else. Each has options, or can be built upon, for more than is shown here: this is what an app gets that follows the documentation. Made by

\`\`\`sh
npm run middlewares
\`\`\`

which installs these versions into a temporary folder. Our own [server kit](../server.md) meets every requirement with its four stores: \`test/check/kit.node.test.ts\` and, with a real PostgreSQL and a real Redis, \`test/stores/check.test.ts\`.

All three answer a retry from their store, and with the stores used here five requests that come at once are done once. Used like this, a key belongs to no user: another one who sends it gets the answer of the first one. So build the key that is stored from the user and the key that was sent, and accept only keys that cannot be guessed. The two for HTTP do not store the header \`Location\`.

${sections.join('\n')}`;
writeFileSync(resolve(import.meta.dirname, '../../../docs/exactly-once/middlewares.md'), page);
