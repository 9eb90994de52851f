import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type Demo, openDemo } from './open-demo.ts';
import type { Visitor } from './visitor.ts';

let demo: Demo;
beforeAll(async () => {
  demo = await openDemo();
});
afterEach(() => demo.leave());
afterAll(() => demo.close());

const overloaded = 'The server is overloaded (503)';

/** Long enough for whatever was left behind to send something. */
const aMinute = 60_000;

const detailOf = ({ page }: Visitor): Promise<string | null> =>
  page.locator('.status-detail').textContent();

/** What has the keyboard, as its role and name. */
const focused = ({ page }: Visitor): Promise<string> =>
  page.evaluate(() => {
    const { activeElement: element } = document;
    return element instanceof HTMLInputElement
      ? (element.labels?.[0]?.textContent ?? '')
      : (element?.textContent ?? '');
  });

describe('Retry now', () => {
  test('ends the wait: the next request goes out in the same moment', async () => {
    const visitor = await demo.visit('#503-twice');
    await visitor.answered(1, overloaded);
    await visitor.press('Retry now');
    await visitor.answered(2, overloaded);
    await visitor.press('Retry now');
    await visitor.answered(3, 'Up to date');
    const { seen } = await visitor.sightings();
    expect(seen).toEqual([
      'Loading the catalogue',
      overloaded,
      'Loading the catalogue',
      overloaded,
      'Loading the catalogue',
      'Up to date + products',
    ]);
    await visitor.pass(aMinute);
    expect(visitor.sentCount()).toBe(3);
  });

  test('pressed twenty times is one request', async () => {
    const visitor = await demo.visit('#503-twice');
    await visitor.answered(1, overloaded);
    await visitor.page.getByRole('button', { name: 'Retry now' }).evaluate((button) => {
      for (let press = 0; press < 20; press += 1) (button as HTMLButtonElement).click();
    });
    await visitor.answered(2, overloaded);
    expect(visitor.sentCount()).toBe(2);
  });

  test('tries once although the device is offline, and is paused again', async () => {
    const visitor = await demo.visit('#offline');
    await visitor.sees('You are offline');
    await visitor.press('Retry now');
    await visitor.sees('The server could not be reached');
    await visitor.pass(1500);
    await visitor.sees('You are offline');
    await visitor.pass(aMinute);
    expect(await visitor.picture()).toEqual([
      '–: paused, offline',
      '1: no answer, waited 1500 of 1500 ms',
      '–: paused, offline',
    ]);
    expect(visitor.sentCount()).toBe(1);
  });

  test('ends a pause: the next request goes out although the server is down', async () => {
    const visitor = await demo.visit('#outage');
    for (const [index, waitMs] of [375, 750].entries()) {
      await visitor.answered(index + 1, overloaded);
      await visitor.pass(waitMs);
    }
    await visitor.answered(3, 'The server is down');
    for (const request of [4, 5]) {
      await visitor.press('Retry now');
      await visitor.answered(request, 'The server is down');
    }
    await visitor.press('Retry now');
    await visitor.answered(6, 'Up to date');
    await visitor.pass(aMinute);
    expect(visitor.sentCount()).toBe(6);
  });

  test('keeps the keyboard where it is, up to the Reload that it becomes', async () => {
    const visitor = await demo.visit('#503-twice');
    await visitor.answered(1, overloaded);
    await visitor.page.getByRole('button', { name: 'Retry now' }).focus();
    await visitor.page.keyboard.press('Enter');
    await visitor.arrives(2);
    expect(await focused(visitor)).toBe('Retry now');
    await visitor.answered(2, overloaded);
    await visitor.pass(1500);
    await visitor.answered(3, 'Up to date');
    expect(await focused(visitor)).toBe('Reload');
  });
});

describe('Cancel', () => {
  test('ends the wait with the failure that it waited for, and nothing more is sent', async () => {
    const visitor = await demo.visit('#503-twice');
    await visitor.answered(1, overloaded);
    await visitor.press('Cancel');
    await visitor.sees('The catalogue did not load');
    expect(await detailOf(visitor)).toBe(`${overloaded}. Stopped: you pressed Cancel.`);
    expect((await visitor.sightings()).told).toEqual([
      'Loading the catalogue.',
      `${overloaded}. Trying again in 2 seconds.`,
      'Cancelled. The catalogue did not load.',
    ]);
    await visitor.pass(aMinute);
    expect(visitor.sentCount()).toBe(1);
  });

  test('ends a request under way', async () => {
    const visitor = await demo.visit('#timeout');
    await visitor.arrives(1);
    await visitor.press('Cancel');
    await visitor.sees('The catalogue did not load');
    expect(await visitor.picture()).toEqual(['1: cancelled, stopped']);
    await visitor.pass(aMinute);
    expect(visitor.sentCount()).toBe(1);
  });

  test('leaves Retry now to begin again', async () => {
    const visitor = await demo.visit('#503-twice');
    await visitor.answered(1, overloaded);
    await visitor.press('Cancel');
    await visitor.sees('The catalogue did not load');
    await visitor.press('Retry now');
    await visitor.answered(2, overloaded);
    await visitor.pass(1500);
    await visitor.answered(3, 'Up to date');
    expect(await visitor.picture()).toEqual(['1: 503, waited 1500 of 1500 ms', '2: 200, loaded']);
  });

  test('of a pause leaves it until somebody asks again', async () => {
    const visitor = await demo.visit('#offline');
    await visitor.sees('You are offline');
    await visitor.press('Cancel');
    await visitor.sees('The catalogue did not load');
    await visitor.pass(aMinute);
    expect(visitor.sentCount()).toBe(0);
  });
});

describe('what is on the page stays there while it is fetched anew', () => {
  test('Reload: through every failed attempt', async () => {
    const visitor = await demo.visit('#503-twice/loaded');
    await visitor.answered(1, overloaded);
    await visitor.pass(1500);
    await visitor.answered(2, overloaded);
    await visitor.pass(3000);
    await visitor.answered(3, 'Up to date');
    await visitor.press('Reload');
    await visitor.answered(1, overloaded);
    expect((await visitor.sightings()).seen).toEqual([
      'Looking for changes + products',
      `${overloaded} + products`,
      'Trying again + products',
      `${overloaded} + products`,
      'Trying again + products',
      'Up to date + products',
      'Looking for changes + products',
      `${overloaded} + products`,
    ]);
    expect(visitor.sentCount()).toBe(4);
  });

  test('also when it fails for good', async () => {
    const visitor = await demo.visit('#404/loaded');
    await visitor.answered(1, 'Could not check for changes');
    expect(await visitor.sightings()).toEqual({
      seen: ['Looking for changes + products', 'Could not check for changes + products'],
      told: [
        'Looking for changes.',
        'ALERT Could not check for changes. There is nothing at this address (404).',
      ],
    });
    expect(await visitor.page.getByRole('heading', { level: 3 }).count()).toBe(8);
  });

  test('and while it is paused', async () => {
    const visitor = await demo.visit('#offline/loaded');
    await visitor.sees('You are offline');
    await visitor.press('Go back online');
    await visitor.answered(1, 'Up to date');
    expect((await visitor.sightings()).seen.at(-1)).toBe('Up to date + products');
    expect(visitor.sentCount()).toBe(1);
  });
});

describe('another scenario', () => {
  test('in the middle of a wait drops it', async () => {
    const visitor = await demo.visit('#503-twice');
    await visitor.answered(1, overloaded);
    await visitor.choose('Healthy');
    await visitor.answered(1, 'Up to date');
    await visitor.pass(aMinute);
    expect(await visitor.picture()).toEqual(['1: 200, loaded']);
    expect(visitor.sentCount()).toBe(2);
  });

  test('in the middle of a request drops that', async () => {
    const visitor = await demo.visit('#timeout');
    await visitor.arrives(1);
    await visitor.choose('404');
    await visitor.answered(1, 'The catalogue did not load');
    await visitor.pass(aMinute);
    expect(await visitor.picture()).toEqual(['1: 404, stopped']);
    expect(visitor.sentCount()).toBe(2);
  });

  test('takes the device online again', async () => {
    const visitor = await demo.visit('#offline');
    await visitor.sees('You are offline');
    await visitor.choose('Healthy');
    await visitor.answered(1, 'Up to date');
    await visitor.pass(aMinute);
    expect(visitor.sentCount()).toBe(1);
  });

  test('is in the URL, and the way back leads to the one before', async () => {
    const visitor = await demo.visit('#503-twice');
    const { page } = visitor;
    await visitor.choose('404');
    await visitor.answered(1, 'The catalogue did not load');
    expect(new URL(page.url()).hash).toBe('#404');
    await page.goBack();
    await visitor.sees('Loading the catalogue');
    await visitor.answered(1, overloaded);
    expect(await page.getByRole('radio', { name: '503 twice' }).isChecked()).toBe(true);
  });

  test('can be chosen with the arrow keys', async () => {
    const visitor = await demo.visit('#healthy');
    // After the two pages of the shop.
    for (const name of ['Catalogue', 'Checkout', 'Outbox', 'Healthy']) {
      await visitor.page.keyboard.press('Tab');
      expect(await focused(visitor)).toBe(name);
    }
    // The first request of the next scenario is not to be taken for that of this one.
    await visitor.answered(1, 'Up to date');
    await visitor.page.keyboard.press('ArrowRight');
    expect(await focused(visitor)).toBe('503 twice');
    await visitor.sees('Loading the catalogue');
    await visitor.answered(1, overloaded);
  });
});

test('Start over begins the same scenario again, on an empty page', async () => {
  const visitor = await demo.visit('#cut-body');
  await visitor.answered(1, 'The answer broke off half-way');
  await visitor.press('Start over');
  await visitor.answered(1, 'The answer broke off half-way');
  await visitor.pass(1500);
  await visitor.answered(2, 'Up to date');
  await visitor.press('Start over');
  await visitor.sees('Loading the catalogue');
  expect((await visitor.sightings()).seen.at(-1)).toBe('Loading the catalogue');
});

test('a hash that names no scenario shows one that has something to show', async () => {
  const { page } = await demo.visit('#nonsense');
  expect(await page.getByRole('radio', { name: '503 twice' }).isChecked()).toBe(true);
});

test('a wait that ends while the tab is hidden is paused until somebody looks', async () => {
  const visitor = await demo.visit('#503-twice');
  const { page } = visitor;
  const show = (state: DocumentVisibilityState): Promise<void> =>
    page.evaluate((visibilityState) => {
      Object.defineProperty(document, 'visibilityState', {
        value: visibilityState,
        configurable: true,
      });
      window.dispatchEvent(new Event('visibilitychange'));
    }, state);
  await visitor.answered(1, overloaded);
  await show('hidden');
  await visitor.pass(1500);
  await visitor.sees('Waiting until you look at this tab');
  await visitor.pass(aMinute);
  expect(visitor.sentCount()).toBe(1);
  await show('visible');
  await visitor.answered(2, overloaded);
  expect(await visitor.picture()).toEqual([
    '1: 503, waited 1500 of 1500 ms',
    '–: paused, hidden tab',
    '2: 503, waited 0 of 3000 ms',
  ]);
});
