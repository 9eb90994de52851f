import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { expectReadable } from './expect-readable.ts';
import { type Demo, openDemo } from './open-demo.ts';
import type { Visitor } from './visitor.ts';

let demo: Demo;
beforeAll(async () => {
  demo = await openDemo();
});
afterEach(() => demo.leave());
afterAll(() => demo.close());

const overloaded = 'The server is overloaded (503)';

/** The roles and names of everything below a region, one to a line. */
const treeOf = ({ page }: Visitor, role: 'main' | 'complementary' | 'region', name?: string) =>
  page.getByRole(role, name === undefined ? {} : { name }).ariaSnapshot();

describe('for assistive technology', () => {
  test('the status in the place of the products has roles and names', async () => {
    const visitor = await demo.visit('#503-twice');
    await visitor.answered(1, overloaded);
    expect((await treeOf(visitor, 'main')).split('\n')).toEqual([
      '- main:',
      '  - heading "Kites that hold in any wind." [level=1]',
      '  - region "Catalogue":',
      '    - heading "Catalogue" [level=2]',
      '    - group "Catalogue status":',
      `      - paragraph: ${overloaded}`,
      '      - paragraph: Attempt 1 of 4 failed. The page tries again by itself.',
      '      - paragraph:',
      '        - text: Next attempt in',
      '        - timer "Next attempt in": 2 s',
      '      - button "Retry now"',
      '      - button "Cancel"',
    ]);
  });

  test('the scenarios are one group of radio buttons, of which one is checked', async () => {
    const { page } = await demo.visit('#404');
    const group = page.getByRole('group', { name: 'What should the API do?' });
    const radios = await group.getByRole('radio').all();
    expect(await Promise.all(radios.map((radio) => radio.ariaSnapshot()))).toEqual([
      '- radio "Healthy"',
      '- radio "503 twice"',
      '- radio "Outage"',
      '- radio "Offline"',
      '- radio "429 seconds"',
      '- radio "429 date"',
      '- radio "Time-out"',
      '- radio "Cut body"',
      '- radio "404" [checked]',
      '- radio "500 for ever"',
    ]);
  });

  test('the picture is an image that says in words what it shows', async () => {
    const visitor = await demo.visit('#503-twice');
    await visitor.answered(1, overloaded);
    await visitor.pass(1500);
    await visitor.arrives(2);
    const names = await visitor.page
      .getByRole('img')
      .evaluateAll((images) => images.map((image) => image.getAttribute('aria-label')));
    expect(names).toEqual(['Attempt 1: 503, then a wait of 1.5 s. Attempt 2: sending.']);
  });

  test('the live regions are there, empty, before they have anything to tell', async () => {
    const { page } = await demo.visit('#offline');
    // As they stood in the very first picture of the page.
    const first = await page.evaluate(() => window.sightings.regionsAtFirst);
    expect(first).toEqual(['status: ', 'alert: ']);
  });

  test('the countdown runs outside of every live region', async () => {
    const visitor = await demo.visit('#503-twice');
    await visitor.answered(1, overloaded);
    const { told } = await visitor.sightings();
    const timer = visitor.page.getByRole('timer');
    expect(await timer.textContent()).toBe('2 s');
    await visitor.pass(700);
    expect(await timer.textContent()).toBe('1 s');
    expect((await visitor.sightings()).told).toEqual(told);
    const live = '[aria-live], [role=status], [role=alert], [role=log]';
    expect(await timer.evaluate((node, regions) => node.closest(regions), live)).toBeNull();
  });
});

/** Moments of a visit that look different. */
const moments: readonly (readonly [string, (visitor: Visitor) => Promise<void>])[] = [
  ['#503-twice', (visitor) => visitor.answered(1, overloaded)],
  ['#429-seconds', (visitor) => visitor.answered(1, 'The server asks for a pause (429)')],
  ['#timeout', (visitor) => visitor.arrives(1)],
  ['#offline/loaded', (visitor) => visitor.sees('You are offline')],
  [
    '#outage',
    async (visitor) => {
      for (const [index, waitMs] of [375, 750].entries()) {
        await visitor.answered(index + 1, overloaded);
        await visitor.pass(waitMs);
      }
      await visitor.answered(3, 'The server is down');
    },
  ],
  ['#404', (visitor) => visitor.answered(1, 'The catalogue did not load')],
  ['#healthy', (visitor) => visitor.answered(1, 'Up to date')],
  ['#outbox/offline', (visitor) => visitor.page.locator('.outbox').waitFor()],
];

describe.each(moments)('at %s', (hash, reach) => {
  test('every text can be read and nothing is wider than the screen, light and dark', async () => {
    const visitor = await demo.visit(hash);
    await reach(visitor);
    await expectReadable(visitor.page);
  });
});

test.each([
  ['light', 'rgb(227, 238, 245)'],
  ['dark', 'rgb(10, 20, 29)'],
] as const)('in the %s scheme the page is %s', async (colorScheme, colour) => {
  const { page } = await demo.visit('#healthy', { colorScheme });
  const canvas = page.locator('html');
  expect(await canvas.evaluate((html) => getComputedStyle(html).backgroundColor)).toBe(colour);
});

test.each(['desktop', 'phone'] as const)(
  'on a %s nothing moves when the status changes',
  async (screen) => {
    const visitor = await demo.visit('#503-twice', { screen });
    const layout = () =>
      visitor.page.evaluate(() =>
        ['.recorder', '.policy', '.kite:first-child .kite-sky', '.kite:last-child'].map(
          (selector) => {
            const box = document.querySelector(selector)?.getBoundingClientRect();
            return `${selector}: ${box?.top} ${box?.left} ${box?.width} ${box?.height}`;
          },
        ),
      );
    await visitor.arrives(1);
    const before = await layout();
    await visitor.answered(1, overloaded);
    expect(await layout()).toEqual(before);
    await visitor.press('Cancel');
    await visitor.sees('The catalogue did not load');
    expect(await layout()).toEqual(before);
    await visitor.press('Retry now');
    await visitor.answered(2, overloaded);
    await visitor.pass(1500);
    await visitor.answered(3, 'Up to date');
    expect(await layout()).toEqual(before);
  },
);

test.each([
  ['reduce', 0],
  ['no-preference', 1],
] as const)('with prefers-reduced-motion: %s, %i things move', async (reducedMotion, moving) => {
  const visitor = await demo.visit('#timeout', { reducedMotion });
  await visitor.arrives(1);
  expect(await visitor.page.evaluate(() => document.getAnimations().length)).toBe(moving);
});
