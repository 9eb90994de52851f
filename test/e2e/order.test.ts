import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type Actor, asActor, type Side } from './actor.ts';
import { type Demo, openDemo } from './open-demo.ts';

let demo: Demo;
beforeAll(async () => {
  demo = await openDemo();
});
afterEach(() => demo.leave());
afterAll(() => demo.close());

const enter = async (trouble: string): Promise<Actor> =>
  asActor(await demo.visit(`#/order/${trouble}`));

/** Long enough for whatever was left behind to send something. */
const aMinute = 60_000;

const order = ({ press }: Actor): Promise<void> => press('Order on both sides');

/** The button of one form. */
const pressOn = ({ page }: Actor, side: Side, button: string): Promise<void> =>
  page
    .locator(`.pane[data-side=${side}]`)
    .getByRole('button', { name: button, exact: true })
    .click();

/** How many keys there are among how many requests. */
const keysOf = (actor: Actor, side: Side): string => {
  const keys = actor.keys()[side];
  return `${new Set(keys).size} in ${keys.length}`;
};

/** What the shop of a side has booked, a line for each. */
const ledger = async ({ page }: Actor, side: Side): Promise<string[]> => {
  const rows = await page.locator(`.pane[data-side=${side}] .ledger li`).allTextContents();
  return rows.map((row) => row.replace(/ key \S+?(?= Duplicate|$)/, ''));
};

/** The text of what has the keyboard. */
const focused = ({ page }: Actor): Promise<string | null | undefined> =>
  page.evaluate(() => document.activeElement?.textContent);

const twice = 'A new key is a new order. The same key is the same order.';

describe('what is booked in each trouble, and what it comes to', () => {
  test('the answer is lost: two kites, and one with Steadfetch, at the same pace', async () => {
    const actor = await enter('lost');
    await order(actor);
    await actor.answered(1);
    await actor.tells('alone', 'no answer, waiting');
    await actor.tells('steady', 'no answer, waiting');
    await actor.says('No answer from the server');
    await actor.concludes('1 kite', '1 kite', '');
    await actor.due('alone', 'steady');
    await actor.answered(2);
    await actor.tells('alone', 'no answer, waited 1 s, 201');
    await actor.tells('steady', 'no answer, waited 1 s, 201');
    await actor.concludes('2 kites', '1 kite', twice);
    expect(await ledger(actor, 'alone')).toEqual(['1 Kestrel', '1 Kestrel Duplicate']);
    expect(await ledger(actor, 'steady')).toEqual(['1 Kestrel']);
    expect([keysOf(actor, 'alone'), keysOf(actor, 'steady')]).toEqual(['2 in 2', '1 in 2']);
  });

  test('the answer is lost, the page reloaded, and ordered again: the same', async () => {
    const actor = await enter('lost');
    await order(actor);
    await actor.answered(1);
    await actor.says('No answer from the server');
    await actor.reload();
    // Only while something is under way.
    expect(actor.askedCount()).toBe(1);
    await actor.says('It is not known whether what you sent before has arrived');
    await actor.pass(aMinute);
    await order(actor);
    await actor.answered(2);
    await actor.concludes('2 kites', '1 kite', twice);
    await actor.tells('steady', 'no answer, waited 0 s, left; then 201');
    expect(keysOf(actor, 'steady')).toBe('1 in 2');
    await actor.reload();
    expect(actor.askedCount()).toBe(1);
    await actor.concludes('2 kites', '1 kite', twice);
  });

  test('no answer comes: Steadfetch gives it up after 4 s and asks again with the key', async () => {
    const actor = await enter('silent');
    await order(actor);
    await actor.arrives({ alone: 1, steady: 1 });
    await actor.pass(4000);
    await actor.says('The server did not answer in time');
    await actor.due('steady');
    await actor.arrives({ steady: 2 });
    await actor.pass(400);
    await actor.tells('steady', 'timed out, waited 1 s, 201');
    await actor.pass(aMinute);
    await actor.tells('alone', 'sending');
    await actor.concludes('1 kite', '1 kite', '');
    expect(keysOf(actor, 'steady')).toBe('1 in 2');
  });

  test('503 twice, before anything is booked: one kite each', async () => {
    const actor = await enter('503');
    await order(actor);
    await actor.answered(1);
    await actor.says('The server is unavailable (503)');
    await actor.tells('alone', '503, waiting');
    await actor.due('alone', 'steady');
    await actor.answered(2);
    await actor.says('This is not available right now');
    await actor.tells('alone', '503, waited 1 s, 503, waiting');
    await actor.due('steady');
    await actor.arrives({ steady: 3 });
    await actor.due('alone');
    await actor.arrives({ alone: 3 });
    await actor.pass(400);
    await actor.concludes(
      '1 kite',
      '1 kite',
      'Both ordered once: nothing was booked before the answer.',
    );
    expect([keysOf(actor, 'alone'), keysOf(actor, 'steady')]).toEqual(['3 in 3', '1 in 3']);
  });

  test('down for 10 s: React Query alone gives up, and Steadfetch orders when the shop is back', async () => {
    const actor = await enter('down');
    await order(actor);
    await actor.arrives({ alone: 1, steady: 1 });
    await actor.play('alone', 'steady');
    await actor.page
      .getByRole('status')
      .getByText('Something went wrong. Please try again.')
      .waitFor();
    await actor.concludes(
      'No kite after 8.6 s',
      '1 kite',
      'React Query alone sent 4 and gave up. Steadfetch sent 7 and got its answer.',
    );
    expect(keysOf(actor, 'steady')).toBe('1 in 7');
  });

  test('sold out: Steadfetch asks once, and says that nothing was ordered', async () => {
    const actor = await enter('sold-out');
    await order(actor);
    await actor.answered(1);
    await actor.says('This was not done');
    await actor.play('alone');
    await actor.concludes(
      'No kite after 8.6 s',
      'No kite after 0.4 s',
      'Refused on both sides. Steadfetch asked once, React Query alone 4 times.',
    );
    expect(actor.sent().steady).toBe(1);
  });

  test('healthy: one request and one kite each', async () => {
    const actor = await enter('fine');
    await order(actor);
    await actor.answered(1);
    await actor.concludes('1 kite', '1 kite', 'Both ordered once. Nothing went wrong.');
    expect([keysOf(actor, 'alone'), keysOf(actor, 'steady')]).toEqual(['1 in 1', '1 in 1']);
  });
});

describe('one order is one submission', () => {
  test('a double click is one request; after “Ordered” the form is closed, and a new order is meant', async () => {
    const actor = await enter('fine');
    const { page } = actor;
    const button = page
      .locator('.pane[data-side=steady]')
      .getByRole('button', { name: 'Order', exact: true });
    await button.dblclick();
    await actor.arrives({ steady: 1 });
    await actor.pass(400);
    await actor.says('Ordered');
    expect(await page.locator('.pane[data-side=steady] .slip').textContent()).toBe(
      '1 Kestrel Order number 1',
    );
    expect(await page.getByLabel('Quantity').isDisabled()).toBe(true);
    await page.getByText('Not: ordering again after “Ordered”').waitFor();
    await actor.pass(aMinute);
    expect(keysOf(actor, 'steady')).toBe('1 in 1');

    // A press too many opens the form again, and sends nothing.
    await actor.page.locator('.controls').getByRole('button', { name: 'Order another' }).click();
    await actor.says('');
    expect(await page.getByLabel('Quantity').isDisabled()).toBe(false);
    await actor.pass(aMinute);
    expect(keysOf(actor, 'steady')).toBe('1 in 1');
    await pressOn(actor, 'steady', 'Order');
    await actor.arrives({ steady: 2 });
    await actor.pass(400);
    await actor.says('Ordered');
    expect(keysOf(actor, 'steady')).toBe('2 in 2');
    // Pressed anew after a success, it is meant.
    expect(await ledger(actor, 'steady')).toEqual(['1 Kestrel', '1 Kestrel']);
  });

  test('it goes on while another act is looked at', async () => {
    const actor = await enter('lost');
    const { page } = actor;
    await order(actor);
    await actor.answered(1);
    await actor.says('No answer from the server');
    await page.getByRole('link', { name: 'Read it' }).click();
    await page.getByRole('heading', { name: 'Read it' }).waitFor();
    await page.goBack();
    await actor.says('No answer from the server');
    await actor.pass(1000);
    await actor.answered(2);
    await actor.tells('steady', 'no answer, waited 1 s, 201');
    expect(keysOf(actor, 'steady')).toBe('1 in 2');
  });

  test('Retry now ends the wait', async () => {
    const actor = await enter('lost');
    await order(actor);
    await actor.answered(1);
    await actor.says('No answer from the server');
    await actor.press('Retry now');
    await actor.arrives({ steady: 2 });
    await actor.pass(400);
    await actor.says('Ordered');
    expect(keysOf(actor, 'steady')).toBe('1 in 2');
  });

  test('Start over ends what is under way, and empties all', async () => {
    const actor = await enter('lost');
    await order(actor);
    await actor.answered(1);
    await actor.says('No answer from the server');
    await actor.press('Start over');
    await actor.concludes('Nothing sent yet', 'Nothing sent yet', '');
    await actor.pass(aMinute);
    await actor.tells('alone', 'nothing yet');
    await actor.tells('steady', 'nothing yet');
    expect([await ledger(actor, 'alone'), await ledger(actor, 'steady')]).toEqual([[], []]);
    expect(actor.sent().steady).toBe(1);
    await order(actor);
    await actor.answered(1);
    await actor.says('No answer from the server');
  });
});

describe('another order after an outcome that nobody knows', () => {
  const enterUnknown = async (): Promise<Actor> => {
    const actor = await enter('lost');
    await pressOn(actor, 'steady', 'Order');
    await actor.arrives({ steady: 1 });
    await actor.pass(400);
    await actor.says('No answer from the server');
    await actor.page.getByRole('button', { name: 'Cancel' }).focus();
    await actor.page.keyboard.press('Enter');
    await actor.says('It is not known whether this has arrived');
    await actor.pass(1000);
    return actor;
  };

  test('pressed again as it was, it is still one order', async () => {
    const actor = await enterUnknown();
    await pressOn(actor, 'steady', 'Order');
    await actor.arrives({ steady: 2 });
    await actor.pass(400);
    await actor.says('Ordered');
    expect(await ledger(actor, 'steady')).toEqual(['1 Kestrel']);
    expect(keysOf(actor, 'steady')).toBe('1 in 2');
  });

  test('changed, the user is asked first, at the answer that changes nothing', async () => {
    const actor = await enterUnknown();
    const { page } = actor;
    await page.getByLabel('Quantity').selectOption('2');
    await pressOn(actor, 'steady', 'Order');
    await actor.asks(true);
    await page.getByRole('group', { name: 'Order this, too?' }).waitFor();
    expect(await focused(actor)).toBe('Do not order');
    await page.keyboard.press('Enter');
    await actor.asks(false);
    await actor.pass(aMinute);
    expect(keysOf(actor, 'steady')).toBe('1 in 1');

    await pressOn(actor, 'steady', 'Order');
    await actor.asks(true);
    await page.getByRole('button', { name: 'Order it', exact: true }).click();
    await actor.arrives({ steady: 2 });
    await actor.pass(400);
    await actor.says('Ordered');
    expect(await ledger(actor, 'steady')).toEqual(['1 Kestrel', '2 Kestrel']);
    expect(keysOf(actor, 'steady')).toBe('2 in 2');
  });
});
