import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Troubles } from './variants.ts';

const folder = new URL('.', import.meta.url).pathname;

/** What a search has found. */
export interface Found {
  readonly states: number;
  readonly transitions: number;
  readonly seconds: number;
  /** All that can happen was searched. */
  readonly isWhole: boolean;
  /** What was broken, and the steps that lead there; undefined where nothing is. */
  readonly fault: { readonly rule: string; readonly steps: readonly Step[] } | undefined;
}

/** Something that happens between two parts, or in one. */
export interface Step {
  readonly from: string;
  readonly to: string;
  readonly text: string;
}

/** How the model is searched: whole, its shortest way to a fault, what goes on for ever, or a sample. */
export type Kind = 'all' | 'shortest' | 'live' | 'bits';

const compiled: Readonly<Record<Kind, readonly string[]>> = {
  all: ['-DSAFETY', '-DCOLLAPSE', '-DNOCLAIM'],
  shortest: ['-DBFS', '-DCOLLAPSE', '-DNOCLAIM', '-DNOREDUCE'],
  live: ['-DCOLLAPSE', '-DNFAIR=4'],
  bits: ['-DSAFETY', '-DBITSTATE', '-DNOCLAIM'],
};
const started: Readonly<Record<Kind, readonly string[]>> = {
  all: ['-m1000000'],
  shortest: ['-m100000'],
  live: ['-a', '-f', '-m1000000'],
  // For two minutes at the most.
  bits: ['-w30', '-k3', '-m1000000', '-Q2'],
};

const none: Troubles = {
  SENDERS: 2,
  DOUBLES: 0,
  CRASHES: 0,
  HANDLER_CRASHES: 0,
  EARLY_ENDS: 0,
  TAKEOVERS: 0,
  RETRIES: 0,
  AGES: 0,
  COPIES: 0,
};

/** @throws Error that says what to install. */
export function requireSpin(): void {
  for (const command of ['spin', 'gcc'])
    if (spawnSync('which', [command]).status !== 0)
      throw new Error(`npm run model needs ${command}: apt-get install spin gcc`);
}

/** Searches a model in a world with these troubles. `weakened` is what it lacks. */
export function search(model: string, kind: Kind, troubles: Troubles, weakened: string[]): Found {
  const scratch = mkdtempSync(join(tmpdir(), 'protocol-'));
  try {
    const world = { ...none, ...troubles };
    // A form has two pages: the model says so itself.
    const sizes = Object.entries(world).filter(([name]) => model !== 'form' || name !== 'SENDERS');
    const defines = [
      ...sizes.map(([name, value]) => `-D${name}=${value}`),
      ...weakened.map((name) => `-D${name}`),
      ...(kind === 'live' ? ['-DLIVE'] : []),
    ];
    const source = join(folder, `${model}.pml`);
    const run = (command: string, args: readonly string[]): string =>
      execFileSync(command, args, { cwd: scratch, encoding: 'utf8', maxBuffer: 2 ** 28 });
    run('spin', [...defines, '-a', source]);
    run('gcc', ['-O2', '-w', '-DMEMLIM=7000', ...compiled[kind], '-o', 'pan', 'pan.c']);
    const began = performance.now();
    const { stdout } = spawnSync(join(scratch, 'pan'), started[kind], {
      cwd: scratch,
      encoding: 'utf8',
    });
    const seconds = (performance.now() - began) / 1000;
    const count = (name: string): number =>
      Number(
        new RegExp(`^\\s*([\\d.e+]+) (?:states, )?${name}`, 'm').exec(stdout)?.[1] ?? Number.NaN,
      );
    const rule = /^pan:1: (.*?) \(at depth/m.exec(stdout)?.[1];
    const trail = `${model}.pml.trail`;
    const hasTrail = existsSync(join(scratch, trail));
    const replayed = hasTrail ? run('spin', [...defines, '-k', trail, '-t', '-T', source]) : '';
    return {
      states: count('stored'),
      transitions: count('transitions'),
      seconds,
      isWhole: !/Search not completed|max search depth too small|out of memory/i.test(stdout),
      fault: rule === undefined ? undefined : { rule, steps: stepsOf(replayed) },
    };
  } finally {
    rmSync(scratch, { recursive: true });
  }
}

const words: Readonly<Record<string, readonly string[]>> = {
  answer: ['', '409, under way', 'stored refusal', 'refused', 'done', 'nothing'],
  word: ['', 'cleared', 'unknown', 'failed', 'done', 'saved', 'nothing'],
};

/** The steps that the models print: `|from|to|text`. */
function stepsOf(replayed: string): Step[] {
  const steps: Step[] = [];
  for (const [, from = '', to = '', text = ''] of replayed.matchAll(/^\s*\|(.+)\|(.+)\|(.*)$/gm))
    steps.push({ from, to, text: readable(text) });
  return steps;
}

const letter = (digit: string): string => 'ABC'[Number(digit)] ?? digit;

const readable = (text: string): string =>
  text
    .replace(/order (\d)/g, (_, order: string) => `order ${letter(order)}`)
    .replace(/orders 0 and 1/, 'orders A and B')
    .replace(
      /key (\d)\.(\d)/g,
      (_, order: string, version: string) => `key ${letter(order)}${+version + 1}`,
    )
    .replace(
      /(answer|word) (\d)/g,
      (_, kind: string, value: string) => words[kind]?.[Number(value)] ?? value,
    );
