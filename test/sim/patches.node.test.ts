import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { replaceOnce } from '../../sim/run/patches.ts';
import { mechanisms } from '../../sim/variants/mechanisms.ts';
import { trades } from '../../sim/variants/trades.ts';
import { checkPatches } from '../../sim/variants/variant.ts';
import { locate } from '../mutants/folders.ts';
import { faults } from '../planted/faults.ts';

test('a patch replaces what is there once, and refuses what is not', () => {
  const patch = { file: 'a.ts', find: 'one', replace: '$& two' };
  expect(replaceOnce('it is one.', patch)).toBe('it is $& two.');
  expect(() => replaceOnce('one and one', patch)).toThrow('a.ts has 2 times, and not once: one');
  expect(() => replaceOnce('none', { ...patch, find: 'two' })).toThrow('a.ts has 0 times');
});

test('whatever an experiment switches off or changes is still there to be switched off', () => {
  const variants = [...mechanisms, ...trades.sections.flatMap((section) => section.variants)];
  for (const variant of variants) expect(() => checkPatches(variant)).not.toThrow();
});

test('what holds a mechanism is a test that is still there', () => {
  const holders = mechanisms.flatMap(({ heldBy }) => heldBy ?? []);
  expect(holders).not.toEqual([]);
  for (const { file, sentence } of holders)
    expect(readFileSync(new URL(`../${file}`, import.meta.url), 'utf8')).toContain(`'${sentence}'`);
});

test('each planted fault finds the text that it replaces, and its suites', () => {
  for (const fault of faults) {
    const source = readFileSync(locate('src', fault.file), 'utf8');
    expect(replaceOnce(source, fault)).not.toBe(source);
    for (const suite of fault.suites) expect(() => locate('test', suite)).not.toThrow();
  }
});
