import { readFileSync, writeFileSync } from 'node:fs';
import { type Folder, folders } from './folders.ts';
import type { Mutant } from './instrument.ts';
import { readRows, writeSection } from './page.ts';
import { type Likely, readKillers, writeKillers } from './plan.ts';
import { type Found, runFolder } from './run-tests.ts';

/** A mutant, and why no test needs to find it. */
interface Survivor {
  readonly is: string;
  readonly reason: string;
}

/** By folder, and then by the key of a mutant. */
type Survivors = Record<string, Record<string, Survivor>>;

const listPath = 'test/mutants/survivors.json';
const readList = (): Survivors => JSON.parse(readFileSync(listPath, 'utf8')) as Survivors;

const args = process.argv.slice(2);
const minutesAt = args.indexOf('--minutes');
const minutes = minutesAt < 0 ? Infinity : Number(args.splice(minutesAt, 2)[1]);
const isListing = args.includes('--list');
const names = args.filter((name) => !name.startsWith('--'));
const chosen = folders.filter(({ name }) => names.length === 0 || names.includes(name));
const unknown = names.filter((name) => !folders.some((folder) => folder.name === name));
if (unknown.length > 0) {
  const known = folders.map(({ name }) => name).join(', ');
  throw new Error(`There is no folder ${unknown.join(', ')}. There are ${known}.`);
}

const oneLine = (text: string): string => text.replace(/\s+/g, ' ').slice(0, 90);

const textOf = ({ file, line, original, replacement }: Mutant): string =>
  `${file}:${line}: ${oneLine(original)} → ${oneLine(replacement)}`;

const percent = (part: number, whole: number): string => `${((100 * part) / whole).toFixed(1)} %`;

/** Of mutants that this run has not reached, what found them before is kept. */
function keepKillers(name: string, { mutants, killed }: Found): void {
  const before = readKillers(name);
  const killers = mutants.flatMap(({ id, key }): (readonly [string, Likely])[] => {
    const { test, by } = killed.get(id) ?? before.get(key) ?? {};
    return test !== undefined && by !== undefined ? [[key, { test, by }]] : [];
  });
  writeKillers(name, new Map(killers));
}

/** Prints what a folder shows, and writes its row of the page. @returns whether all of it is as listed. */
function report({ name }: Folder, found: Found): boolean {
  const { mutants, killed, survived, uncovered, failed, left } = found;
  keepKillers(name, found);
  for (const test of failed) console.log(`FAILS WITHOUT A MUTANT: ${test}`);
  if (left > 0) {
    console.log(`${name}: ${left} files of tests are left: run it again, it goes on from here.`);
    return false;
  }
  const list = readList();
  const reasons = list[name] ?? {};
  const alive = [...survived, ...uncovered];
  const unlisted = alive.filter(({ key }) => !reasons[key]?.reason);
  for (const mutant of unlisted) {
    const how = uncovered.includes(mutant) ? 'NO TEST PASSES BY' : 'SURVIVES';
    console.log(`${how} ${mutant.key} ${textOf(mutant)}`);
  }
  const kept = alive.flatMap((mutant): (readonly [string, Survivor])[] => {
    const { reason = '' } = reasons[mutant.key] ?? {};
    return reason || isListing ? [[mutant.key, { is: textOf(mutant), reason }]] : [];
  });
  writeFileSync(
    listPath,
    `${JSON.stringify({ ...list, [name]: Object.fromEntries(kept) }, undefined, 2)}\n`,
  );

  const tried = killed.size + alive.length;
  const timeouts = [...killed.values()].filter(({ end }) => end === 'timeout').length;
  const score = percent(killed.size, tried);
  const ignored = mutants.length - tried;
  console.log(`${name}: ${killed.size} of ${tried} found, ${score}; ${unlisted.length} not listed`);
  const row = [name, tried, killed.size, timeouts, score, alive.length - unlisted.length];
  writeRow(name, [...row, unlisted.length, ignored]);
  return unlisted.length === 0 && killed.size >= 0.9 * tried && failed.length === 0;
}

const head = [
  'folder',
  'mutants',
  'found',
  'of them by a time-out',
  'score',
  'survive, with a reason',
  'survive, without one',
  'left out by rule',
];

function writeRow(name: string, cells: readonly (string | number)[]): void {
  const rows = readRows('mutants').filter(([first]) => first !== name);
  const order = folders.map((folder) => folder.name);
  const all = [...rows, cells.map(String)].toSorted(
    ([a = ''], [b = '']) => order.indexOf(a) - order.indexOf(b),
  );
  const lines = [head, ['---', ...head.slice(1).map(() => '---:')], ...all];
  writeSection('mutants', lines.map((line) => `| ${line.join(' | ')} |`).join('\n'));
}

const until = Date.now() + minutes * 60_000;
for (const folder of chosen) {
  const found = await runFolder(folder, until);
  if (!report(folder, found)) process.exitCode = 1;
}
