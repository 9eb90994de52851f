import { mkdirSync, writeFileSync } from 'node:fs';
import { startOutboxServer } from '../e2e/outbox-server.ts';
import { measure, type Measured } from './outbox-measure.ts';

// What entries cost when there are many, into docs/outbox: `npm run outbox-figures`.
const sizes = [1000, 10_000];
const rounds = 3;

const server = await startOutboxServer();
const all: Measured[] = [];
// Side by side: what else the machine does is the same for both.
for (let round = 0; round < rounds; round += 1) {
  for (const size of sizes) {
    const one = await measure(server, size);
    console.log(one);
    all.push(one);
  }
}
server.close();

const median = (size: number, name: keyof Measured): number => {
  const values = all
    .filter(({ entries }) => entries === size)
    .map((one) => one[name])
    .toSorted((one, other) => one - other);
  return values[Math.floor(values.length / 2)] ?? Number.NaN;
};
const row = (text: string, name: keyof Measured, unit: string): string => {
  const [few, many] = sizes.map((size) => median(size, name)) as [number, number];
  const cells = [few, many].map((value) => `${value.toFixed(1)}${unit}`);
  return `| ${text} | ${cells.join(' | ')} | ${(many / few).toFixed(2)} |`;
};
const longest = (text: string, name: 'openTaskMs' | 'drainTaskMs'): string => {
  const cells = sizes.map((size) => {
    const ms = median(size, name);
    return ms === 0 ? 'none' : `${ms.toFixed(0)} ms`;
  });
  return `| ${text} | ${cells.join(' | ')} | |`;
};

const report = `# The outbox: the figures

What an entry costs when there are many, in Chromium with a database on the disk. Made by

\`\`\`sh
npm run outbox-figures
\`\`\`

A page opens with the entries of another that died, ${rounds} times with each number of entries, in turn. The figures are medians. The server is on loopback and answers at once. At most 4 attempts are under way. Milliseconds depend on the machine and its load, so compare the columns.

| | 1,000 entries | 10,000 entries | ratio |
| --- | ---: | ---: | ---: |
${row('Open the page: from the navigation to the first request', 'openMs', ' ms')}
${row('Save one more: until `saved` has resolved', 'enqueueMs', ' ms')}
${row('Deliver one, on average', 'drainMs', ' ms')}
${row('Write transactions per delivered entry', 'writesPerEntry', '')}
${row('Rows and keys read per delivered entry', 'readsPerEntry', '')}
${longest('The longest task of the main thread over 50 ms, until a second after the first request', 'openTaskMs')}
${longest('The same, until all entries were delivered', 'drainTaskMs')}

Saving an entry is one transaction with strict durability. Marking it as being sent, and recording which of its requests carries the key, are two with relaxed durability. Its end is strict again. A page reads due entries a hundred at a time, and spends at most a tenth of its time on counting entries.
`;
const folder = new URL('../../docs/outbox/', import.meta.url);
mkdirSync(folder, { recursive: true });
writeFileSync(new URL('figures.md', folder), report);
console.log(report);
process.exit();
