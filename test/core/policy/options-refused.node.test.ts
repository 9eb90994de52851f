import { createSteadfetch, type PolicyOptions, type Steadfetch, retry } from 'steadfetch';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type WrongOption, wrongOptions } from './wrong-options.ts';

const run = vi.fn<() => string>(() => 'done');
const transport = vi.fn<typeof fetch>(() => Promise.resolve(new Response()));
const steady = createSteadfetch({ fetch: transport });

/** Everything that takes a policy, by the name that its errors must say. */
const places: readonly (readonly [name: string, define: (policy: PolicyOptions) => unknown])[] = [
  ['createSteadfetch', (policy) => createSteadfetch({ policy })],
  [
    'createSteadfetch: apis[1]',
    (policy) => createSteadfetch({ apis: [{ match: '/a' }, { match: '/b', policy }] }),
  ],
  ['steady.queryPolicy', (policy) => steady.queryPolicy(policy)],
  ['steady.mutationPolicy', (policy) => steady.mutationPolicy(policy)],
  ['retry', (policy) => retry(steady, run, policy)],
  ['steady.fetch', (policy) => steady.fetch('/', { policy })],
];

/** What was thrown, or rejected with; undefined when all went well. */
async function thrownBy(define: () => unknown): Promise<unknown> {
  try {
    await define();
    return undefined;
  } catch (error) {
    return error;
  }
}

const messagePattern =
  /^(?<place>.+): (?<option>\S+) is (?<value>.*), and must be (?<range>.+)\.$/s;

function expectRefusal(
  error: unknown,
  place: string,
  { option, shown, range }: Omit<WrongOption, 'value' | 'label'>,
): void {
  expect(error).toBeInstanceOf(TypeError);
  const { message } = error as TypeError;
  const said = messagePattern.exec(message)?.groups;
  expect(said, message).toMatchObject({ place, option });
  expect(said?.['value']).toContain(shown);
  for (const part of range) expect(said?.['range']).toContain(part);
}

test.each(wrongOptions)(
  '$option: $label is a TypeError that names option, value and range',
  async ({ option, value, shown, range }) => {
    const error = await thrownBy(() => createSteadfetch({ policy: { [option]: value } }));
    expectRefusal(error, 'createSteadfetch', { option, shown, range });
  },
);

/** One mistake of each kind. */
const samples = wrongOptions.filter(
  ({ option }, index) => wrongOptions.findIndex((other) => other.option === option) === index,
);

describe('a production build', () => {
  beforeAll(() => void vi.stubEnv('NODE_ENV', 'production'));
  afterAll(() => void vi.unstubAllEnvs());

  test.each(samples)('takes $option: $label for not given, and says so', async (wrong) => {
    const said = vi.spyOn(console, 'warn').mockImplementation(() => {});
    const { policy } = createSteadfetch({ policy: { [wrong.option]: wrong.value } });
    const { policy: usual } = createSteadfetch();
    expect(policy).toEqual(usual);
    expect(said.mock.calls).toEqual([[`[steadfetch] wrong option: ${wrong.option}`]]);
    said.mockRestore();
  });

  test.each(wrongOptions)(
    'with $option: $label waits for a time that a timer can hold, and not for ever, if it runs at all',
    async ({ option, value }) => {
      let wrong: Steadfetch | undefined;
      const error = await thrownBy(() => {
        wrong = createSteadfetch({ policy: { [option]: value } });
      });
      const { queries } = (wrong ?? steady).defaultOptions;
      const failure = new Error('unknown');
      const delayMs = queries.retryDelay(0, failure);
      expect([undefined, 'TypeError']).toContain((error as Error | undefined)?.name);
      expect(delayMs >= 0 && delayMs <= 2_147_483_647, `${delayMs} ms`).toBe(true);
      expect(queries.retry(5000, failure)).toBe(false);
    },
  );
});

describe.each(places)('%s refuses', (place, define) => {
  test.each(samples)('$option: $label', async (wrong) => {
    expectRefusal(await thrownBy(() => define({ [wrong.option]: wrong.value })), place, wrong);
    expect(run).not.toHaveBeenCalled();
    expect(transport).not.toHaveBeenCalled();
  });

  test('a cap below the base, and names both', async () => {
    const error = await thrownBy(() => define({ baseMs: 500, capMs: 499 }));
    expect(error).toBeInstanceOf(TypeError);
    expect((error as TypeError).message).toMatch(/^.+: capMs is 499, and must be .*baseMs.*500/);
  });

  test('the wrong one among right ones', async () => {
    const error = await thrownBy(() => define({ maxRetries: 2, baseMs: -7, deadlineMs: 1000 }));
    expectRefusal(error, place, { option: 'baseMs', shown: '-7', range: ['0', '2147483647'] });
  });
});

test.each([
  ['steady.fetch', () => steady.fetch('/', { timeout: -1 })],
  ['steady.json', () => steady.json('/', { timeout: -1 })],
  ['steady.fetch with a policy', () => steady.fetch('/', { timeout: -1, policy: { timeout: 5 } })],
])('%s refuses a wrong timeout of its own', async (_, call) => {
  const error = await thrownBy(call);
  expectRefusal(error, 'steady.fetch', { option: 'timeout', shown: '-1', range: ['1'] });
  expect(transport).not.toHaveBeenCalled();
});

const right: readonly PolicyOptions[] = [
  {},
  { preset: 'interactive' },
  { preset: 'background' },
  { preset: 'critical' },
  { backoff: 'full' },
  { backoff: 'equal' },
  { backoff: 'decorrelated' },
  { backoff: 'proportional' },
  { backoff: 'none' },
  { baseMs: 0 },
  { baseMs: 0, capMs: 0 },
  { baseMs: 2_147_483_647, capMs: 2_147_483_647 },
  { factor: 1 },
  { factor: 1.5 },
  { factor: 100 },
  { maxRetries: 0 },
  { maxRetries: 1000 },
  { maxRetries: Infinity },
  { deadlineMs: 0 },
  { deadlineMs: Infinity },
  { timeout: 1 },
  { timeout: 2_147_483_647 },
  { timeout: Infinity },
  { timeout: { headersMs: 1, bodyIdleMs: Infinity } },
  { uploadBytesPerSecond: 1 },
  { uploadBytesPerSecond: Infinity },
  { maxRetryAfterMs: 0 },
  { maxRetryAfterMs: 1_789_569_705 },
  { shouldRetry: () => undefined },
];

describe.each(places)('%s takes', (_, define) => {
  test.each(right)('%o', async (policy) => {
    expect(await thrownBy(() => define(policy))).toBeUndefined();
  });

  test('undefined for every option: it means the default', async () => {
    const options = new Set(right.flatMap((policy) => Object.keys(policy)));
    const unset = Object.fromEntries([...options].map((option) => [option, undefined]));
    expect(Object.keys(unset)).toHaveLength(11);
    expect(await thrownBy(() => define(unset))).toBeUndefined();
  });
});
