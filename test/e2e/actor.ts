import type { Page } from 'playwright';
import { createWitness } from './until.ts';
import type { Visitor } from './visitor.ts';

/** The two that are compared. */
export type Side = 'alone' | 'steady';

/** Somebody in an act. Their time passes only when a test says so. */
export interface Actor {
  readonly page: Page;
  readonly pass: (ms: number) => Promise<void>;
  /** Lets time pass until the retry is due that each of these sides has planned. */
  readonly due: (...sides: readonly Side[]) => Promise<void>;
  /** Waits until the server of a side has got so many requests; next to no time passes. */
  readonly arrives: (requests: Partial<Record<Side, number>>) => Promise<void>;
  /**
   * Lets time pass from one thing to the next, however many they are, until the runs of these sides are over:
   * each request has arrived before its answer, and each answer before what comes next.
   */
  readonly play: (...sides: readonly Side[]) => Promise<void>;
  /** Both servers get this request, and answer it. */
  readonly answered: (request: number) => Promise<void>;
  /** Waits until the picture of a side is this; next to no time passes. */
  readonly tells: (side: Side, picture: string) => Promise<void>;
  /** Both verdicts and what they come to. */
  readonly concludes: (alone: string, steady: string, conclusion: string) => Promise<void>;
  /** What the component of Steadfetch says; next to no time passes. */
  readonly says: (title: string) => Promise<void>;
  /** Waits until the form asks its user something, or does no more; next to no time passes. */
  readonly asks: (isAsking: boolean) => Promise<void>;
  /** What the outbox shows of its entries, a line for each; some time passes. */
  readonly lists: (...entries: readonly string[]) => Promise<void>;
  /** The verdicts, where an outbox is waited for; some time passes. */
  readonly comesTo: (alone: string, steady: string, conclusion: string) => Promise<void>;
  readonly press: (button: string) => Promise<void>;
  /** Waits until the outbox is cleared, after Start over; some time passes. */
  readonly cleared: () => Promise<void>;
  readonly choose: (trouble: string) => Promise<void>;
  readonly reload: () => Promise<void>;
  /** How often the browser has asked whether the page is to be left. */
  readonly askedCount: () => number;
  /** The idempotency keys that have left the page, the browser says: one for each request. */
  readonly keys: () => Readonly<Record<Side, readonly string[]>>;
  /** How many requests have left the page, the browser says. */
  readonly sent: () => Readonly<Record<Side, number>>;
}

/**
 * What passes between two looks where an outbox is waited for, which has a disk: little beside the time limit of a
 * request, so that no request of a machine that is busy runs into it.
 */
const stepMs = 20;

/** How long the demo's API takes for an answer. */
const latencyMs = 400;

/**
 * The wait for an answer may have begun this much after the request was seen, because time passes for the other side
 * meanwhile. Otherwise its timer would never fire.
 */
const mostLateMs = 5;

const names: Readonly<Record<Side, string>> = { alone: 'React Query alone', steady: 'Steadfetch' };

/** What is known of a side. */
interface Look {
  readonly now: number;
  readonly requests: number;
  readonly hasArrived: boolean;
  readonly isOver: boolean;
  readonly isSending: boolean;
  readonly plannedTo: number | undefined;
}

/** What it has sent has arrived, and what came back has been decided on. */
const isSettled = ({ hasArrived, isOver, isSending, plannedTo }: Look): boolean =>
  hasArrived && (isOver || isSending || plannedTo !== undefined);

export function asActor({ page, pass, requests: left }: Visitor): Actor {
  const witness = createWitness(page);
  let asked = 0;
  page.on('dialog', (dialog) => {
    asked += 1;
    void dialog.accept();
  });
  const path = page.url().includes('#/order')
    ? 'orders'
    : page.url().includes('#/send')
      ? 'notes'
      : 'kites';
  const keysOf = (side: Side): readonly string[] =>
    left
      .filter((request) => request.url().includes(`/api/${side}/${path}`))
      .map((request) => request.headers()['idempotency-key'] ?? 'none');

  const stepped = createWitness(page, stepMs);
  const textOf = (selector: string): Promise<string | undefined> =>
    page.evaluate((where) => document.querySelector(where)?.textContent?.trim(), selector);
  const verdicts = async (): Promise<readonly (string | undefined)[]> => [
    await textOf('.verdict[data-side=alone] .verdict-text'),
    await textOf('.verdict[data-side=steady] .verdict-text'),
    await textOf('.conclusion'),
  ];
  const countOf = async (side: Side): Promise<number> =>
    Number.parseInt((await textOf(`.verdict[data-side=${side}] .verdict-detail`)) ?? '-1', 10);

  const arrives: Actor['arrives'] = async (requests) => {
    for (const side of Object.keys(requests) as Side[]) {
      await witness(() => countOf(side), requests[side] ?? 0);
    }
  };

  const look = (side: Side): Promise<Look> =>
    page.evaluate((which) => {
      const read = (name: string): unknown =>
        JSON.parse(
          sessionStorage.getItem(`steadfetch.${location.hash.split('/')[1]}.${name}`) ?? '{}',
        );
      type Span = { readonly kind: string; readonly to?: number; readonly plannedTo?: number };
      const lanes = (read('recording') as Record<string, { spans: Span[]; end?: unknown }[]>)[
        which
      ];
      const lane = lanes?.at(-1);
      const span = lane?.spans.at(-1);
      const isOpen = span !== undefined && span.to === undefined;
      const { requests = 0 } = read(which) as { requests?: number };
      const spans = (lanes ?? []).flatMap((one) => one.spans);
      const drawn = spans.filter(({ kind }) => kind === 'request').length;
      return {
        now: Date.now(),
        requests,
        hasArrived: requests >= drawn,
        isOver: lane?.end !== undefined,
        isSending: isOpen && span.kind === 'request',
        plannedTo: isOpen ? span.plannedTo : undefined,
      };
    }, side);

  return {
    page,
    pass,
    async due(...sides) {
      let until = 0;
      for (const side of sides) {
        await witness(async () => (await look(side)).plannedTo !== undefined, true);
        until = Math.max(until, (await look(side)).plannedTo ?? 0);
      }
      await pass(until - (await page.evaluate(() => Date.now())));
    },
    arrives,
    async play(...sides) {
      /** When each request has arrived. */
      const arrived = new Map<string, number>();
      for (;;) {
        const due: { readonly side: Side; readonly at: number; readonly seen: Look }[] = [];
        for (const side of sides) {
          // Drawn when it goes out, it has to arrive.
          await witness(async () => isSettled(await look(side)), true);
          const seen = await look(side);
          if (seen.isOver) continue;
          const request = `${side} ${seen.requests}`;
          if (seen.isSending && !arrived.has(request)) arrived.set(request, seen.now);
          const at = seen.isSending ? (arrived.get(request) ?? 0) + latencyMs : seen.plannedTo;
          if (at === undefined) throw new Error(`Nothing is planned by ${side}.`);
          due.push({ side, at, seen });
        }
        const [next] = due.toSorted((a, b) => a.at - b.at);
        if (!next) return;
        const { side, at, seen } = next;
        await pass(Math.max(1, at - seen.now));
        if (seen.isSending) {
          const isSending = async (): Promise<boolean> => (await look(side)).isSending;
          for (let late = 0; late < mostLateMs && (await isSending()); late += 1) await pass(1);
          await witness(isSending, false);
        } else {
          await witness(async () => (await look(side)).requests, seen.requests + 1);
        }
      }
    },
    async answered(request) {
      await arrives({ alone: request, steady: request });
      await pass(latencyMs);
    },
    tells: (side, picture) =>
      witness(
        () =>
          page.evaluate(
            (where) => document.querySelector(where)?.getAttribute('aria-label'),
            `.track[data-side=${side}] [role=img]`,
          ),
        `${names[side]}: ${picture}.`,
      ),
    concludes: (alone, steady, conclusion) => witness(verdicts, [alone, steady, conclusion]),
    says: (title) =>
      witness(async () => (await textOf('.pane[data-side=steady] .steadfetch-title')) ?? '', title),
    lists: (...entries) =>
      stepped(
        () =>
          page
            .locator('.steadfetch-entry')
            .evaluateAll((rows) =>
              rows.map((row) =>
                ['.steadfetch-title', '.steadfetch-detail']
                  .map((part) => row.querySelector(part)?.textContent)
                  .join(' '),
              ),
            ),
        [...entries],
      ),
    comesTo: (alone, steady, conclusion) => stepped(verdicts, [alone, steady, conclusion]),
    asks: (isAsking) =>
      witness(() => page.locator('.steadfetch-question').count(), isAsking ? 1 : 0),
    press: (button) => page.getByRole('button', { name: button, exact: true }).click(),
    cleared: () =>
      stepped(() => page.getByRole('button', { name: 'Send on both sides' }).isEnabled(), true),
    async choose(trouble) {
      const more = page.getByRole('button', { name: 'More', exact: true });
      const radio = page.getByRole('radio', { name: trouble, exact: true });
      if ((await radio.count()) === 0) await more.click();
      await radio.click();
    },
    async reload() {
      await page.reload();
      await page.locator('.act[aria-busy=false] .timeline').waitFor();
    },
    askedCount: () => asked,
    keys: () => ({ alone: keysOf('alone'), steady: keysOf('steady') }),
    sent: () => ({ alone: keysOf('alone').length, steady: keysOf('steady').length }),
  };
}
