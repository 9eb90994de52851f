import { mkdirSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import type { Figures } from './compare.ts';
import { contenders } from './contenders.ts';
import { writeReport } from './report.ts';
import { runProof } from './run-proof.ts';

// All contenders, into docs/exactly-once: `npm run proof`. To try something out, with nothing
// written: `npm run proof -- --only Steadfetch --orders 1000`.
const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    orders: { type: 'string' },
    tabs: { type: 'string' },
    speed: { type: 'string' },
    seed: { type: 'string' },
  },
});
const options = {
  orders: Number(values.orders ?? 10_000),
  tabs: Number(values.tabs ?? 48),
  speed: Number(values.speed ?? 40),
  seed: Number(values.seed ?? 1),
};
const results: [string, Figures][] = [];
for (const [name, contender] of Object.entries(contenders)) {
  if (values.only !== undefined && values.only !== name) continue;
  const startMs = performance.now();
  const figures = await runProof(contender, options);
  results.push([name, figures]);
  console.log(`${name}: ${((performance.now() - startMs) / 1000).toFixed(0)} s`, figures);
}
const report = writeReport(results, options);
if (Object.values(values).every((value) => value === undefined)) {
  const folder = new URL('../../docs/exactly-once/', import.meta.url);
  mkdirSync(folder, { recursive: true });
  writeFileSync(new URL('figures.md', folder), report);
} else console.log(report);
