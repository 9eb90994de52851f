import { presets } from '../../core/internal.ts';
import type { OperationEvent, OperationView } from '../view.ts';

type Ended = Extract<OperationEvent, { readonly type: 'request:end' }>;

const ofMsw: ReadonlySet<string> = new Set([
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
]);

/**
 * Writes a test that meets the same failures as this operation and expects it to succeed, so it fails if the
 * operation has failed. Undefined for an operation that sent nothing, or met no failure.
 */
export function asTest({ label, events }: OperationView): string | undefined {
  const ended = events.filter((event): event is Ended => event.type === 'request:end');
  const places = [...new Set(ended.map(placeOf))];
  const failed = ended.filter(({ outcome }) => outcome.kind !== 'ok');
  if (failed.length === 0) return undefined;
  const used = new Set(['virtualTime']);
  const faults = places.map((place) => {
    const own = failed.filter((event) => placeOf(event) === place).map((event) => faultOf(event));
    for (const { name } of own) used.add(name);
    if (own.length > 1) used.add('compose');
    const code = own.map((one) => one.code).join(', ');
    return own.length > 1 ? `compose(${code})` : code;
  });
  const handlers = places.flatMap((place, index) => {
    const [method = '', url = ''] = place.split(' ');
    const on = `http.${ofMsw.has(method) ? method.toLowerCase() : 'all'}(${quoted(url)}`;
    const fault = faults[index];
    return [
      ...(fault ? [`    ${on}, ${fault}),`] : []),
      `    ${on}, () => HttpResponse.json({})),`,
    ];
  });
  const requests = places.map((place) => {
    const [method = '', url = ''] = place.split(' ');
    const init = method === 'GET' ? '{ signal }' : `{ method: ${quoted(method)}, signal }`;
    return `      await (await steady.fetch(${quoted(url)}, ${init})).text();`;
  });
  return `import { http, HttpResponse } from 'msw';
import { setupServer } from 'msw/node';
import { createSteadfetch, retry } from 'steadfetch';
import { ${[...used].sort().join(', ')} } from 'steadfetch/testing';
import { expect, test, vi } from 'vitest';

test(${quoted(`${label} succeeds in spite of its failures`)}, async () => {
  const time = virtualTime(vi);
  const server = setupServer(
${handlers.join('\n')}
  );
  server.listen();
  const steady = createSteadfetch({ random: () => 0.5 });
  try {
    const outcome = retry(steady, async ({ signal }) => {
${requests.join('\n')}
    }${policyOf(events)}).then(
      () => 'succeeded',
      (error: Error) => error.message,
    );
    await time.advance(600_000);
    expect(await outcome).toBe('succeeded');
  } finally {
    steady.dispose();
    server.close();
    time.restore();
  }
});
`;
}

/** Without a page, a path has no origin. */
function placeOf({ method, url, place }: Ended): string {
  const isAbsolute = /^[a-z][\w+.-]*:\/\//i.test(url);
  const origin = place?.origin || 'http://localhost';
  return `${method} ${isAbsolute ? url : `${origin}/${url.replace(/^\//, '')}`}`;
}

/** Quotes a text as code. A recording may come from an untrusted source, and nothing in it may run. */
const quoted = (text: string): string =>
  `'${JSON.stringify(text)
    .slice(1, -1)
    .replaceAll(String.raw`\"`, '"')
    .replaceAll("'", String.raw`\'`)}'`;

const durations: readonly string[] = ['headersMs', 'bodyIdleMs'];

/** The value of an option as code: a number, a pair of time limits, or text. */
function valueOf(value: string): string {
  if (/^(?:\d+(?:\.\d+)?|Infinity)$/.test(value)) return value;
  try {
    const given = Object.entries(JSON.parse(value) as object);
    if (
      given.length > 0 &&
      given.every(([name, ms]) => durations.includes(name) && typeof ms === 'number')
    )
      return JSON.stringify(Object.fromEntries(given));
  } catch {
    // Not JSON: a word.
  }
  return quoted(value);
}

function faultOf({ outcome }: Ended): { readonly name: string; readonly code: string } {
  switch (outcome.kind) {
    case 'http': {
      const { status, retryAfterMs } = outcome;
      const init =
        retryAfterMs === undefined
          ? ''
          : `, { headers: { 'Retry-After': '${Math.ceil(retryAfterMs / 1000)}' } }`;
      // For example a redirect that was not followed.
      if (status < 400) return { name: 'networkError', code: 'networkError({ times: 1 })' };
      return { name: 'failTimes', code: `failTimes(1, ${status}${init})` };
    }
    case 'timeout':
      return { name: 'hang', code: 'hang({ times: 1 })' };
    case 'body':
      return { name: 'cutBody', code: 'cutBody({ times: 1 })' };
    default:
      return { name: 'networkError', code: 'networkError({ times: 1 })' };
  }
}

/** The options behind the operation's decisions that are not defaults, as code. */
function policyOf(events: readonly OperationEvent[]): string {
  const set = new Map<string, string>();
  for (const event of events) {
    if (event.type !== 'decision') continue;
    const { method = 'GET', decision, options = [] } = event;
    const isWrite = !['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS'].includes(method);
    if (isWrite && decision.kind === 'retry') set.set('idempotent', 'true');
    for (const { name, value, level } of options)
      if (
        level !== 'the default' &&
        value !== 'a function' &&
        Object.keys(presets.interactive).includes(name)
      )
        set.set(name, valueOf(value));
  }
  if (set.size === 0) return '';
  return `, { ${[...set].map(([name, value]) => `${name}: ${value}`).join(', ')} }`;
}
