import type { Page } from 'playwright';
import { createUntil } from './until.ts';
import type { Visitor } from './visitor.ts';
import type { Sightings } from './watch-page.ts';

/** A form of the checkout, with the ledger of its shop below. */
export interface FormView {
  /** Fills in the fields. */
  readonly enter: (order?: Partial<OrderFields>) => Promise<void>;
  readonly press: (button: 'Order' | 'Retry now' | 'Cancel') => Promise<void>;
  /** Its shop has got as many requests as this; next to no time passes. */
  readonly arrives: (requests: number) => Promise<void>;
  /** Its status has this title; next to no time passes. */
  readonly sees: (title: string) => Promise<void>;
  /** The shop gets this request and deals with it, and the status then has this title. */
  readonly answered: (request: number, title: string) => Promise<void>;
  /** Its status says this beside its title; next to no time passes. */
  readonly says: (detail: string) => Promise<void>;
  readonly detail: () => Promise<string | null>;
  readonly fields: () => Promise<OrderFields>;
  readonly sightings: () => Promise<Pick<Sightings, 'seen' | 'told'> | undefined>;
  /** What the shop has booked, a line for each. */
  readonly ledger: () => Promise<string[]>;
  /** The idempotency keys that have left the page, the browser says: one for each request. */
  readonly keys: () => readonly string[];
}

interface OrderFields {
  readonly kite: string;
  readonly quantity: string;
  readonly name: string;
}

/** Somebody in the checkout. */
export interface Customer extends Visitor {
  readonly naive: FormView;
  readonly steadfetch: FormView;
  /** Reloads the page, and leaves it also when the browser asks. */
  readonly reload: () => Promise<void>;
  /** How often the browser has asked whether the page is to be left. */
  readonly askedCount: () => number;
}

/** How long the shop takes for an order. */
const latencyMs = 400;

const robin: OrderFields = { kite: 'Heron', quantity: '1', name: 'Robin' };

export function asCustomer(visitor: Visitor): Customer {
  const { page } = visitor;
  let asked = 0;
  page.on('dialog', (dialog) => {
    asked += 1;
    void dialog.accept();
  });
  return {
    ...visitor,
    naive: createFormView(visitor, 1, 'Naive form', 'naive'),
    steadfetch: createFormView(visitor, 2, 'Steadfetch form', 'steadfetch'),
    async reload() {
      await page.reload();
      await page.locator('.slips').waitFor();
    },
    askedCount: () => asked,
  };
}

function createFormView(
  { page, pass }: Visitor,
  nth: number,
  label: string,
  path: string,
): FormView {
  const until = createUntil(page);
  const slip = `.slip:nth-child(${nth})`;
  const form = page.getByRole('form', { name: label });
  const keys = watchKeys(page, path);
  const arrives = (requests: number): Promise<void> =>
    until(`${slip} [data-arrived]`, 'data-arrived', `${requests}`);
  const sees = (title: string): Promise<void> => until(`${slip} .slip-title`, undefined, title);

  return {
    async enter(order) {
      const { kite, quantity, name } = { ...robin, ...order };
      await form.getByLabel('Kite').selectOption(kite);
      await form.getByLabel('Quantity').selectOption(quantity);
      await form.getByLabel('Your name').fill(name);
    },
    press: (button) => form.getByRole('button', { name: button, exact: true }).click(),
    arrives,
    sees,
    async answered(request, title) {
      await arrives(request);
      await pass(latencyMs);
      await sees(title);
    },
    says: (detail) => until(`${slip} .slip-detail`, undefined, detail),
    detail: () => form.locator('.slip-detail').textContent(),
    fields: async () => ({
      kite: await form.getByLabel('Kite').locator('option:checked').innerText(),
      quantity: await form.getByLabel('Quantity').inputValue(),
      name: await form.getByLabel('Your name').inputValue(),
    }),
    sightings: () => page.evaluate((name) => window.sightings.forms[name], label),
    ledger: () =>
      page.locator(`${slip} .ledger-orders li`).evaluateAll((rows) =>
        rows.map((row) =>
          ['.ledger-what', '.ledger-mark']
            .map((part) => row.querySelector(part)?.textContent)
            .filter(Boolean)
            .join(' '),
        ),
      ),
    keys: () => keys,
  };
}

function watchKeys(page: Page, path: string): readonly string[] {
  const keys: string[] = [];
  page.on('request', (request) => {
    if (request.url().endsWith(`/api/${path}/orders`)) {
      keys.push(request.headers()['idempotency-key'] ?? 'none');
    }
  });
  return keys;
}
