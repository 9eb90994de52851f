import { readFileSync } from 'node:fs';
import { idempotent, memoryStore } from 'steadfetch/server';
import { expect, test } from 'vitest';
import { createLatch, post } from '../server/rig.ts';
import type { Mark } from './draw.ts';
import { expectPicture } from './expect-picture.ts';

test("the timeline of the server's side is that of the code", async () => {
  let nowMs = 0;
  const ledger = [{ atMs: 0, value: 0 }];
  const [started, finished] = [createLatch(), createLatch()];
  const send = idempotent(
    async (_request, { tx }) => {
      started.open();
      await finished.opened;
      tx.onCommit(() => ledger.push({ atMs: nowMs, value: ledger.length }));
      return new Response('ordered', { status: 201 });
    },
    { store: memoryStore(), now: () => nowMs },
  );
  /** One attempt: what the server answers, and when. */
  const attempt = async (kind: Mark['kind'], more = ''): Promise<Mark[]> => {
    const { status, headers } = await send(post({ key: '"8e03978e"' }));
    const replayed = headers.has('idempotent-replayed') ? ', replayed' : '';
    return [{ atMs: nowMs, kind, label: `${status}${replayed}${more}` }];
  };
  const first = attempt('bad', ': lost');
  await started.opened;
  nowMs = 1000;
  const second = await attempt('bad');
  nowMs = 2000;
  finished.open();
  const lost = await first;
  nowMs = 3000;
  const marks = [lost, second, await attempt('ok')];

  expect(marks).toEqual([
    [{ atMs: 2000, kind: 'bad', label: '201: lost' }],
    [{ atMs: 1000, kind: 'bad', label: '409' }],
    [{ atMs: 3000, kind: 'ok', label: '201, replayed' }],
  ]);
  expect(ledger).toEqual([
    { atMs: 0, value: 0 },
    { atMs: 2000, value: 1 },
  ]);
  expectPicture('server', {
    title: 'One key, three attempts, one order',
    endMs: 4000,
    tickMs: 1000,
    rows: [
      {
        name: 'the key',
        spans: [
          { atMs: 0, kind: 'sending', label: 'claimed: the handler runs' },
          { atMs: 2000, kind: 'succeeded', label: 'answered, for a day' },
        ],
      },
      ...marks.map((row, index) => ({ name: `attempt ${index + 1}`, marks: row })),
      { name: 'ledger', about: 'orders', steps: ledger, max: 1 },
    ],
  });
});

test('the adapter of the page is the one that is tested', () => {
  const adapter = readFileSync('test/server/node-adapter.ts', 'utf8');
  expect(readFileSync('docs/server/frameworks.md', 'utf8')).toContain(`\`\`\`ts\n${adapter}\`\`\``);
});
