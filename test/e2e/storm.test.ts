import type { Locator, Page } from 'playwright';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { runLabStorm } from '../../sim/lab/lab-storm.ts';
import { firstSettings, toScenario } from '../../demo/src/storm/lab/settings.ts';
import { auditPage } from './audit-page.ts';
import { expectReadable } from './expect-readable.ts';
import { type Demo, openDemo, screens } from './open-demo.ts';
import { typeOver } from './type-over.ts';

let demo: Demo;
beforeAll(async () => {
  demo = await openDemo();
});
afterEach(() => demo.leave());
afterAll(() => demo.close());

/** The three figures of both sides. */
const counters = (page: Page): Promise<string[]> => page.locator('.counters dd').allTextContents();

/** Goes on with Tab until something has the focus. */
async function tabTo(page: Page, target: Locator): Promise<void> {
  for (let presses = 0; presses < 60; presses++) {
    if (await target.evaluate((element) => element === document.activeElement)) return;
    await page.keyboard.press('Tab');
  }
  throw new Error('Tab does not lead there.');
}

describe('the home', () => {
  test.each(['desktop', 'phone'] as const)(
    'on a %s, everything that matters is on the first screen',
    async (screen) => {
      const { page } = await demo.visit('', { screen });
      const bottoms = await page
        .locator('h1, .twin, .storm-controls')
        .evaluateAll((all) => all.map((element) => element.getBoundingClientRect().bottom));
      expect(bottoms).toHaveLength(4);
      expect(Math.max(...bottoms)).toBeLessThanOrEqual(screens[screen].height);
    },
  );

  test('who prefers no motion sees the end at once', async () => {
    const { page } = await demo.visit('#/');
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe(
      'Your API is down. A thousand tabs ask again. Watch.',
    );
    expect(await counters(page)).toEqual(['21,971', '24%', '15 s', '9,477', '100%', '62 s']);
    expect(
      await page.getByRole('img').evaluateAll((all) => all.map((one) => one.ariaLabel)),
    ).toEqual([
      'Requests per second: up to 860 while the server is down, up to 824 afterwards. When it is well, it can take 286.',
      'What was asked for while the server was down: 6,067 times. 24% answered, 76% ended in an error.',
      'Requests per second: up to 631 while the server is down, up to 427 afterwards. When it is well, it can take 286.',
      'What was asked for while the server was down: 6,067 times. 100% answered, 0% ended in an error.',
    ]);
  });

  test('it plays by itself for ten seconds, can be paused, and is replayed', async () => {
    const { page, pass } = await demo.visit('', { reducedMotion: 'no-preference' });
    const moment = page.getByRole('slider', { name: 'Moment of the storm' });
    expect(await counters(page)).toEqual(['0', '–', '–', '0', '–', '–']);
    await pass(5000);
    await page.getByRole('button', { name: 'Pause' }).click();
    const paused = await moment.getAttribute('aria-valuetext');
    expect(paused).toMatch(/^(19|20) s after the outage$/);
    await pass(1000);
    expect(await moment.getAttribute('aria-valuetext')).toBe(paused);
    await page.getByRole('button', { name: 'Play' }).click();
    await pass(6000);
    expect(await counters(page)).toEqual(['21,971', '24%', '15 s', '9,477', '100%', '62 s']);
    await page.getByRole('button', { name: 'Replay' }).click();
    expect(await counters(page)).toEqual(['0', '–', '–', '0', '–', '–']);
  });

  test('by keyboard alone, another outage is caused', async () => {
    const { page } = await demo.visit('');
    const first = await counters(page);
    await tabTo(page, page.getByRole('button', { name: 'Cause an outage' }));
    await page.keyboard.press('Enter');
    await page.getByText('Seed 2', { exact: true }).waitFor();
    expect(await counters(page)).toHaveLength(6);
    expect(await counters(page)).not.toEqual(first);
  });

  test('the moment is chosen by keyboard', async () => {
    const { page } = await demo.visit('');
    const moment = page.getByRole('slider', { name: 'Moment of the storm' });
    await moment.focus();
    await page.keyboard.press('Home');
    expect(await moment.getAttribute('aria-valuetext')).toBe('10 s before the outage');
    for (let step = 0; step < 15; step++) await page.keyboard.press('ArrowRight');
    expect(await moment.getAttribute('aria-valuetext')).toBe('5 s into the outage');
    expect(await counters(page)).toEqual(['2,234', '0%', '–', '2,699', '0%', '–']);
  });

  test('the install line is copied, with the package that it needs beside it', async () => {
    const { page } = await demo.visit('');
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('button', { name: 'Copy the install command' }).click();
    await page.locator('.copy-told', { hasText: 'Copied' }).waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(
      'npm install steadfetch @tanstack/react-query',
    );
  });

  test('in forced colours, each shape differs from the paper and from what it lies beside', async () => {
    const { page } = await demo.visit('#/');
    await page.emulateMedia({ forcedColors: 'active' });
    const colours = await page.evaluate(() => {
      const fillOf = (selector: string): string => {
        const shape = document.querySelector(selector);
        return shape ? getComputedStyle(shape).fill : 'none';
      };
      const paper = getComputedStyle(document.body).backgroundColor;
      const names = ['load', 'over', 'answered path', 'error path'];
      return { paper, fills: names.map((name) => fillOf(`.chart-${name}`)) };
    });
    expect(new Set(colours.fills).size).toBeGreaterThanOrEqual(3);
    expect(colours.fills).not.toContain(colours.paper);
    expect(colours.fills).not.toContain('none');
    const text = await page
      .locator('.chart-answered text')
      .first()
      .evaluate((element) => getComputedStyle(element).stroke);
    expect(colours.fills).not.toContain(text);
  });

  test('with text at 200 % nothing is wider than the screen', async () => {
    const { page } = await demo.visit('');
    await page.addStyleTag({ content: 'html { font-size: 200% }' });
    for (const screen of ['desktop', 'phone'] as const) {
      await page.setViewportSize(screens[screen]);
      const overhang = await page.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
      );
      expect(overhang, screen).toBe(0);
    }
  });

  test('every text can be read, nothing is wider than the screen, and axe finds nothing', async () => {
    const { page } = await demo.visit('');
    await expectReadable(page);
    // axe waits for timers.
    await page.clock.resume();
    for (const screen of ['desktop', 'phone'] as const) {
      await page.setViewportSize(screens[screen]);
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        expect(await auditPage(page), `${screen}, ${colorScheme}`).toEqual([]);
      }
    }
  });
});

/** The rows of the table of figures: what it is, and the figure of either side. */
const figuresOf = (page: Page): Promise<string[][]> =>
  page
    .getByRole('table', { name: 'The figures of this storm' })
    .getByRole('row')
    .evaluateAll((rows) =>
      rows.map(({ children }) => [...children].map((cell) => cell.textContent)),
    );

describe('the lab', () => {
  const small = { ...firstSettings, tabs: 100, outageS: 10, rival: 'ky', seed: 7 } as const;

  test('by keyboard alone, a storm is chosen and run: its figures are those of the simulation', async () => {
    const { page } = await demo.visit('');
    const choose = async (label: string, keys: string): Promise<void> => {
      await tabTo(page, page.getByLabel(label, { exact: true }));
      await page.keyboard.type(keys);
    };
    await choose('Tabs', '100');
    await choose('For how many seconds', '10');
    await choose('Beside Steadfetch', 'ky');
    await choose('Seed', '7');
    await page.keyboard.press('Enter');
    await page.getByRole('region', { name: 'One user: Steadfetch' }).waitFor();
    await page.getByRole('progressbar').waitFor({ state: 'detached' });

    const scenario = toScenario(small);
    const sides = [await runLabStorm('ky', scenario), await runLabStorm('steadfetch', scenario)];
    const shown = await figuresOf(page);
    expect(shown.slice(0, 2)).toEqual([
      ['', 'ky', 'Steadfetch'],
      [
        'Requests while the server was down',
        ...sides.map(({ figures }) => figures.outageRequests.toLocaleString('en')),
      ],
    ]);
    expect(shown[3]).toEqual([
      'Requests in the whole run',
      ...sides.map(({ figures }) => figures.requests.toLocaleString('en')),
    ]);
    const users = page.locator('.user h4');
    expect(await users.allTextContents()).toEqual([
      expect.stringMatching(/^ky \d+ requests$/),
      expect.stringMatching(/^Steadfetch \d+ requests$/),
    ]);
    expect(await page.locator('.user-end').count()).toBe(12);
    await page.clock.resume();
    await expectReadable(page);
    expect(await auditPage(page)).toEqual([]);
  });

  test('a large storm is warned of, shows how far it is, and can be cancelled', async () => {
    const { page } = await demo.visit('');
    await typeOver(page.getByLabel('Tabs', { exact: true }), '5000');
    await typeOver(page.getByLabel('Each asks every … seconds'), '1');
    await page.getByText('This is a large one: it takes about 89 s').waitFor();
    await page.getByRole('button', { name: 'Run this storm' }).click();
    await page.getByRole('progressbar', { name: 'The run' }).waitFor();
    await expect.poll(() => page.workers()).not.toEqual([]);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('progressbar').waitFor({ state: 'detached' });
    // The browser tells of the end of a worker a moment after the page has asked for it.
    await expect.poll(() => page.workers()).toEqual([]);
  });

  test.each([
    ['React Query', 'It answers 503 at once'],
    ['ky', 'It does not answer at all'],
    ['axios-retry', 'Connections break'],
    ['cockatiel', 'It answers 503 at once'],
    ['Full jitter, budget', 'It does not answer at all'],
    ['No retry', 'Connections break'],
  ])('%s is run, and so is its one user (%s)', async (rival, kind) => {
    const { page } = await demo.visit('');
    await typeOver(page.getByLabel('Tabs', { exact: true }), '20');
    await typeOver(page.getByLabel('For how many seconds'), '2');
    await page.getByLabel('How the server fails').selectOption(kind);
    const names = page.getByLabel('Beside Steadfetch');
    const option = names.locator('option', { hasText: new RegExp(`^${rival}: `) });
    await names.selectOption((await option.textContent()) ?? '');
    await page.getByRole('button', { name: 'Run this storm' }).click();
    await page.getByRole('region', { name: 'One user: Steadfetch' }).waitFor();
    await page.getByRole('progressbar').waitFor({ state: 'detached' });
    expect((await figuresOf(page))[0]).toEqual(['', rival, 'Steadfetch']);
    const users = await page.locator('.user h4').allTextContents();
    expect(users[0]?.toLowerCase()).toMatch(new RegExp(`^${rival.toLowerCase()} \\d+ requests$`));
  });

  test('where half of the endpoints are down there is no one user, and the page says why', async () => {
    const { page } = await demo.visit('');
    await typeOver(page.getByLabel('Tabs', { exact: true }), '20');
    await typeOver(page.getByLabel('For how many seconds'), '2');
    await page.getByLabel('How the server fails').selectOption('Half of its endpoints answer 503');
    await page.getByRole('button', { name: 'Run this storm' }).click();
    await page.getByText(/half of whose endpoints answer 503/).waitFor();
    await page.getByText('There is no picture of one user here').waitFor();
    await page.getByRole('table', { name: 'The figures of this storm' }).waitFor();
    expect(await page.locator('.user').count()).toBe(0);
  });
});
