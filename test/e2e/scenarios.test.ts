import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type Demo, openDemo } from './open-demo.ts';
import type { Visitor } from './visitor.ts';

let demo: Demo;
beforeAll(async () => {
  demo = await openDemo();
});
afterEach(() => demo.leave());
afterAll(() => demo.close());

/** Sent by the page, drawn by the recorder, and counted by the API: they must agree. */
async function expectRequests(visitor: Visitor, requests: number): Promise<void> {
  expect(visitor.sentCount()).toBe(requests);
  const drawn = visitor.page.locator('.recorder-count');
  expect(await drawn.textContent()).toBe(requests === 1 ? '1 request' : `${requests} requests`);
  await visitor.arrives(requests);
}

describe('in each scenario, what one sees and hears, in order, and how many requests there are', () => {
  test('healthy: one request, and the products are there', async () => {
    const visitor = await demo.visit('#healthy');
    await visitor.answered(1, 'Up to date');

    expect(await visitor.sightings()).toEqual({
      seen: ['Loading the catalogue', 'Up to date + products'],
      told: ['Loading the catalogue.', 'The catalogue is up to date.'],
    });
    expect(await visitor.picture()).toEqual(['1: 200, loaded']);
    await expectRequests(visitor, 1);
  });

  test('503 twice: two waits, each longer than the one before, and the products', async () => {
    const visitor = await demo.visit('#503-twice');
    await visitor.answered(1, 'The server is overloaded (503)');
    await visitor.pass(1500);
    await visitor.answered(2, 'The server is overloaded (503)');
    await visitor.pass(3000);
    await visitor.answered(3, 'Up to date');

    expect(await visitor.sightings()).toEqual({
      seen: [
        'Loading the catalogue',
        'The server is overloaded (503)',
        'Trying again',
        'The server is overloaded (503)',
        'Trying again',
        'Up to date + products',
      ],
      told: [
        'Loading the catalogue.',
        'The server is overloaded (503). Trying again in 2 seconds.',
        'Trying again. Attempt 2 of 4 is on its way.',
        'The server is overloaded (503). Trying again in 3 seconds.',
        'Trying again. Attempt 3 of 4 is on its way.',
        'The catalogue is up to date.',
      ],
    });
    expect(await visitor.picture()).toEqual([
      '1: 503, waited 1500 of 1500 ms',
      '2: 503, waited 3000 of 3000 ms',
      '3: 200, loaded',
    ]);
    await expectRequests(visitor, 3);
  });

  test('outage: after three failures it is paused, until the third probe finds the server back', async () => {
    const visitor = await demo.visit('#outage');
    const overloaded = 'The server is overloaded (503)';
    const countdown = () => visitor.page.getByRole('timer').textContent();
    await visitor.answered(1, overloaded);
    await visitor.pass(375);
    await visitor.answered(2, overloaded);
    await visitor.pass(750);
    await visitor.answered(3, 'The server is down');
    expect(await countdown()).toBe('2 s');
    await visitor.pass(1200);
    await visitor.answered(4, 'The server is down');
    expect(await countdown()).toBe('1 s');
    await visitor.pass(800);
    await visitor.answered(5, 'The server is down');
    expect(await countdown()).toBe('1 s');
    await visitor.pass(1000);
    await visitor.answered(6, 'Up to date');

    const down = 'The server is down. The catalogue loads by itself when it is back.';
    expect(await visitor.sightings()).toEqual({
      seen: [
        'Loading the catalogue',
        overloaded,
        'Trying again',
        overloaded,
        'Trying again',
        'The server is down',
        'Trying again',
        'The server is down',
        'Trying again',
        'The server is down',
        'Trying again',
        'Up to date + products',
      ],
      told: [
        'Loading the catalogue.',
        `${overloaded}. Trying again in 1 second.`,
        'Trying again. Attempt 2 of 4 is on its way.',
        `${overloaded}. Trying again in 1 second.`,
        'Trying again. Attempt 3 of 4 is on its way.',
        down,
        'Trying again. Attempt 4 of 4 is on its way.',
        down,
        'Trying again. Attempt 5 of 5 is on its way.',
        down,
        'Trying again. Attempt 6 of 6 is on its way.',
        'The catalogue is up to date.',
      ],
    });
    expect(await visitor.picture()).toEqual([
      '–: paused, server down',
      '5: 503',
      '–: paused, server down',
      '6: 200, loaded',
    ]);
    await expectRequests(visitor, 6);
  });

  test('429 in seconds: one wait, never shorter than the server asks for', async () => {
    const visitor = await demo.visit('#429-seconds');
    await visitor.answered(1, 'The server asks for a pause (429)');
    await visitor.pass(5250);
    await visitor.answered(2, 'Up to date');

    expect(await visitor.sightings()).toEqual({
      seen: [
        'Loading the catalogue',
        'The server asks for a pause (429)',
        'Trying again',
        'Up to date + products',
      ],
      told: [
        'Loading the catalogue.',
        'The server asks for a pause (429). Trying again in 6 seconds.',
        'Trying again. Attempt 2 of 4 is on its way.',
        'The catalogue is up to date.',
      ],
    });
    // 5 s, and half of the tenth that chance may add.
    expect(await visitor.picture()).toEqual([
      '1: 429, Retry-After 5000 ms, waited 5250 of 5250 ms',
      '2: 200, loaded',
    ]);
    await expectRequests(visitor, 2);
  });

  test('429 by date: the date is read against the clock of the server', async () => {
    const visitor = await demo.visit('#429-date');
    await visitor.answered(1, 'The server asks for a pause (429)');
    await visitor.pass(6300);
    await visitor.answered(2, 'Up to date');

    // Dates have whole seconds: Retry-After is rounded up, Date down, so the pause is 6 s here.
    expect(await visitor.picture()).toEqual([
      '1: 429, Retry-After 6000 ms, waited 6300 of 6300 ms',
      '2: 200, loaded',
    ]);
    expect((await visitor.sightings()).told).toEqual([
      'Loading the catalogue.',
      'The server asks for a pause (429). Trying again in 7 seconds.',
      'Trying again. Attempt 2 of 4 is on its way.',
      'The catalogue is up to date.',
    ]);
    await expectRequests(visitor, 2);
  });

  test('time-out: an attempt is given up after 1.5 seconds', async () => {
    const visitor = await demo.visit('#timeout');
    await visitor.arrives(1);
    await visitor.pass(1500);
    await visitor.sees('The server did not answer in time');
    await visitor.pass(1500);
    await visitor.answered(2, 'Up to date');

    expect((await visitor.sightings()).seen).toEqual([
      'Loading the catalogue',
      'The server did not answer in time',
      'Trying again',
      'Up to date + products',
    ]);
    expect(await visitor.picture()).toEqual([
      '1: timed out after 1500 ms, waited 1500 of 1500 ms',
      '2: 200, loaded',
    ]);
    await expectRequests(visitor, 2);
  });

  test('cut body: half an answer is a failed attempt, and never shown', async () => {
    const visitor = await demo.visit('#cut-body');
    await visitor.answered(1, 'The answer broke off half-way');
    await visitor.pass(1500);
    await visitor.answered(2, 'Up to date');

    expect(await visitor.sightings()).toEqual({
      seen: [
        'Loading the catalogue',
        'The answer broke off half-way',
        'Trying again',
        'Up to date + products',
      ],
      told: [
        'Loading the catalogue.',
        'The answer broke off half-way. Trying again in 2 seconds.',
        'Trying again. Attempt 2 of 4 is on its way.',
        'The catalogue is up to date.',
      ],
    });
    expect(await visitor.picture()).toEqual([
      '1: 200, cut, waited 1500 of 1500 ms',
      '2: 200, loaded',
    ]);
    await expectRequests(visitor, 2);
  });

  test('offline: paused without a request or a countdown, and sent once back', async () => {
    const visitor = await demo.visit('#offline');
    await visitor.sees('You are offline');
    await visitor.pass(60_000);
    expect(visitor.sentCount()).toBe(0);
    expect(await visitor.page.getByRole('timer').count()).toBe(0);
    expect(await visitor.picture()).toEqual(['–: paused, offline']);

    await visitor.press('Go back online');
    await visitor.answered(1, 'Up to date');
    expect(await visitor.sightings()).toEqual({
      seen: [
        // Before the first look at the query, nothing is known.
        'Loading the catalogue',
        'You are offline',
        'Loading the catalogue',
        'Up to date + products',
      ],
      told: [
        'You are offline. The catalogue loads by itself when you are back online.',
        'Loading the catalogue.',
        'The catalogue is up to date.',
      ],
    });
    expect(await visitor.picture()).toEqual(['–: paused, offline', '1: 200, loaded']);
    await expectRequests(visitor, 1);
  });

  test('404: it stops at once, says why, and sends nothing more', async () => {
    const visitor = await demo.visit('#404');
    await visitor.answered(1, 'The catalogue did not load');
    await visitor.pass(60_000);

    expect(await visitor.sightings()).toEqual({
      seen: ['Loading the catalogue', 'The catalogue did not load'],
      told: [
        'Loading the catalogue.',
        'ALERT The catalogue did not load. There is nothing at this address (404). Stopped: another attempt would get the same answer.',
      ],
    });
    expect(await visitor.picture()).toEqual(['1: 404, stopped']);
    await expectRequests(visitor, 1);
  });

  test('500 for ever: one retry, then it stops, says why, and sends nothing more', async () => {
    const visitor = await demo.visit('#500');
    await visitor.answered(1, 'Something broke on the server (500)');
    await visitor.pass(1500);
    await visitor.answered(2, 'The catalogue did not load');
    await visitor.pass(60_000);

    expect(await visitor.sightings()).toEqual({
      seen: [
        'Loading the catalogue',
        'Something broke on the server (500)',
        'Trying again',
        'The catalogue did not load',
      ],
      told: [
        'Loading the catalogue.',
        'Something broke on the server (500). Trying again in 2 seconds.',
        'Trying again. Attempt 2 of 4 is on its way.',
        'ALERT The catalogue did not load. Something broke on the server (500). Stopped: a failure of this kind is tried once more and not again.',
      ],
    });
    expect(await visitor.picture()).toEqual(['1: 500, waited 1500 of 1500 ms', '2: 500, stopped']);
    await expectRequests(visitor, 2);
  });
});
