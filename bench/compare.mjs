import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { groups } from './contenders.mjs';
import { compareAtOnce, compareHttp } from './http.mjs';
import { countTimers, measureCpu, measureGarbage, median } from './measure.mjs';
import { compareReactQuery } from './react-query.mjs';

const { values: options } = parseArgs({
  options: { json: { type: 'boolean' }, http: { type: 'boolean' } },
});

const cpuPlan = { series: 3, rounds: 21, calls: 1000, warmUp: 25 };
const garbagePlan = { blocks: 7, calls: 2000, warmUp: 5 };

const titles = {
  contenders: 'One successful call around a stub of fetch, against the stub alone',
  variants: 'Steadfetch in other circumstances, against the stub alone',
  queries: 'One whole fetchQuery around the stub, against React Query without Steadfetch',
  instances: 'What a server makes for each request, against a QueryClient alone',
};

/** What one call of Steadfetch may cost, against the stub alone: its cost of today. A timer each for headers and body. */
const budget = { cpuRatio: 2, garbageKib: 15, timers: 2 };

/** One row for each contender, the first of which is what the others are compared with. */
async function compare(group) {
  const names = Object.keys(groups[group]);
  const [bare] = names;
  const cpu = await measureCpu(group, names, cpuPlan);
  const rows = [];
  let bareBytes = 0;
  for (const name of names) {
    const bytes = median(await measureGarbage(group, name, garbagePlan));
    if (name === bare) bareBytes = bytes;
    rows.push({
      name,
      cpuMicroseconds: median(cpu[name]),
      cpuRatio: median(cpu[name].map((time, round) => time / cpu[bare][round])),
      garbageKib: (bytes - bareBytes) / 1024,
      totalKib: bytes / 1024,
      timers: await countTimers(group, name),
    });
  }
  return rows;
}

function table(rows) {
  const cells = [
    ['', 'CPU', 'garbage', 'timers'],
    ...rows.map(({ name, cpuRatio, cpuMicroseconds, garbageKib, totalKib, timers }, index) =>
      index === 0
        ? [
            name,
            `1 (${cpuMicroseconds.toFixed(1)} µs)`,
            `(${totalKib.toFixed(1)} KiB)`,
            `${timers}`,
          ]
        : [name, `${cpuRatio.toFixed(2)} ×`, `+${garbageKib.toFixed(1)} KiB`, `${timers}`],
    ),
  ];
  return lines(cells);
}

/** A table in Markdown, the first row of which is its head. */
function lines(cells) {
  const widths = cells[0].map((_, column) => Math.max(...cells.map((row) => row[column].length)));
  const line = (row) => `| ${row.map((cell, column) => cell.padEnd(widths[column])).join(' | ')} |`;
  const [head, ...body] = cells.map(line);
  return [head, `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...body].join('\n');
}

const version = (name) =>
  JSON.parse(readFileSync(new URL(`../node_modules/${name}/package.json`, import.meta.url)))
    .version;
const compared = ['@tanstack/react-query', 'p-retry', 'cockatiel', 'ky', 'axios', 'axios-retry'];
const versions = Object.fromEntries([
  ['node', process.versions.node],
  ...compared.map((name) => [name, version(name)]),
]);

const results = {};
for (const group of options.http ? [] : Object.keys(groups)) {
  results[group] = await compare(group);
  if (!options.json) console.log(`\n${titles[group]}\n\n${table(results[group])}`);
}
const shown = (figure, unit) => (figure === undefined ? '' : `${figure.toFixed(1)} ${unit}`);
const times = (ratio) => (ratio ? `${ratio.toFixed(2)} ×` : '');

results.http = compareHttp();
results.atOnce = compareAtOnce();
if (!options.json) {
  for (const { title, rows } of results.http) {
    const cells = rows.map(({ name, microseconds, more, ratio }) =>
      name === 'bare'
        ? [name, shown(microseconds, 'µs'), '']
        : [name, `+${shown(more, 'µs')}`, times(ratio)],
    );
    console.log(`\n${title}\n`);
    console.log(lines([['', 'CPU', "of React Query's own"], ...cells]));
  }
  const cells = results.atOnce.map(({ atOnce, alone, steady, ratio }) => [
    `${atOnce}`,
    shown(alone, 'µs'),
    shown(steady, 'µs'),
    times(ratio),
  ]);
  console.log('\nAn attempt of so many queries that fail at once\n');
  console.log(lines([['', 'without', 'with Steadfetch', ''], ...cells]));
}
if (!options.http) results.reactQuery = compareReactQuery();
if (results.reactQuery && !options.json) {
  const cells = results.reactQuery.map(({ what, unit, alone, steady, ratio }) => [
    what,
    shown(alone, unit),
    shown(steady, unit),
    times(ratio),
  ]);
  console.log('\nIn React Query, beside its own retry\n');
  console.log(lines([['', 'without', 'with Steadfetch', ''], ...cells]));
}
if (options.json) {
  console.log(JSON.stringify({ versions, cpuPlan, garbagePlan, budget, results }, undefined, 2));
} else {
  const { cpuRatio, garbageKib, timers } = budget;
  const pairs = Object.entries(versions).map((pair) => pair.join(' '));
  console.log(
    `\nBudget of a call: ${cpuRatio} × CPU, +${garbageKib} KiB of garbage, ${timers} timers.`,
  );
  console.log(`${pairs.join(', ')}.`);
}
