import type { Page } from 'playwright';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { asCustomer, type Customer, type FormView } from './customer.ts';
import { expectReadable } from './expect-readable.ts';
import { type Demo, openDemo } from './open-demo.ts';

let demo: Demo;
beforeAll(async () => {
  demo = await openDemo();
});
afterEach(() => demo.leave());
afterAll(() => demo.close());

/** Long enough for whatever was left behind to send something. */
const aMinute = 60_000;

const enter = async (trouble: string): Promise<Customer> =>
  asCustomer(await demo.visit(`#checkout/${trouble}`));

/** Steadfetch's waits: each in the middle of its range. */
const waitsMs = [3000, 6000] as const;

/** From the failure that shows an outage to the first probe. */
const canaryMs = 1200;

/** React Query's waits. */
const naiveWaitsMs = [1000, 2000, 4000] as const;

/** How many keys there are among how many requests. */
const keysOf = (form: FormView): string =>
  `${new Set(form.keys()).size} in ${form.keys().length} requests`;

/** One order was booked, under one key, whatever it took. */
const expectOnce = async (form: FormView, requests: number): Promise<void> => {
  expect(await form.ledger()).toEqual(['1 Heron for Robin']);
  expect(keysOf(form)).toBe(`1 in ${requests} requests`);
};

/** What was meant once is booked twice. */
const expectTwice = async (form: FormView): Promise<void> => {
  expect(await form.ledger()).toEqual(['1 Heron for Robin', '1 Heron for Robin Duplicate']);
  expect(keysOf(form)).toBe('2 in 2 requests');
};

/** The text of what has the keyboard. */
const focused = (page: Page): Promise<string | null | undefined> =>
  page.evaluate(() => document.activeElement?.textContent);

const submit = async (form: FormView): Promise<void> => {
  await form.enter();
  await form.press('Order');
};

test('the answer is lost, the page reloaded, Order pressed again: one order, and two by the naive form', async () => {
  const customer = await enter('lost');
  const { naive, steadfetch } = customer;
  await submit(naive);
  await submit(steadfetch);
  await naive.arrives(1);
  await steadfetch.answered(1, 'The connection broke');
  expect([await naive.ledger(), await steadfetch.ledger()]).toEqual([
    ['1 Heron for Robin'],
    ['1 Heron for Robin'],
  ]);

  await customer.reload();
  await steadfetch.sees('An earlier order may have been booked');
  expect(await steadfetch.detail()).toBe(
    '1 Heron for Robin. Press Order again: you will not get two.',
  );
  expect([await naive.fields(), await steadfetch.fields()]).toEqual([
    { kite: 'Heron', quantity: '1', name: 'Robin' },
    { kite: 'Heron', quantity: '1', name: 'Robin' },
  ]);

  await customer.pass(aMinute);
  await naive.press('Order');
  await steadfetch.press('Order');
  await naive.arrives(2);
  await steadfetch.answered(2, 'Ordered');
  await naive.sees('Ordered');
  expect(await steadfetch.detail()).toBe('Order number 1.');
  await expectOnce(steadfetch, 2);
  await expectTwice(naive);
});

describe('what one sees and hears, in order, and what is booked', () => {
  test('the answer is lost: it is sent again with its key, and by the naive form with another', async () => {
    const { naive, steadfetch, pass, picture } = await enter('lost');
    await submit(steadfetch);
    await steadfetch.answered(1, 'The connection broke');
    await pass(waitsMs[0]);
    await steadfetch.answered(2, 'Ordered');
    expect(await steadfetch.sightings()).toEqual({
      seen: ['Sending your order', 'The connection broke', 'Sending it again', 'Ordered'],
      told: [
        'Sending your order. The request is on its way.',
        'The connection broke. It may be booked. It is sent again with the same key: you will not get two.',
        'Sending it again. Attempt 2 of 11, with the same key.',
        'Ordered. Order number 1.',
      ],
    });
    expect(await picture()).toEqual(['1: no answer, waited 3000 of 3000 ms', '2: 201, booked']);
    await expectOnce(steadfetch, 2);

    await submit(naive);
    await naive.arrives(1);
    await pass(400);
    await naive.says('Retry 1 of 3.');
    await pass(naiveWaitsMs[0]);
    await naive.answered(2, 'Ordered');
    await expectTwice(naive);
  });

  test('no answer comes: it is given up after 4 seconds, and the naive form waits for ever', async () => {
    const customer = await enter('silent');
    const { naive, steadfetch, pass } = customer;
    await submit(naive);
    await submit(steadfetch);
    await steadfetch.arrives(1);
    await pass(4000);
    await steadfetch.sees('No answer in time');
    await pass(waitsMs[0]);
    await steadfetch.answered(2, 'Ordered');
    await expectOnce(steadfetch, 2);

    await pass(aMinute);
    await naive.sees('Sending …');
    await customer.reload();
    await naive.press('Order');
    await naive.arrives(2);
    await pass(400);
    await naive.sees('Ordered');
    await expectTwice(naive);
  });

  test('503 twice, before it is booked: two waits, and one order in both ledgers', async () => {
    const { naive, steadfetch, pass } = await enter('503');
    await submit(steadfetch);
    await steadfetch.answered(1, 'The shop is overloaded (503)');
    await pass(waitsMs[0]);
    await steadfetch.answered(2, 'The shop is overloaded (503)');
    await pass(waitsMs[1]);
    await steadfetch.answered(3, 'Ordered');
    await expectOnce(steadfetch, 3);

    await submit(naive);
    for (const [index, waitMs] of naiveWaitsMs.slice(0, 2).entries()) {
      await naive.arrives(index + 1);
      await pass(400);
      await naive.says(`Retry ${index + 1} of 3.`);
      await pass(waitMs);
    }
    await naive.answered(3, 'Ordered');
    expect((await naive.ledger()).length).toBe(1);
  });

  test('the shop is down: it is sent again until that is over', async () => {
    const customer = await enter('down');
    const { steadfetch, pass } = customer;
    await submit(steadfetch);
    for (const [index, waitMs] of waitsMs.entries()) {
      await steadfetch.answered(index + 1, 'The shop is overloaded (503)');
      await pass(waitMs);
    }
    await steadfetch.answered(3, 'The shop is down');
    expect(await steadfetch.ledger()).toEqual([]);
    await customer.choose('All is well');
    await pass(canaryMs);
    await steadfetch.answered(4, 'Ordered');
    await expectOnce(steadfetch, 4);
  });

  test('the shop is down: the naive form gives up after four requests', async () => {
    const { naive, pass } = await enter('down');
    await submit(naive);
    for (const [index, waitMs] of naiveWaitsMs.entries()) {
      await naive.arrives(index + 1);
      await pass(400);
      await naive.says(`Retry ${index + 1} of 3.`);
      await pass(waitMs);
    }
    await naive.answered(4, 'Something went wrong');
    await pass(aMinute);
    expect(keysOf(naive)).toBe('4 in 4 requests');
    expect(await naive.ledger()).toEqual([]);
  });

  test('sold out: one request, and surely no order', async () => {
    const { steadfetch, pass } = await enter('sold-out');
    await submit(steadfetch);
    await steadfetch.answered(1, 'Not ordered');
    await pass(aMinute);
    expect(await steadfetch.sightings()).toEqual({
      seen: ['Sending your order', 'Not ordered'],
      told: [
        'Sending your order. The request is on its way.',
        'Not ordered. It is sold out (410). Nothing was booked: you can press Order again.',
      ],
    });
    expect(keysOf(steadfetch)).toBe('1 in 1 requests');
  });

  test('all is well: one request, one order, in both', async () => {
    const { naive, steadfetch, pass } = await enter('fine');
    for (const form of [naive, steadfetch]) {
      await submit(form);
      await form.answered(1, 'Ordered');
      await pass(aMinute);
      await expectOnce(form, 1);
    }
  });
});

describe('one order is one submission', () => {
  test('a double click is one request, and so is Enter twice', async () => {
    const { page, steadfetch, pass } = await enter('fine');
    const form = page.getByRole('form', { name: 'Steadfetch form' });
    await steadfetch.enter();
    await form.getByRole('button', { name: 'Order', exact: true }).dblclick();
    await steadfetch.answered(1, 'Ordered');
    await pass(aMinute);
    expect(keysOf(steadfetch)).toBe('1 in 1 requests');

    await form.getByLabel('Your name').focus();
    await page.keyboard.press('Enter');
    await page.keyboard.press('Enter');
    await steadfetch.answered(2, 'Ordered');
    await pass(aMinute);
    expect(keysOf(steadfetch)).toBe('2 in 2 requests');
    // Pressed anew after a success, it is meant.
    expect(await steadfetch.ledger()).toEqual(['1 Heron for Robin', '1 Heron for Robin']);
  });

  test('changes that are pressed while it is under way are not sent, and the form says so', async () => {
    const { page, steadfetch, pass } = await enter('lost');
    await submit(steadfetch);
    await steadfetch.answered(1, 'The connection broke');
    await steadfetch.enter({ quantity: '3' });
    await page
      .getByRole('form', { name: 'Steadfetch form' })
      .getByLabel('Your name')
      .press('Enter');
    await steadfetch.sees('The connection broke');
    expect(await steadfetch.detail()).toBe('Your changes were not sent: one order at a time.');
    await steadfetch.press('Retry now');
    await steadfetch.answered(2, 'Ordered');
    expect(await steadfetch.ledger()).toEqual(['1 Heron for Robin']);

    await pass(1000);
    await steadfetch.press('Order');
    await steadfetch.sees('Sending your order');
    expect(await steadfetch.detail()).toBe('The request is on its way.');
  });

  test('it goes on while the catalogue is looked at', async () => {
    const { page, steadfetch, pass } = await enter('lost');
    await submit(steadfetch);
    await steadfetch.answered(1, 'The connection broke');
    await page.getByRole('link', { name: 'Catalogue' }).click();
    await page.locator('.status').waitFor();
    await page.getByRole('link', { name: 'Checkout' }).click();
    await steadfetch.sees('The connection broke');
    await pass(waitsMs[0]);
    await steadfetch.answered(2, 'Ordered');
    expect(keysOf(steadfetch)).toBe('1 in 2 requests');
  });

  test('the browser asks before the page is left in the middle of it', async () => {
    const customer = await enter('lost');
    await submit(customer.steadfetch);
    await customer.steadfetch.answered(1, 'The connection broke');
    await customer.reload();
    expect(customer.askedCount()).toBe(1);
    await customer.reload();
    expect(customer.askedCount()).toBe(1);
  });
});

describe('Retry now and Cancel', () => {
  test('Retry now ends the wait: the next request goes out in the same moment', async () => {
    const { steadfetch, picture } = await enter('lost');
    await submit(steadfetch);
    await steadfetch.answered(1, 'The connection broke');
    await steadfetch.press('Retry now');
    await steadfetch.answered(2, 'Ordered');
    expect((await picture()).at(-1)).toBe('2: 201, booked');
    expect(keysOf(steadfetch)).toBe('1 in 2 requests');
  });

  test('Cancel in the wait: it may have been ordered, and pressing again is still one order', async () => {
    const { page, steadfetch, pass } = await enter('lost');
    await submit(steadfetch);
    await steadfetch.answered(1, 'The connection broke');
    await page.getByRole('button', { name: 'Cancel' }).focus();
    await page.keyboard.press('Enter');
    await steadfetch.sees('It may have been ordered');
    expect(await steadfetch.detail()).toBe('Press Order again: you will not get two.');
    // The button that goes away hands the keyboard over.
    expect(await focused(page)).toBe('Order');
    await pass(aMinute);
    expect(keysOf(steadfetch)).toBe('1 in 1 requests');
    await page.keyboard.press('Enter');
    await steadfetch.answered(2, 'Ordered');
    await expectOnce(steadfetch, 2);
  });

  test('Cancel of an order that is paused before it was sent: surely nothing was booked', async () => {
    const { page, steadfetch, pass } = await enter('down');
    await submit(steadfetch);
    for (const [index, waitMs] of waitsMs.entries()) {
      await steadfetch.answered(index + 1, 'The shop is overloaded (503)');
      await pass(waitMs);
    }
    await steadfetch.answered(3, 'The shop is down');
    await steadfetch.press('Cancel');
    await steadfetch.sees('It may have been ordered');
    await steadfetch.enter({ kite: 'Swift' });
    await pass(1000);
    await steadfetch.press('Order');
    await page.getByRole('button', { name: 'Order this, too' }).click();
    await steadfetch.sees('The shop is down');
    expect(await steadfetch.detail()).toBe('Your order is sent when the shop is back.');
    await steadfetch.press('Cancel');
    await steadfetch.sees('Not ordered');
    expect(await steadfetch.detail()).toBe(
      'It was not sent. Nothing was booked: you can press Order again.',
    );
    expect(keysOf(steadfetch)).toBe('1 in 3 requests');
  });
});

describe('another payload after an outcome that nobody knows', () => {
  const enterUnknown = async (): Promise<Customer> => {
    const customer = await enter('lost');
    const { steadfetch } = customer;
    await submit(steadfetch);
    await steadfetch.answered(1, 'The connection broke');
    await steadfetch.press('Cancel');
    await steadfetch.sees('It may have been ordered');
    await steadfetch.enter({ quantity: '2' });
    await customer.pass(1000);
    await steadfetch.press('Order');
    await customer.page.getByRole('alertdialog').waitFor();
    return customer;
  };

  test('the user is asked, with both before them, and nothing is sent', async () => {
    const { page, steadfetch, pass } = await enterUnknown();
    expect((await page.getByRole('alertdialog').ariaSnapshot()).split('\n')).toEqual([
      '- alertdialog "Order this, too?":',
      '  - heading "Order this, too?" [level=3]',
      '  - paragraph: What you sent before may have been booked. If you send this now, you may get both.',
      '  - term: Before',
      '  - definition: 1 Heron for Robin',
      '  - term: Now',
      '  - definition: 2 Heron for Robin',
      '  - button "Order this, too"',
      '  - button "Back to the first"',
    ]);
    expect(await focused(page)).toBe('Back to the first');
    await pass(aMinute);
    expect(keysOf(steadfetch)).toBe('1 in 1 requests');
  });

  test('Back to the first puts it back, and pressing again is still one order', async () => {
    const { page, steadfetch } = await enterUnknown();
    await page.keyboard.press('Enter');
    await page.getByRole('alertdialog').waitFor({ state: 'detached' });
    expect(await steadfetch.fields()).toEqual({ kite: 'Heron', quantity: '1', name: 'Robin' });
    await steadfetch.press('Order');
    await steadfetch.answered(2, 'Ordered');
    await expectOnce(steadfetch, 2);
  });

  test('Escape sends nothing, and leaves what was typed', async () => {
    const { page, steadfetch, pass } = await enterUnknown();
    await page.keyboard.press('Escape');
    await page.getByRole('alertdialog').waitFor({ state: 'detached' });
    expect((await steadfetch.fields()).quantity).toBe('2');
    expect(await focused(page)).toBe('Order');
    await pass(aMinute);
    await steadfetch.press('Order');
    await page.getByRole('alertdialog').waitFor();
    expect(keysOf(steadfetch)).toBe('1 in 1 requests');
  });

  test('Order this, too: two orders with two keys, and neither is a duplicate', async () => {
    const { page, steadfetch } = await enterUnknown();
    await page.getByRole('button', { name: 'Order this, too' }).click();
    await steadfetch.answered(2, 'Ordered');
    expect(await steadfetch.ledger()).toEqual(['1 Heron for Robin', '2 Heron for Robin']);
    expect(keysOf(steadfetch)).toBe('2 in 2 requests');
  });

  test('also after a reload', async () => {
    const customer = await enter('lost');
    const { page, steadfetch } = customer;
    await submit(steadfetch);
    await steadfetch.answered(1, 'The connection broke');
    await customer.reload();
    await steadfetch.enter({ kite: 'Swift' });
    await steadfetch.press('Order');
    await page.getByRole('alertdialog').waitFor();
    expect(await page.getByRole('definition').allTextContents()).toEqual(
      expect.arrayContaining(['1 Heron for Robin', '1 Swift for Robin']),
    );
    expect(keysOf(steadfetch)).toBe('1 in 1 requests');
  });
});

test('a kite of the catalogue can be put into both forms', async () => {
  const customer = asCustomer(await demo.visit('#healthy'));
  await customer.answered(1, 'Up to date');
  await customer.page.getByRole('link', { name: 'Order Plover' }).click();
  await customer.page.locator('.slips').waitFor();
  expect((await customer.naive.fields()).kite).toBe('Plover');
  expect((await customer.steadfetch.fields()).kite).toBe('Plover');
});

test('Start over empties forms and ledgers, and ends what is under way', async () => {
  const customer = await enter('lost');
  const { steadfetch, naive, pass } = customer;
  await submit(naive);
  await submit(steadfetch);
  await steadfetch.answered(1, 'The connection broke');
  await customer.press('Start over');
  await pass(aMinute);
  for (const form of [naive, steadfetch]) {
    expect(await form.ledger()).toEqual([]);
    expect((await form.fields()).name).toBe('');
  }
  expect(keysOf(steadfetch)).toBe('1 in 1 requests');
  expect(await customer.picture()).toEqual([]);
  expect(await steadfetch.detail()).toBe('Nothing sent yet.');
  await submit(steadfetch);
  await steadfetch.answered(1, 'The connection broke');
  expect((await steadfetch.ledger()).length).toBe(1);
});

describe('for assistive technology', () => {
  test('a form that waits has roles and names', async () => {
    const { page, steadfetch } = await enter('lost');
    await submit(steadfetch);
    await steadfetch.answered(1, 'The connection broke');
    const form = page.getByRole('region', { name: 'Steadfetch', exact: true });
    const tree = (await form.ariaSnapshot()).replace(/\d\d:\d\d:\d\d/, 'hh:mm:ss').split('\n');
    expect(tree.filter((line) => !/- (option|code)\b/.test(line))).toEqual([
      '- region "Steadfetch":',
      '  - heading "Steadfetch" [level=2]',
      '  - paragraph: One key for the order',
      '  - form "Steadfetch form":',
      '    - text: Kite',
      '    - combobox "Kite":',
      '    - text: Quantity',
      '    - combobox "Quantity":',
      '    - text: Your name',
      '    - textbox "Your name": Robin',
      '    - button "Retry now"',
      '    - button "Cancel"',
      '    - text: €165',
      '    - paragraph: The connection broke',
      '    - paragraph: "It may be booked. It is sent again with the same key: you will not get two."',
      '    - paragraph:',
      '      - text: Next attempt in',
      '      - timer "Next attempt in": 3 s',
      '    - status: "The connection broke. It may be booked. It is sent again with the same key: you will not get two."',
      '  - region "Booked by the shop, Steadfetch form":',
      '    - heading "Booked by the shop" [level=3]',
      '    - paragraph: 1 order 1 request',
      '    - list:',
      '      - listitem:',
      '        - time: hh:mm:ss',
      '        - text: 1 Heron for Robin key',
    ]);
  });

  test('the live regions are there before they have anything to tell', async () => {
    const { page } = await enter('lost');
    const first = await page.evaluate(() => window.sightings.regionsAtFirst);
    expect(first).toEqual(['status: Nothing sent yet.', 'status: ']);
  });

  test('after a reload it is told what may have been booked', async () => {
    const customer = await enter('lost');
    const { page, steadfetch } = customer;
    await submit(steadfetch);
    await steadfetch.answered(1, 'The connection broke');
    await customer.reload();
    await steadfetch.sees('An earlier order may have been booked');
    expect(await page.evaluate(() => window.sightings.regionsAtFirst)).toEqual([
      'status: Nothing sent yet.',
      'status: ',
    ]);
    expect((await steadfetch.sightings())?.told).toEqual([
      'An earlier order may have been booked. 1 Heron for Robin. Press Order again: you will not get two.',
    ]);
  });

  test('the countdown runs outside of every live region', async () => {
    const { page, steadfetch, pass } = await enter('lost');
    await submit(steadfetch);
    await steadfetch.answered(1, 'The connection broke');
    const before = await steadfetch.sightings();
    const timer = page.getByRole('timer');
    expect(await timer.textContent()).toBe('3 s');
    await pass(1500);
    expect(await timer.textContent()).toBe('2 s');
    expect(await steadfetch.sightings()).toEqual(before);
    const live = '[aria-live], [role=status], [role=alert], [role=log]';
    expect(await timer.evaluate((node, regions) => node.closest(regions), live)).toBeNull();
  });
});

/** Moments of a visit that look different. */
const moments: readonly (readonly [string, (customer: Customer) => Promise<void>])[] = [
  ['before anything', async () => {}],
  [
    'in the wait',
    async ({ steadfetch, naive }) => {
      await submit(naive);
      await submit(steadfetch);
      await steadfetch.answered(1, 'The connection broke');
    },
  ],
  [
    'after a reload',
    async (customer) => {
      await submit(customer.steadfetch);
      await customer.steadfetch.answered(1, 'The connection broke');
      await customer.reload();
      await customer.steadfetch.sees('An earlier order may have been booked');
    },
  ],
  [
    'with a duplicate',
    async ({ naive, pass }) => {
      await submit(naive);
      await naive.arrives(1);
      await pass(400);
      await naive.says('Retry 1 of 3.');
      await pass(naiveWaitsMs[0]);
      await naive.answered(2, 'Ordered');
    },
  ],
];

test.each(moments)(
  '%s every text can be read and nothing is wider than the screen, light and dark',
  async (_, reach) => {
    const customer = await enter('lost');
    await reach(customer);
    await expectReadable(customer.page);
  },
);

test.each(['desktop', 'phone'] as const)(
  'on a %s nothing moves when the status changes',
  async (screen) => {
    const customer = asCustomer(await demo.visit('#checkout/lost', { screen }));
    const { page, steadfetch, naive } = customer;
    const layout = () =>
      page.locator('.recorder, .slip-actions, .ledger h3, .policy').evaluateAll((boxes) =>
        boxes.map((box) => {
          const { top, left, width } = box.getBoundingClientRect();
          return `${box.className}: ${top} ${left} ${width}`;
        }),
      );
    await naive.enter();
    await steadfetch.enter();
    await page.evaluate(() => scrollTo(0, 0));
    const before = await layout();
    const expectSame = async (): Promise<void> => {
      await page.evaluate(() => scrollTo(0, 0));
      expect(await layout()).toEqual(before);
    };
    await steadfetch.press('Order');
    await steadfetch.arrives(1);
    await expectSame();
    await steadfetch.answered(1, 'The connection broke');
    await expectSame();
    await steadfetch.press('Cancel');
    await steadfetch.sees('It may have been ordered');
    await expectSame();
    await customer.pass(1000);
    await steadfetch.press('Order');
    await steadfetch.answered(2, 'Ordered');
    await expectSame();
  },
);
