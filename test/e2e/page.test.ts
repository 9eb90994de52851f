import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { pages as files, read, sitePathOf } from '../../docs/.vitepress/site.ts';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type Actor, asActor } from './actor.ts';
import { auditInStill } from './audit-page.ts';
import { expectReadable } from './expect-readable.ts';
import { findOverlaps } from './find-overlaps.ts';
import { type Demo, openDemo, screens } from './open-demo.ts';

let demo: Demo;
beforeAll(async () => {
  demo = await openDemo();
});
afterEach(() => demo.leave());
afterAll(() => demo.close());

/** Moments of a visit that look different. */
const moments: readonly (readonly [string, string, (actor: Actor) => Promise<void>])[] = [
  [
    'while one has failed and the other is paused',
    '#/read/503-twice',
    async (actor) => {
      await actor.answered(1);
      await actor.due('alone', 'steady');
      await actor.answered(2);
      await actor.says('This is not available right now');
    },
  ],
  [
    'after both have failed',
    '#/read/404',
    async (actor) => {
      await actor.arrives({ alone: 1, steady: 1 });
      await actor.play('alone', 'steady');
    },
  ],
  [
    'with products',
    '#/read/healthy',
    async (actor) => {
      await actor.answered(1);
      await actor.concludes('Answered after 0.4 s', 'Answered after 0.4 s', 'Nothing went wrong.');
    },
  ],
  ['before anything is ordered', '#/order', async () => {}],
  [
    'with a duplicate',
    '#/order/lost',
    async (actor) => {
      await actor.press('Order on both sides');
      await actor.arrives({ alone: 1, steady: 1 });
      await actor.play('alone', 'steady');
    },
  ],
  [
    'while an order waits',
    '#/order/lost',
    async (actor) => {
      await actor.press('Order on both sides');
      await actor.answered(1);
      await actor.says('No answer from the server');
    },
  ],
];

test.each(moments)(
  '%s (%s) axe finds nothing, every text can be read, and nothing is wider than the screen',
  async (_, hash, reach) => {
    const actor = asActor(await demo.visit(hash));
    await reach(actor);
    await expectReadable(actor.page);
    expect(await auditInStill(actor)).toEqual([]);
  },
);

describe('the shape of an act', () => {
  test('has a title, the other acts, the docs and npm', async () => {
    const { page } = await demo.visit('#/order');
    expect(await page.title()).toBe('Order it · Steadfetch');
    const links = await page.getByRole('banner').getByRole('link').allTextContents();
    expect(links).toEqual([
      'Steadfetch',
      'The storm',
      'Read it',
      'Order it',
      'Send it',
      'Docs',
      'npm',
      '日本語',
    ]);
    expect(await page.locator('[aria-current=page]').textContent()).toBe('Order it');
    await page.getByRole('link', { name: 'Read it' }).click();
    await page.getByRole('heading', { name: 'Read it', level: 1 }).waitFor();
    expect(await page.title()).toBe('Read it · Steadfetch');
  });

  test.each(['#/', '#/read/healthy'])(
    'on %s each figure is on the page that it links to',
    async (hash) => {
      const { page } = await demo.visit(hash);
      const proofs = await page
        .getByRole('region', { name: 'Measured' })
        .locator('> a')
        .evaluateAll((links) =>
          links.map((link) => [link.textContent, (link as HTMLAnchorElement).href] as const),
        );
      const pages = proofs.map(([, url]) => {
        const file = files.find((one) =>
          url.endsWith(`/docs/${sitePathOf(one)}`.replace('.md', '.html')),
        );
        return file && read(file);
      });
      const said = [
        [/^9,998 of 10,000.*45 %.*9,835\.$/, /\n\| Steadfetch \| 99\.98 % /],
        [/^0 twice.*2,675\.$/, /\n\| React Query, key in the mutationFn \| 98\.35 % \| 2,675 /],
        [
          /^870 of 880.*594\.$/,
          /\n\| Steadfetch \| all \| 870 [^]*\n\| React Query \| all \| 594 /,
        ],
        [
          /^47 kB.*64 kB/,
          /with `useRetryStatus` and `useCountdown` \| [^|]* \| 47 [^]*`useSafeSubmit` \| [^|]* \| 64 /,
        ],
      ] as const;
      expect(proofs).toHaveLength(said.length);
      said.forEach(([figure, place], index) => {
        expect(proofs[index]?.[0]).toMatch(figure);
        expect(pages[index]).toMatch(place);
      });
    },
  );

  test.each(['#/', '#/order'])('on a phone, %s has the ways out below', async (hash) => {
    const { page } = await demo.visit(hash, { screen: 'phone' });
    const links = page.getByRole('region', { name: 'Measured' }).locator('.ways-out a');
    expect(await links.allTextContents()).toEqual(['Docs', 'npm', '日本語']);
    expect(await links.evaluateAll((all) => all.every((link) => link.checkVisibility()))).toBe(
      true,
    );
  });

  test('shows the code that runs, with the lines that differ marked, to copy', async () => {
    const { page } = await demo.visit('#/read/healthy');
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    for (const [side, file] of [
      ['React Query alone', 'alone.tsx'],
      ['Steadfetch', 'steady.tsx'],
    ] as const) {
      const source = readFileSync(
        resolve(import.meta.dirname, '../../demo/src/read', file),
        'utf8',
      );
      await page.getByRole('button', { name: `Copy the code of ${side}` }).click();
      await page.locator('.copied', { hasText: 'Copied' }).first().waitFor();
      expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(source);
    }
    const added = await page.locator('[data-mark="+"]').allTextContents();
    expect(added.map((line) => line.trim())).toContain('<RetryStatus query={[url]} />');
    expect(added.join('')).not.toMatch(/queryKey/);
  });

  test('has three troubles in front and the rest under More, by keyboard too', async () => {
    const { page } = await demo.visit('#/read');
    const names = (): Promise<string[]> => page.locator('.option').allTextContents();
    expect(await names()).toEqual(['Down for 10 s', '503 twice', 'No answer']);
    await page.getByRole('radio', { name: 'Down for 10 s' }).focus();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    expect(await names()).toHaveLength(10);
    await page.keyboard.press('Tab');
    await page.getByRole('radio', { name: 'Down for 10 s' }).focus();
    await page.keyboard.press('ArrowRight');
    await page.waitForFunction(() => location.hash === '#/read/503-twice');
  });

  test('with the live regions there, empty, before they have anything to tell', async () => {
    const { page } = await demo.visit('#/order');
    const first = await page.evaluate(() => window.sightings.regionsAtFirst);
    expect(first.length).toBeGreaterThan(0);
    expect(first.filter((region) => !region.endsWith(': '))).toEqual([]);
  });

  test('says so where the browser starts no service worker', async () => {
    const { page } = await demo.visit('#/read/healthy');
    page.removeAllListeners('console');
    await page.addInitScript(() => {
      navigator.serviceWorker.getRegistrations = async () => [];
      navigator.serviceWorker.register = () => Promise.reject(new Error('Refused.'));
    });
    await page.reload();
    await page.getByRole('heading', { name: 'This page could not start' }).waitFor();
    expect(await page.title()).toBe('Read it · Steadfetch');
  });
});

/** Each act, from its start to its verdict. */
const stories = {
  async '#/read/outage'(actor: Actor) {
    await actor.arrives({ alone: 1, steady: 1 });
    await actor.play('alone', 'steady');
  },
  async '#/order/lost'(actor: Actor) {
    await actor.press('Order on both sides');
    await actor.arrives({ alone: 1, steady: 1 });
    await actor.play('alone', 'steady');
  },
  async '#/send/lost'(actor: Actor) {
    await actor.press('Start over');
    await actor.cleared();
    await actor.press('Send on both sides');
    await actor.comesTo(
      '1 sent, 2 arrived',
      '1 of 1 arrived',
      'A new key is a new note. The same key is the same note.',
    );
  },
} as const;

describe('the layout', () => {
  test.each([
    ['desktop', '#/read/503-twice'],
    ['phone', '#/read/503-twice'],
  ] as const)('on a %s nothing moves when the status changes (%s)', async (screen, hash) => {
    const actor = asActor(await demo.visit(hash, { screen }));
    const layout = (): Promise<string[]> =>
      actor.page
        .locator('.timeline, .pane, .shelf li:last-child, .code-pair')
        .evaluateAll((boxes) =>
          boxes.map((box) => {
            const { top, left, width, height } = box.getBoundingClientRect();
            return `${box.className}: ${top} ${left} ${width} ${height}`;
          }),
        );
    await actor.arrives({ alone: 1, steady: 1 });
    const before = await layout();
    await actor.pass(400);
    await actor.says('The server is unavailable (503)');
    expect(await layout()).toEqual(before);
    await actor.play('alone', 'steady');
    expect(await layout()).toEqual(before);
  });

  test.each(
    (['desktop', 'phone'] as const).flatMap((screen) =>
      (Object.keys(stories) as (keyof typeof stories)[]).map((hash) => [screen, hash] as const),
    ),
  )('on a %s the whole story is on the first screen (%s)', async (screen, hash) => {
    const actor = asActor(await demo.visit(hash, { screen }));
    await stories[hash](actor);
    const bottoms = await actor.page
      .locator('h1, .controls, .verdicts, .conclusion, .timeline')
      .evaluateAll((boxes) => boxes.map((box) => box.getBoundingClientRect().bottom));
    expect(bottoms).toHaveLength(5);
    expect(Math.max(...bottoms)).toBeLessThanOrEqual(screens[screen].height);
  });

  test.each([
    [1280, '#/order/lost'],
    [900, '#/order/lost'],
    [390, '#/order/lost'],
    [900, '#/read/503-twice'],
    [390, '#/read/503-twice'],
    [390, '#/send/fine'],
  ] as const)('at %i px the two sides are side by side (%s)', async (width, hash) => {
    const { page } = await demo.visit(hash);
    await page.setViewportSize({ width, height: 844 });
    const [one, other] = await page
      .locator('.pane')
      .evaluateAll((panes) =>
        panes.map((pane) => pane.getBoundingClientRect().toJSON() as DOMRect),
      );
    expect(other?.top).toBe(one?.top);
    expect(other?.left).toBeGreaterThan(one?.right ?? Infinity);
    expect(other?.width).toBe(one?.width);
  });

  test.each([390, 320])('at %i px nothing lies on the countdown or Retry now', async (width) => {
    const actor = asActor(await demo.visit('#/read/503-twice'));
    await actor.page.setViewportSize({ width, height: 640 });
    await actor.answered(1);
    await actor.says('The server is unavailable (503)');
    expect(await actor.page.getByRole('timer').isVisible()).toBe(true);
    const parts = '.pane .steadfetch-status :is([role=timer], button, .steadfetch-title)';
    expect(await actor.page.locator(parts).count()).toBeGreaterThanOrEqual(4);
    expect(await findOverlaps(actor.page, parts)).toEqual([]);
  });

  test.each(['#/read/503-twice', '#/order/lost', '#/send/fine'])(
    'with text at 200 %, on %s nothing is wider than the screen, and nothing lies on another',
    async (hash) => {
      const { page } = await demo.visit(hash);
      await page.addStyleTag({ content: 'html { font-size: 200% }' });
      for (const screen of ['desktop', 'phone'] as const) {
        await page.setViewportSize(screens[screen]);
        const overhang = await page.evaluate(
          () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
        );
        expect(overhang, screen).toBe(0);
        const parts =
          'h1, .lead, .head a, .option, .option-more, .explanation, .actions > *, .verdict > p, .conclusion, .track, .axis, .legend, .pane h2, .pane .slip, .pane .button, .ledger, .note, .code, .proof a';
        expect(await findOverlaps(page, parts), screen).toEqual([]);
      }
    },
  );

  test.each([1280, 1000, 390, 320])(
    'at %i px no label lies on another, or is cut off',
    async (width) => {
      const actor = asActor(await demo.visit('#/read/outage'));
      await actor.page.setViewportSize({ width, height: 800 });
      await actor.arrives({ alone: 1, steady: 1 });
      await actor.play('alone', 'steady');
      const faults = await actor.page.locator('.lane').evaluateAll((lanes) =>
        lanes.flatMap((lane) => {
          const boxes = [...lane.querySelectorAll('.label')].map((label) =>
            label.getBoundingClientRect(),
          );
          const edge = lane.getBoundingClientRect().right + 1;
          return boxes.flatMap((box, index) => {
            const next = boxes[index + 1];
            return (next && box.right > next.left) || box.right > edge ? [`${box.left}`] : [];
          });
        }),
      );
      expect(faults).toEqual([]);
      // The last outcome is always said.
      expect(await actor.page.locator('.track[data-side=steady] .label').last().textContent()).toBe(
        '200',
      );
    },
  );

  test('text grows with the browser’s font size', async () => {
    const { page } = await demo.visit('#/order');
    const sizes = (): Promise<number[]> =>
      page
        .locator('h1, .lead, .option span, .button, .verdict-side, .track-name, .legend, .code pre')
        .evaluateAll((texts) =>
          texts.map((text) => Number.parseFloat(getComputedStyle(text).fontSize)),
        );
    const before = await sizes();
    await page.addStyleTag({ content: 'html { font-size: 200% }' });
    const after = await sizes();
    expect(after.every((size, index) => size >= 1.4 * (before[index] ?? 0))).toBe(true);
    expect(
      await page.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
      ),
    ).toBe(0);
  });

  test('in forced colours the bars are there', async () => {
    const actor = asActor(await demo.visit('#/read/404'));
    await actor.page.emulateMedia({ forcedColors: 'active' });
    await actor.arrives({ alone: 1, steady: 1 });
    await actor.play('steady');
    const [bar, paper] = await actor.page.evaluate(() => {
      const colourOf = (selector: string): string =>
        getComputedStyle(document.querySelector(selector) ?? document.body).backgroundColor;
      return [colourOf('.track[data-side=steady] .bar'), colourOf('.timeline')];
    });
    expect(bar).not.toBe(paper);
  });
});

test.each([
  ['light', 'rgb(246, 249, 251)'],
  ['dark', 'rgb(10, 20, 29)'],
] as const)('in the %s scheme the page is %s', async (colorScheme, colour) => {
  const { page } = await demo.visit('#/read/healthy', { colorScheme });
  const canvas = page.locator('html');
  expect(await canvas.evaluate((html) => getComputedStyle(html).backgroundColor)).toBe(colour);
});

test('with less motion wanted, nothing is animated', async () => {
  const visitor = await demo.visit('#/read/outage', { reducedMotion: 'reduce' });
  expect(await visitor.page.evaluate(() => document.getAnimations().length)).toBe(0);
});

/** A scheme changes no keys, so each screen has another one. */
const looks = [
  ['desktop', 'light'],
  ['phone', 'dark'],
] as const;

describe.each(looks)('on a %s in the %s scheme, by keyboard alone', (screen, colorScheme) => {
  const visit = async (hash: string): Promise<Actor> =>
    asActor(await demo.visit(hash, { screen, colorScheme }));
  const tabTo = async ({ page }: Actor, name: string): Promise<void> => {
    const target = page.getByRole('button', { name, exact: true });
    for (let presses = 0; presses < 60; presses += 1) {
      if (await target.evaluate((button) => button === document.activeElement)) return;
      await page.keyboard.press('Tab');
    }
    throw new Error(`Tab does not lead to ${name}.`);
  };

  test('Read it: another trouble is chosen, and played to its verdict', async () => {
    const actor = await visit('#/read');
    const { page } = actor;
    const isOnSwitch = (): Promise<boolean> =>
      page.evaluate(() => document.activeElement?.matches('.option input') === true);
    while (!(await isOnSwitch())) await page.keyboard.press('Tab');
    await page.keyboard.press('ArrowRight');
    await page.waitForFunction(() => location.hash === '#/read/503-twice');
    await actor.arrives({ alone: 1, steady: 1 });
    await actor.play('alone', 'steady');
    await actor.concludes(
      'Answered after 4.2 s',
      'Answered after 3.5 s',
      'Both recovered by themselves.',
    );
    // Each has sent one in the trouble before.
    expect(actor.sent()).toEqual({ alone: 4, steady: 4 });
  });

  test('Order it: ordered, to its verdict', async () => {
    const actor = await visit('#/order');
    await tabTo(actor, 'Order on both sides');
    await actor.page.keyboard.press('Enter');
    await actor.arrives({ alone: 1, steady: 1 });
    await actor.play('alone', 'steady');
    await actor.concludes(
      '2 kites',
      '1 kite',
      'A new key is a new order. The same key is the same order.',
    );
    expect(actor.sent()).toEqual({ alone: 2, steady: 2 });
  });

  test('Send it: sent, to its verdict', async () => {
    const actor = await visit('#/send/lost');
    await tabTo(actor, 'Start over');
    await actor.page.keyboard.press('Enter');
    await actor.cleared();
    // What an earlier test has left in the outbox may have gone out from this page.
    const { steady: sentBefore } = actor.sent();
    await actor.page.keyboard.press('Shift+Tab');
    await actor.page.keyboard.press('Shift+Tab');
    await tabTo(actor, 'Send on both sides');
    await actor.page.keyboard.press('Enter');
    await actor.comesTo(
      '1 sent, 2 arrived',
      '1 of 1 arrived',
      'A new key is a new note. The same key is the same note.',
    );
    expect(new Set(actor.keys().steady.slice(sentBefore)).size).toBe(1);
  });
});
