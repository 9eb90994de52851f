import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { createSteadfetch, type Policy, type PolicyOptions, presets } from 'steadfetch';
import { describe, expect, test } from 'vitest';
import { backoffDelay } from '../../../src/core/policy/backoff.ts';
import { definePolicy } from '../../../src/core/policy/options.ts';

const names = ['interactive', 'background', 'critical'] as const;

function expectFrozenDeep(value: unknown, path: string): void {
  if (typeof value !== 'object' || value === null) return;
  expect(Object.isFrozen(value), path).toBe(true);
  for (const [name, inner] of Object.entries(value)) expectFrozenDeep(inner, `${path}.${name}`);
}

describe('the presets', () => {
  test('are three', () => {
    expect(Object.keys(presets)).toEqual(names);
  });

  test('are frozen, all the way down', () => {
    expectFrozenDeep(presets, 'presets');
  });

  test('cannot be changed, so no app changes them for another', () => {
    expect(() => Object.assign(presets.interactive, { maxRetries: 9 })).toThrow(TypeError);
    expect(() => Object.assign(presets, { interactive: presets.critical })).toThrow(TypeError);
    expect(presets.interactive.maxRetries).toBe(3);
  });

  test.each(names)('%s passes its own validation, value by value', (name) => {
    expect(definePolicy('test', presets.interactive, { ...presets[name] })).toEqual(presets[name]);
  });

  test('have full jitter where a user waits, and wait up to 60 s for Retry-After', () => {
    expect(presets.interactive).toMatchObject({ backoff: 'full', maxRetryAfterMs: 60_000 });
    expect(presets.critical).toMatchObject({ backoff: 'full', maxRetryAfterMs: 60_000 });
  });

  test.each([
    [0, [20_000, 30_000, 30_000]],
    [1, [40_000, 60_000, 60_000]],
  ])('retry background work after 20 to 40 s, and then after 30 to 60 s (%s)', (draw, waits) => {
    const waitBefore = (retry: number): number =>
      backoffDelay({ ...presets.background, retry }, () => draw);
    expect([1, 2, 3].map(waitBefore)).toEqual(waits);
  });

  test('in the background there is more time for everything', () => {
    const { background, interactive } = presets;
    for (const option of ['baseMs', 'capMs', 'maxRetries', 'deadlineMs', 'timeout'] as const)
      expect(Number(background[option])).toBeGreaterThan(Number(interactive[option]));
  });

  test('what is critical is tried more often, in shorter steps', () => {
    expect(presets.critical).toMatchObject({
      timeout: 10_000,
      maxRetries: 10,
      deadlineMs: 120_000,
      capMs: 10_000,
      backoff: 'full',
      priority: 'user-blocking',
    });
  });
});

describe('a policy', () => {
  const policyOf = (policy?: PolicyOptions): Policy => createSteadfetch({ policy }).policy;

  test('is the interactive preset by default', () => {
    expect(createSteadfetch().policy).toEqual(presets.interactive);
    expect(policyOf({})).toEqual(presets.interactive);
  });

  test.each(names)('is %s where that is the preset', (preset) => {
    expect(policyOf({ preset })).toEqual(presets[preset]);
  });

  test('has its own values over those of its preset', () => {
    expect(policyOf({ preset: 'background', maxRetries: 2, backoff: 'equal' })).toEqual({
      ...presets.background,
      maxRetries: 2,
      backoff: 'equal',
    });
  });

  test('takes undefined for the default, never for a value', () => {
    const unset = { capMs: undefined, baseMs: undefined, maxRetries: undefined, preset: undefined };
    expect(policyOf(unset)).toEqual(presets.interactive);
    expect(policyOf({ preset: 'critical', capMs: undefined })).toEqual(presets.critical);
  });

  test('is not touched when the object that it came from changes', () => {
    const mine = { maxRetries: 1 };
    const { policy } = createSteadfetch({ policy: mine });
    mine.maxRetries = 9;
    expect(policy.maxRetries).toBe(1);
  });

  test('laid over another keeps what it does not name', () => {
    const base = policyOf({ preset: 'background', maxRetries: 2 });
    expect(definePolicy('test', base, { baseMs: 100 })).toEqual({ ...base, baseMs: 100 });
  });

  test('with a preset, laid over another, replaces every value but shouldRetry', () => {
    const shouldRetry = (): undefined => undefined;
    const base = policyOf({ maxRetries: 2, baseMs: 7, shouldRetry });
    const over = definePolicy('test', base, { preset: 'critical' });
    expect(over).toEqual({ ...presets.critical, shouldRetry: base.shouldRetry });
    expect(base.shouldRetry).toBeTypeOf('function');
  });
});

describe('the documentation', () => {
  const path = resolve(import.meta.dirname, '../../../src/core/policy/options.ts');
  const [, body = ''] =
    /export interface PolicyOptions \{\n(.*?)\n\}/s.exec(readFileSync(path, 'utf8')) ?? [];
  const documented = new Map(
    [...body.matchAll(/\/\*\*(.*?)\*\/\s+readonly (\w+)\?:/gs)].map(
      ([, comment = '', name = '']) =>
        [name, /@default (\S+)\s*$/.exec(comment.replaceAll('\n   *', ' '))?.[1]] as const,
    ),
  );

  test('has every option', () => {
    expect([...documented.keys()].toSorted()).toEqual(
      ['preset', 'shouldRetry', ...Object.keys(presets.interactive)].toSorted(),
    );
  });

  test.each(Object.entries(presets.interactive))('gives %s the default %s', (name, value) => {
    expect(documented.get(name)).toBe(typeof value === 'string' ? `'${value}'` : `${value}`);
  });

  test('gives preset the default interactive, and shouldRetry none', () => {
    expect(documented.get('preset')).toBe("'interactive'");
    expect(documented.get('shouldRetry')).toBe('none');
    expect(presets.interactive).not.toHaveProperty('shouldRetry');
  });
});
