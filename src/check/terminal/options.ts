import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { defineIdempotency } from '../../core/idempotency/profiles.ts';
import { fill, readJson } from '../body.ts';
import { type Dialect, type DialectName, dialects, type Keeping } from '../dialects.ts';
import { CannotRun } from '../finding.ts';
import { requirements } from '../requirements/all.ts';
import {
  type Hooks,
  type Limits,
  type OtherRequests,
  type RequestSettings,
  type Settings,
  type Trigger,
  type Triggering,
  triggers,
} from '../settings.ts';
import { exchange } from '../wire.ts';

const options = {
  profile: { type: 'string', default: 'draft' },
  method: { type: 'string', default: 'POST' },
  header: { type: 'string', short: 'H', multiple: true },
  body: { type: 'string', short: 'd' },
  'other-body': { type: 'string' },
  'second-user': { type: 'string', multiple: true },
  renewed: { type: 'string', multiple: true },
  'other-url': { type: 'string' },
  'other-method': { type: 'string' },
  origin: { type: 'string' },
  credentials: { type: 'boolean', default: false },
  trigger: { type: 'string', multiple: true },
  module: { type: 'string' },
  'count-url': { type: 'string' },
  ignore: { type: 'string', multiple: true },
  only: { type: 'string', multiple: true },
  'key-header': { type: 'string' },
  format: { type: 'string' },
  'max-length': { type: 'string' },
  lifetime: { type: 'string' },
  key: { type: 'string' },
  mismatch: { type: 'string' },
  'in-progress': { type: 'string' },
  refusals: { type: 'string' },
  failures: { type: 'string' },
  'replay-header': { type: 'string' },
  wait: { type: 'boolean', default: false },
  timeout: { type: 'string', default: '10s' },
  lease: { type: 'string', default: '30s' },
  'max-wait': { type: 'string', default: '60s' },
  json: { type: 'boolean', default: false },
  yes: { type: 'boolean', short: 'y', default: false },
  strict: { type: 'boolean', default: false },
  list: { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

type Values = ReturnType<typeof parse>['values'];

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (error) {
    throw new CannotRun(`${(error as Error).message}\nSee steadfetch check-idempotency --help.`);
  }
}

function readUrl(text: string | undefined, name: string): URL {
  if (text === undefined || !URL.canParse(text))
    throw new CannotRun(
      `${name} is ${text ?? 'missing'}, and must be a URL: http://127.0.0.1:3000/orders`,
    );
  const url = new URL(text);
  if (!['http:', 'https:'].includes(url.protocol))
    throw new CannotRun(`${name} is ${text}, and must begin with http: or https:`);
  if (url.username !== '')
    throw new CannotRun(`${name} has a user in it: give --header "Authorization: …" instead.`);
  return url;
}

function readHeaders(lines: readonly string[], option: string): Record<string, string> {
  return Object.fromEntries(
    lines.map((line) => {
      const [, name, value] = /^([\w!#$%&'*+.^`|~-]+)\s*:\s*(.*)$/.exec(line) ?? [];
      if (name === undefined || value === undefined)
        throw new CannotRun(`--${option} is "${line}", and must be "Name: value".`);
      return [name.toLowerCase(), value];
    }),
  );
}

const units: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

function readDuration(text: string, option: string): number {
  const [, amount, unit = ''] = /^(\d+)(ms|s|m|h|d)$/.exec(text) ?? [];
  if (amount === undefined)
    throw new CannotRun(
      `--${option} is ${text}, and must be a whole number with a unit: 500ms, 30s, 24h.`,
    );
  return Number(amount) * (units[unit] ?? 1);
}

function oneOf<T extends string>(
  value: string | undefined,
  allowed: readonly T[],
  option: string,
): T | undefined {
  if (value === undefined || allowed.includes(value as T)) return value as T | undefined;
  throw new CannotRun(`--${option} is ${value}, and must be ${allowed.join(', ')}.`);
}

const defined = <T extends object>(
  fields: T,
): { [Name in keyof T]?: Exclude<T[Name], undefined> } =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [Name in keyof T]?: Exclude<T[Name], undefined>;
  };

function readStatuses(text: string | undefined, option: string): readonly string[] | undefined {
  const list = text?.split(',').map((one) => one.trim());
  const wrong = list?.find(
    (one) => !/^\d{3}$|^4xx$/.test(one) && !(option === 'mismatch' && one === 'replayed'),
  );
  if (wrong !== undefined)
    throw new CannotRun(
      `--${option} is ${text}, and must be statuses (422), 4xx${option === 'mismatch' ? ' or replayed' : ''}, with commas.`,
    );
  return list;
}

/** The declaration of a profile, with what differs from it. */
function readDialect(values: Values): Dialect {
  const name = oneOf(values.profile, Object.keys(dialects) as DialectName[], 'profile') ?? 'draft';
  const dialect = dialects[name];
  const length = values['max-length'];
  if (length !== undefined && !(Number(length) >= 1))
    throw new CannotRun(`--max-length is ${length}, and must be a number from 1 up.`);
  const own = defined({
    header: values['key-header'],
    format: oneOf(values.format, ['structured', 'raw'], 'format'),
    maxLength: length === undefined ? undefined : Number(length),
    lifetimeMs:
      values.lifetime === undefined ? undefined : readDuration(values.lifetime, 'lifetime'),
  });
  const keeping: readonly Keeping[] = ['stored', 'forgotten', 'either'];
  try {
    return {
      ...dialect,
      ...defined({
        mismatch: readStatuses(values.mismatch, 'mismatch'),
        inProgress: readStatuses(values['in-progress'], 'in-progress'),
        key: oneOf(values.key, ['required', 'optional'], 'key'),
        refusals: oneOf(values.refusals, keeping, 'refusals'),
        failures: oneOf(values.failures, keeping, 'failures'),
        replayHeader: values['replay-header']?.toLowerCase(),
      }),
      profile: defineIdempotency({ ...dialect.profile, ...own } as typeof dialect.profile),
    };
  } catch (error) {
    if (error instanceof TypeError) throw new CannotRun(error.message);
    throw error;
  }
}

function readBody(text: string, option: string): string {
  if (!text.startsWith('@')) return text;
  try {
    return readFileSync(text.slice(1), 'utf8');
  } catch (error) {
    throw new CannotRun(
      `--${option} names a file that cannot be read: ${(error as Error).message}`,
    );
  }
}

function readTriggers(lines: readonly string[]): Partial<Record<Trigger, Triggering>> {
  return Object.fromEntries(
    lines.map((line) => {
      const [, name, value = ''] = /^(\w+)=(.*)$/s.exec(line) ?? [];
      const trigger = oneOf(name ?? line, triggers, 'trigger');
      if (/^\s*[{[]/.test(value)) return [trigger, { body: value }];
      const [header] = Object.entries(readHeaders([value], `trigger ${trigger}`));
      return [trigger, { header }];
    }),
  );
}

/** A function that reads the number of effects from an address. */
function countBy(url: URL, headers: Readonly<Record<string, string>>): () => Promise<number> {
  return async () => {
    const answer = await exchange({ url, method: 'GET', headers, body: '' }, 10_000);
    const json = readJson(answer.text);
    const { count, total } = (json ?? {}) as { count?: unknown; total?: unknown };
    const found = Array.isArray(json)
      ? json.length
      : [json, count, total].find((one) => typeof one === 'number');
    if (answer.status === 200 && typeof found === 'number') return found;
    throw new CannotRun(
      `--count-url is answered ${answer.failure ?? answer.status} ${answer.text.slice(0, 80)}, and must be answered with ` +
        'a number, a list, or {"count": 3}.',
    );
  };
}

async function loadHooks(path: string | undefined): Promise<Hooks> {
  if (path === undefined) return {};
  try {
    return (await import(pathToFileURL(resolve(path)).href)) as Hooks;
  } catch (error) {
    throw new CannotRun(`--module ${path} cannot be loaded: ${(error as Error).message}`);
  }
}

async function readHooks(
  values: Values,
  headers: Readonly<Record<string, string>>,
  url: URL,
): Promise<Hooks> {
  const { countEffects, advanceClock, restart } = await loadHooks(values.module);
  if (values['count-url'] === undefined) return { countEffects, advanceClock, restart };
  const countUrl = readUrl(values['count-url'], '--count-url');
  // Credentials of one origin are not shown to another.
  const own = countUrl.origin === url.origin ? headers : {};
  return { countEffects: countBy(countUrl, own), advanceClock, restart };
}

function readIds(ids: readonly string[]): readonly string[] {
  const wrong = ids.find((id) => !requirements.some((requirement) => requirement.id === id));
  if (wrong === undefined) return ids;
  throw new CannotRun(`--only is ${wrong}, and must be the id of a requirement: see --list.`);
}

/** A check, as the command line asks for it. */
export interface Command {
  readonly settings: Settings;
  readonly isJson: boolean;
  readonly isStrict: boolean;
  /** Whether it writes without asking. */
  readonly isAgreed: boolean;
}

function readRequest(values: Values, url: URL): RequestSettings {
  const other = values['other-body'];
  return {
    url,
    method: values.method.toUpperCase(),
    headers: { 'content-type': 'application/json', ...readHeaders(values.header ?? [], 'header') },
    body: readBody(values.body ?? '{"check":"steadfetch {{unique}}"}', 'body'),
    otherBody: other === undefined ? undefined : readBody(other, 'other-body'),
  };
}

function readOthers(values: Values): OtherRequests {
  const { renewed, origin, credentials } = values;
  const { 'second-user': second, 'other-url': otherUrl, 'other-method': otherMethod } = values;
  return {
    secondUser: second && readHeaders(second, 'second-user'),
    renewed: renewed && readHeaders(renewed, 'renewed'),
    otherUrl: otherUrl === undefined ? undefined : readUrl(otherUrl, '--other-url'),
    otherMethod: otherMethod?.toUpperCase(),
    origin: origin === undefined ? undefined : readUrl(origin, '--origin').origin,
    hasCredentials: credentials,
  };
}

const readLimits = (values: Values): Limits => ({
  timeoutMs: readDuration(values.timeout, 'timeout'),
  leaseMs: readDuration(values.lease, 'lease'),
  maxWaitMs: readDuration(values['max-wait'], 'max-wait'),
});

/** @throws CannotRun unless the body can carry what it must. */
function requireBody(values: Values, { declared, body }: Settings): void {
  const isGraphql = declared.codes !== undefined || values.profile === 'monday';
  if (values.body === undefined && isGraphql)
    throw new CannotRun(
      'A GraphQL API needs --body with its mutation: {"query": "mutation …", "variables": {}}',
    );
  if (declared.profile.body !== undefined && typeof readJson(fill(body, '1')) !== 'object')
    throw new CannotRun('The key goes in the body, so --body must be a JSON object.');
}

/** `'help'` and `'list'` ask for no check. */
export async function readCommand(args: readonly string[]): Promise<Command | 'help' | 'list'> {
  const { values, positionals } = parse(args);
  if (values.help) return 'help';
  if (values.list) return 'list';
  if (positionals.length > 1)
    throw new CannotRun(`One URL, not ${positionals.length}: ${positionals.join(' ')}`);
  const url = readUrl(positionals[0], 'URL');
  const request = readRequest(values, url);
  const settings: Settings = {
    ...request,
    ...readOthers(values),
    ...readLimits(values),
    declared: readDialect(values),
    triggers: readTriggers(values.trigger ?? []),
    hooks: await readHooks(values, request.headers, url),
    ignore: values.ignore ?? [],
    only: readIds(values.only ?? []),
    canWait: values.wait,
  };
  requireBody(values, settings);
  return { settings, isJson: values.json, isStrict: values.strict, isAgreed: values.yes };
}
