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

A page is opened with the entries that another has left when it died, ${rounds} times with each number of them, in turn; the figures are medians. The server is on loopback and answers at once, 4 attempts are under way at most. Milliseconds are those of the machine that made this page, and of what else it did: compare the columns.

| | 1,000 entries | 10,000 entries | ratio |
| --- | ---: | ---: | ---: |
${row('Open the page: from the navigation to the first request', 'openMs', ' ms')}
${row('Keep one more: until `saved` has resolved', 'enqueueMs', ' ms')}
${row('Deliver one, of all that there are', 'drainMs', ' ms')}
${row('Transactions that write, for each that is delivered', 'writesPerEntry', '')}
${row('Rows and keys read, for each that is delivered', 'readsPerEntry', '')}
${longest('The longest task of the main thread over 50 ms, until a second after the first request', 'openTaskMs')}
${longest('And until all was delivered', 'drainTaskMs')}

That an entry is kept is one transaction that is written through to the disk; that it is being sent and which of its requests carries the key are two that are not; its end is written through again. A page reads what is due a hundred at a time, and counts the entries in at most a tenth of its time.
`;
const folder = new URL('../../docs/outbox/', import.meta.url);
mkdirSync(folder, { recursive: true });
writeFileSync(new URL('figures.md', folder), report);
console.log(report);
process.exit();
