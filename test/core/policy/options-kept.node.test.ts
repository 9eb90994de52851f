import { type Policy, presets } from 'steadfetch';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { definePolicy, inPolicy, layer } from '../../../src/core/policy/options.ts';

type Given = readonly [name: keyof Policy, value: unknown];

const shouldRetry = (): boolean => true;
const maxTimerMs = 2 ** 31 - 1;

/** Both ends of what each option may be. */
const right: readonly Given[] = [
  ['baseMs', 0],
  ['baseMs', 2000],
  ['fastRetryMs', 0],
  ['fastRetryMs', Infinity],
  ['factor', 1],
  ['factor', 100],
  ['capMs', 1000],
  ['capMs', maxTimerMs],
  ['maxRetries', 0],
  ['maxRetries', Infinity],
  ['deadlineMs', 0],
  ['deadlineMs', Infinity],
  ['timeout', 1],
  ['timeout', Infinity],
  ['timeout', { headersMs: 1, bodyIdleMs: Infinity }],
  ['uploadBytesPerSecond', 1],
  ['uploadBytesPerSecond', Infinity],
  ['maxRetryAfterMs', 0],
  ['maxRetryAfterMs', Math.floor(maxTimerMs / 1.2)],
  ['maxPauseMs', 0],
  ['maxPauseMs', Infinity],
  ['shouldRetry', shouldRetry],
  ...['full', 'equal', 'decorrelated', 'proportional', 'none'].map((value): Given => [
    'backoff',
    value,
  ]),
  ...['pause', 'fail'].map((value): Given => ['whenDown', value]),
  ...['refetch', 'leave'].map((value): Given => ['whenBack', value]),
  ...['user-blocking', 'user-visible', 'background'].map((value): Given => ['priority', value]),
];

const wrong: readonly Given[] = [
  ['baseMs', -1],
  ['baseMs', Infinity],
  ['baseMs', NaN],
  ['baseMs', '5'],
  ['factor', Infinity],
  ['capMs', Infinity],
  ['maxRetries', -1],
  ['maxRetries', { headersMs: 1, bodyIdleMs: 1 }],
  ['timeout', 0],
  ['timeout', '1000'],
  ['timeout', { headersMs: 0, bodyIdleMs: 1 }],
  ['timeout', { headersMs: 1, bodyIdleMs: 0 }],
  ['timeout', { headersMs: 1 }],
  ['timeout', { bodyIdleMs: 1 }],
  ['timeout', null],
  ['uploadBytesPerSecond', 0],
  ['shouldRetry', true],
  ['backoff', 'fast'],
  ['backoff', 1000],
  ['whenDown', 'leave'],
  ['whenBack', () => 'leave'],
  ['priority', 'low'],
  ['toString' as 'baseMs', 'x'],
];

describe('in development', () => {
  test.each(right)('%s: %j is kept', (name, value) => {
    expect(definePolicy('here', presets.interactive, { [name]: value })[name]).toBe(value);
  });

  test.each<Given>([...wrong, ['factor', 0.9], ['factor', 101], ['capMs', maxTimerMs + 1]])(
    '%s: %j is refused',
    (name, value) => {
      const define = (): unknown => definePolicy('here', presets.interactive, { [name]: value });
      expect(define).toThrow(`here: ${name} is `);
    },
  );

  test('the cap may be the base, and not less', () => {
    const define = (capMs: number): Policy =>
      definePolicy('here', presets.interactive, { baseMs: 700, capMs });
    expect(define(700).capMs).toBe(700);
    expect(() => define(699)).toThrow('here: capMs is 699, and must be at least baseMs, 700.');
  });

  test.each([
    ['retry', 'maxRetries'],
    ['attempts', 'maxRetries'],
    ['maxAttempts', 'maxRetries'],
    ['retryDelay', 'baseMs'],
    ['minTimeout', 'baseMs'],
    ['maxDelay', 'capMs'],
    ['maxTimeout', 'capMs'],
    ['jitter', 'backoff'],
    ['retryOn', 'shouldRetry'],
    ['retryIf', 'shouldRetry'],
  ])('%s of another library is called %s here', (name, own) => {
    expect(() => definePolicy('here', presets.interactive, { [name]: 3 })).toThrow(
      new RegExp(`^here: ${name} is 3, .*\\b${own}\\?`),
    );
    expect(inPolicy(true)[name]).toBe(`policy: { ${own} }`);
    expect(inPolicy(false)[name]).toBeUndefined();
  });

  test('an option of a policy beside it belongs into it', () => {
    for (const hasSynonyms of [true, false])
      expect(inPolicy(hasSynonyms)).toMatchObject({
        baseMs: 'policy: { baseMs }',
        preset: 'policy: { preset }',
        shouldRetry: 'policy: { shouldRetry }',
      });
  });
});

describe('in production', () => {
  beforeEach(() => void vi.stubEnv('NODE_ENV', 'production'));
  afterEach(() => void vi.unstubAllEnvs());

  test.each(right)('%s: %j is kept', (name, value) => {
    expect(layer(presets.interactive, { [name]: value })[name]).toBe(value);
  });

  test.each(wrong)('%s: %j counts as not set', (name, value) => {
    expect(layer(presets.interactive, { [name]: value })).toEqual(presets.interactive);
  });

  test.each(['interactive', 'background', 'critical'] as const)('the preset %s is', (preset) => {
    expect(layer(presets.critical, { preset })).toEqual(presets[preset]);
  });

  test('undefined is no wrong value: none is reported', () => {
    const warned = vi.spyOn(console, 'warn').mockReturnValue();
    layer(presets.interactive, { fastRetryMs: undefined });
    expect(warned).not.toHaveBeenCalled();
    layer(presets.interactive, { fastRetryMs: -1 });
    expect(warned.mock.calls).toEqual([['[steadfetch] wrong option: fastRetryMs']]);
    warned.mockRestore();
  });

  test('undefined keeps the value below, and so does a preset that there is not', () => {
    const below = { ...presets.interactive, baseMs: 7 };
    expect(layer(below, { baseMs: undefined })).toEqual(below);
    expect(layer(below, { preset: 'none' } as never, undefined, {})).toEqual(below);
  });
});
