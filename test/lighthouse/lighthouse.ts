import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import lighthouse, { desktopConfig, type RunnerResult } from 'lighthouse';
import { chromium } from 'playwright';
import { chromiumLaunchOptions, findChromium } from '../setup/chromium.ts';
import { serveFolder } from './serve.ts';

// What Lighthouse says of the built demo and its docs, below a path, as on a phone and as on a desktop.
const goal = 95;
const acts = ['#/read', '#/order', '#/send', '#/tabs'];
const pages = ['', ...acts, 'docs/index.html', 'docs/retry.html', 'docs/ja/index.html'];
const categories = ['performance', 'accessibility', 'best-practices', 'seo'];
/** One run differs from the next by several points, so the median counts. */
const rounds = 3;

type Result = RunnerResult['lhr'];

const scoreOf = ({ categories: scored }: Result, name: string): number =>
  Math.round(100 * (scored[name]?.score ?? 0));

/** A port that nobody listens on. */
const freePort = (): Promise<number> =>
  new Promise((found) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => found(port));
    });
  });

const demo = resolve(import.meta.dirname, '../../demo/dist');
const { url, server } = await serveFolder(demo, '/some/where/');
const port = await freePort();
const { args, ...options } = chromiumLaunchOptions(findChromium());
const browser = await chromium.launch({
  ...options,
  args: [...args, `--remote-debugging-port=${port}`],
});

let isReached = true;
const wanted = process.argv.slice(2);
for (const page of wanted.length > 0 ? wanted : pages) {
  for (const device of ['phone', 'desktop'] as const) {
    const runs: Result[] = [];
    while (runs.length < rounds) {
      const result = await lighthouse(
        `${url}${page}`,
        { port, onlyCategories: categories, logLevel: 'error' },
        device === 'desktop' ? desktopConfig : undefined,
      );
      if (!result) throw new Error('Lighthouse says nothing.');
      runs.push(result.lhr);
    }
    const sorted = runs.toSorted((a, b) => scoreOf(a, 'performance') - scoreOf(b, 'performance'));
    const median = sorted[(rounds - 1) / 2] as Result;
    const scores = categories.map((name) => {
      const score = scoreOf(median, name);
      isReached &&= score >= goal;
      return `${name} ${score}`;
    });
    const spread = sorted.map((run) => scoreOf(run, 'performance')).join(', ');
    console.log(`${page || '#/'}, ${device}: ${scores.join(', ')} (performance of all: ${spread})`);
    for (const { id, score, title, displayValue } of Object.values(median.audits)) {
      if (score !== null && score < 0.9) console.log(`  ${id}: ${title} ${displayValue ?? ''}`);
    }
  }
}
await browser.close();
server.close();
if (!isReached) {
  console.error(`Below ${goal}.`);
  process.exitCode = 1;
}
