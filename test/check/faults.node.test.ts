import { resolve } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { type DialectName, dialects } from '../../src/check/dialects.ts';
import { groups, requirements } from '../../src/check/requirements/all.ts';
import type { Requirement } from '../../src/check/requirements/requirement.ts';
import type { Report } from '../../src/check/run.ts';
import { type FaultName, faults } from './faults.ts';
import { checkFaulty, wrongIn } from './rig.ts';

const pageOf = (name: string): string =>
  resolve(import.meta.dirname, '../../docs/exactly-once', name);
const command = 'npx vitest run --config test/vitest.config.ts test/check --update';
const names = Object.keys(faults) as FaultName[];

interface Checked {
  readonly name: FaultName;
  readonly report: Report;
  /** The same without a count of effects: the requirement alone. */
  readonly byAnswers: Report;
}

/** Every server with a mistake, sixteen at a time: they wait more than they work. */
async function checkAll(): Promise<ReadonlyMap<FaultName, Checked>> {
  const checked = new Map<FaultName, Checked>();
  const left = names.values();
  const work = async (): Promise<void> => {
    for (const name of left) {
      const report = await checkFaulty(name);
      const only = [faults[name].foundBy];
      const byAnswers = await checkFaulty(name, { only, canCount: false });
      checked.set(name, { name, report, byAnswers });
    }
  };
  await Promise.all(Array.from({ length: 16 }, work));
  return checked;
}

const kindIn = ({ results }: Report, id: string): string | undefined =>
  results.find((result) => result.id === id)?.finding.kind;

test('nothing is found wrong with the server that has no mistake', async () => {
  const report = await checkFaulty(undefined);
  expect(wrongIn(report)).toEqual([]);
  const open = report.results.filter(({ finding }) => finding.kind !== 'met');
  expect(open.map(({ id }) => id)).toEqual(['no-key-each-runs']);
  expect(report.results).toHaveLength(requirements.length);
});

test('nothing is found wrong with it by its answers alone', async () => {
  expect(wrongIn(await checkFaulty(undefined, { canCount: false }))).toEqual([]);
});

test('every requirement has a mistake that it finds, and ids are unique', () => {
  const ids = requirements.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  const tried: Set<string> = new Set(names.map((name) => faults[name].foundBy));
  expect(ids.filter((id) => !tried.has(id))).toEqual([]);
});

describe('a server with a mistake', () => {
  let checked: ReadonlyMap<FaultName, Checked> = new Map();
  beforeAll(async () => void (checked = await checkAll()), 120_000);

  test.each(names)('%s is found by the requirement that is meant for it', (name) => {
    const report = checked.get(name)?.report;
    expect(report && kindIn(report, faults[name].foundBy)).toBe('violated');
    expect(report?.stopped).toBeUndefined();
  });

  test('without a count, each is found by its answers, or the report says that it is not known', () => {
    const kinds = names.map((name) => {
      const report = checked.get(name)?.byAnswers;
      return report && kindIn(report, faults[name].foundBy);
    });
    expect(kinds.filter((kind) => kind === 'met')).toEqual([]);
  });

  test('docs/exactly-once/check-faults.md has what was found', async () => {
    const rows = [...checked.values()]
      .toSorted((one, other) => names.indexOf(one.name) - names.indexOf(other.name))
      .map(({ name, report, byAnswers }) => {
        const { foundBy, mistake } = faults[name];
        const found = kindIn(report, foundBy) === 'violated' ? 'found' : 'missed';
        const alone = kindIn(byAnswers, foundBy) === 'violated' ? 'found' : 'said to be unknown';
        return { row: `| ${mistake} | \`${foundBy}\` | ${found} | ${alone} |`, found, alone };
      });
    const count = (key: 'found' | 'alone'): number =>
      rows.filter((row) => row[key] === 'found').length;
    const page = [
      '# Servers with a mistake',
      '',
      `\`steadfetch check-idempotency\` against ${rows.length} servers, each with one mistake, on loopback. Every requirement has at least one that it is meant to find. The server without a mistake meets all that it declares. Made by`,
      '',
      '```sh',
      command,
      '```',
      '',
      `With \`--count-url\` or a module that counts effects, ${count('found')} of ${rows.length} are found by the requirement that is meant for them; by the answers alone, ${count('alone')}. Of the others the report says that it is not known.`,
      '',
      '| mistake | requirement | with a count | by the answers alone |',
      '|---|---|---|---|',
      ...rows.map(({ row }) => row),
      '',
    ];
    await expect(page.join('\n')).toMatchFileSnapshot(pageOf('check-faults.md'));
  });
});

function profilesOf({ appliesTo }: Requirement): string {
  const all = Object.keys(dialects) as DialectName[];
  const own = all.filter((name) => !appliesTo || appliesTo(dialects[name]));
  if (own.length === all.length) return 'all';
  return own.length === 0 ? 'where declared' : own.join(', ');
}

test('docs/exactly-once/check-requirements.md lists the requirements', async () => {
  const tables = groups.flatMap(({ title, requirements: own }) => [
    `## ${title}`,
    '',
    '| id | level | requirement | source | profiles |',
    '|---|---|---|---|---|',
    ...own.map((one) => {
      const { id, level, sentence, source } = one;
      return `| \`${id}\` | ${level} | ${sentence} | ${source} | ${profilesOf(one)} |`;
    }),
    '',
  ]);
  const page = [
    '# The requirements',
    '',
    `The ${requirements.length} requirements of [\`steadfetch check-idempotency\`](check-your-server.md), as \`--list\` shows them. *Must*: without it something is done twice, not at all, or shown to others. *Should*: a client gets less than it could. A profile that has not published an answer is not held to one. Made by`,
    '',
    '```sh',
    command,
    '```',
    '',
    ...tables,
  ];
  await expect(page.join('\n')).toMatchFileSnapshot(pageOf('check-requirements.md'));
});
