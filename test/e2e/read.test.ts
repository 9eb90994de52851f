import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type Actor, asActor } from './actor.ts';
import { type Demo, openDemo } from './open-demo.ts';

let demo: Demo;
beforeAll(async () => {
  demo = await openDemo();
});
afterEach(() => demo.leave());
afterAll(() => demo.close());

const enter = async (trouble: string): Promise<Actor> =>
  asActor(await demo.visit(`#/read/${trouble}`));

const unavailable = 'The server is unavailable (503)';
const aMinute = 60_000;

describe('what each side does in each trouble, and what it comes to', () => {
  test('down for 10 s: React Query alone gives up, and Steadfetch waits for the server', async () => {
    const actor = await enter('outage');
    await actor.answered(1);
    await actor.tells('alone', '503, waiting');
    await actor.says(unavailable);
    await actor.play('alone', 'steady');
    await actor.tells('alone', '503, waited 1 s, 503, waited 2 s, 503, waited 4 s, 503, failed');
    await actor.page.getByRole('alert').getByText('Something went wrong.').waitFor();
    await actor.tells(
      'steady',
      '503, waited 1 s, 503, paused 1.3 s (server down), 503, paused 0.8 s (server down), 503, paused 1.1 s (server down), 503, paused 1 s (server down), 503, paused 2.5 s (server down), 200',
    );
    await actor.concludes(
      'Failed after 8.6 s',
      'Answered after 10 s',
      'React Query alone sent 4 and gave up. Steadfetch sent 7 and got its answer.',
    );
    expect(actor.sent()).toEqual({ alone: 4, steady: 7 });
  });

  test('503 twice: both recover, after as many requests', async () => {
    const actor = await enter('503-twice');
    await actor.answered(1);
    await actor.tells('alone', '503, waiting');
    await actor.tells('steady', '503, waiting');
    await actor.due('alone', 'steady');
    await actor.answered(2);
    await actor.tells('alone', '503, waited 1 s, 503, waiting');
    await actor.play('steady');
    await actor.tells('steady', '503, waited 1 s, 503, paused 1.3 s (server down), 200');
    await actor.due('alone');
    await actor.arrives({ alone: 3 });
    await actor.pass(400);
    await actor.tells('alone', '503, waited 1 s, 503, waited 2 s, 200');
    await actor.concludes(
      'Answered after 4.2 s',
      'Answered after 3.5 s',
      'Both recovered by themselves.',
    );
    // React Query tells its observers in a timer.
    await actor.pass(1);
    expect(await actor.page.getByRole('list', { name: 'Kites' }).count()).toBe(2);
  });

  test('no answer: Steadfetch gives the request up after 10 s, and React Query alone never does', async () => {
    const actor = await enter('hang');
    await actor.arrives({ alone: 1, steady: 1 });
    await actor.pass(10_000);
    await actor.tells('steady', 'timed out, waiting');
    await actor.says('The server did not answer in time');
    await actor.due('steady');
    await actor.arrives({ steady: 2 });
    await actor.pass(400);
    await actor.tells('steady', 'timed out, waited 1 s, 200');
    await actor.pass(aMinute);
    await actor.tells('alone', 'sending');
    await actor.concludes('No answer yet', 'Answered after 11 s', '');
    expect(actor.sent()).toEqual({ alone: 1, steady: 2 });
  });

  test.each(['429', '429-date'])(
    '%s: the server says when, and only Steadfetch keeps to it',
    async (trouble) => {
      const actor = await enter(trouble);
      await actor.answered(1);
      await actor.tells('alone', '429, waiting');
      await actor.says('The server asks for a pause (429)');
      await actor.due('alone');
      await actor.arrives({ alone: 2 });
      await actor.pass(400);
      await actor.tells('alone', '429, waited 1 s, 429, waiting');
      await actor.due('alone');
      await actor.arrives({ alone: 3 });
      await actor.pass(400);
      await actor.tells('alone', '429, waited 1 s, 429, waited 2 s, 429, waiting');
      await actor.due('steady');
      await actor.arrives({ steady: 2 });
      await actor.pass(400);
      await actor.page.locator('.verdict[data-side=steady][data-tone=ok]').waitFor();
      expect(actor.sent()).toEqual({ alone: 3, steady: 2 });
    },
  );

  test('cut off: half an answer is a failure on both sides', async () => {
    const actor = await enter('cut-body');
    await actor.answered(1);
    await actor.tells('alone', '200, cut off, waiting');
    await actor.tells('steady', '200, cut off, waiting');
    await actor.says('The answer broke off');
    await actor.due('alone', 'steady');
    await actor.answered(2);
    await actor.concludes(
      'Answered after 1.8 s',
      'Answered after 1.8 s',
      'Both recovered by themselves.',
    );
    expect(actor.sent()).toEqual({ alone: 2, steady: 2 });
  });

  test('404: asking again helps nobody, and Steadfetch does not', async () => {
    const actor = await enter('404');
    await actor.answered(1);
    await actor.tells('steady', '404, failed');
    await actor.says('This could not be loaded');
    await actor.play('alone');
    await actor.concludes(
      'Failed after 8.6 s',
      'Failed after 0.4 s',
      'No request could help here. Steadfetch sent 1, React Query alone 4.',
    );
    await actor.pass(aMinute);
    expect(actor.sent()).toEqual({ alone: 4, steady: 1 });
  });

  test('500, always: both give up', async () => {
    const actor = await enter('500');
    await actor.answered(1);
    await actor.tells('steady', '500, waiting');
    await actor.play('alone', 'steady');
    await actor.tells('alone', '500, waited 1 s, 500, waited 2 s, 500, waited 4 s, 500, failed');
    await actor.tells(
      'steady',
      '500, waited 1 s, 500, paused 1.3 s (server down), 500, paused 0.8 s (server down), 500, paused 1.1 s (server down), 500, paused 1 s (server down), 500, paused 2.5 s (server down), 500, paused 3.9 s (server down), 500, failed',
    );
    await actor.says('This could not be loaded');
    await actor.page
      .getByText('No request could help here. Steadfetch sent 8, React Query alone 4.')
      .first()
      .waitFor();
    await actor.pass(aMinute);
    expect(actor.sent()).toEqual({ alone: 4, steady: 8 });
  });

  test('healthy: one request on each side', async () => {
    const actor = await enter('healthy');
    await actor.answered(1);
    await actor.concludes('Answered after 0.4 s', 'Answered after 0.4 s', 'Nothing went wrong.');
    expect(actor.sent()).toEqual({ alone: 1, steady: 1 });
  });

  test('offline: both are paused, and sent once the device is back', async () => {
    const actor = await enter('offline');
    await actor.tells('alone', 'paused (offline)');
    await actor.tells('steady', 'paused (offline)');
    await actor.says('You are offline');
    await actor.pass(aMinute);
    expect(actor.sent()).toEqual({ alone: 0, steady: 0 });
    expect(await actor.page.getByRole('timer').count()).toBe(0);
    await actor.press('Go online');
    await actor.answered(1);
    await actor.tells('alone', 'paused 60 s (offline), 200');
    await actor.tells('steady', 'paused 60 s (offline), 200');
  });
});

describe('the controls of Steadfetch', () => {
  test('Retry now ends the wait, and goes on in the same line; twenty presses are one request', async () => {
    const actor = await enter('503-twice');
    await actor.answered(1);
    await actor.says(unavailable);
    await actor.page.getByRole('button', { name: 'Retry now' }).evaluate((button) => {
      for (let press = 0; press < 20; press += 1) (button as HTMLButtonElement).click();
    });
    await actor.arrives({ steady: 2 });
    await actor.pass(400);
    await actor.says('This is not available right now');
    await actor.press('Retry now');
    await actor.arrives({ steady: 3 });
    await actor.pass(400);
    await actor.concludes('No answer yet', 'Answered after 1.2 s', '');
    expect(actor.sent().steady).toBe(3);
  });

  test('Retry now offline sends one request, and nothing says that it would not', async () => {
    const actor = await enter('offline');
    await actor.says('You are offline');
    expect(await actor.page.locator('main').textContent()).not.toMatch(/spen[dt]|used up/);
    await actor.press('Retry now');
    await actor.says('No answer from the server');
    await actor.pass(aMinute);
    expect(actor.sent()).toEqual({ alone: 0, steady: 1 });
  });

  test('Cancel ends it, and nothing more is sent', async () => {
    const actor = await enter('503-twice');
    await actor.answered(1);
    await actor.says(unavailable);
    await actor.press('Cancel');
    await actor.says('This could not be loaded');
    await actor.tells('steady', '503, waited 0 s, cancelled');
    await actor.pass(aMinute);
    expect(actor.sent().steady).toBe(1);
  });
});

describe('a run', () => {
  test('of another trouble begins anew, and drops what was under way', async () => {
    const actor = await enter('503-twice');
    await actor.answered(1);
    await actor.says(unavailable);
    await actor.choose('Healthy');
    // Until then it is the run before that shows one request.
    await actor.tells('alone', 'sending');
    await actor.tells('steady', 'sending');
    await actor.answered(1);
    await actor.concludes('Answered after 0.4 s', 'Answered after 0.4 s', 'Nothing went wrong.');
    await actor.pass(aMinute);
    await actor.tells('steady', '200');
    expect(actor.sent()).toEqual({ alone: 2, steady: 2 });
  });

  test('Ask again begins anew', async () => {
    const actor = await enter('404');
    await actor.answered(1);
    await actor.tells('steady', '404, failed');
    await actor.press('Ask again');
    await actor.tells('alone', 'sending');
    await actor.tells('steady', 'sending');
    await actor.answered(1);
    await actor.tells('steady', '404, failed');
    expect(actor.sent().steady).toBe(2);
  });

  test('is kept over a reload, with all that was drawn, and the server is still down then', async () => {
    const actor = await enter('outage');
    await actor.answered(1);
    await actor.tells('alone', '503, waiting');
    await actor.reload();
    await actor.arrives({ alone: 2, steady: 2 });
    await actor.tells('alone', '503, waited 0 s, left; then sending');
    await actor.tells('steady', '503, waited 0 s, left; then sending');
    await actor.pass(400);
    await actor.tells('steady', '503, waited 0 s, left; then 503, waiting');
    expect(actor.sent()).toEqual({ alone: 2, steady: 2 });
  });

  test('is there again after another act was looked at', async () => {
    const actor = await enter('404');
    await actor.answered(1);
    await actor.tells('steady', '404, failed');
    await actor.page.getByRole('link', { name: 'Order it' }).click();
    await actor.page.getByRole('heading', { name: 'Order it' }).waitFor();
    await actor.page.goBack();
    await actor.page.getByRole('heading', { name: 'Read it' }).waitFor();
    expect(
      await actor.page.locator('.track[data-side=steady] [role=img]').getAttribute('aria-label'),
    ).toMatch(/^Steadfetch: 404, failed/);
  });
});
