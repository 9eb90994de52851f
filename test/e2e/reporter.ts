import type { Page } from 'playwright';
import { createWitness } from './until.ts';
import type { Visitor } from './visitor.ts';

/** Somebody who writes flight reports, on the outbox page. */
export interface Reporter extends Omit<Visitor, 'press'> {
  /** Fills in the form, and sends it. */
  readonly write: (kite: string, words?: string, photo?: Photo) => Promise<void>;
  /** A button of the report on this kite; each kite has one report. */
  readonly press: (button: EntryButton, kite: string) => Promise<void>;
  /** The list is this: a line for each report, the newest first. */
  readonly lists: (...lines: readonly string[]) => Promise<void>;
  /** The shop has these in its log, after so many requests. */
  readonly received: (requests: number, ...reports: readonly string[]) => Promise<void>;
  /** What the newest report on the list says beside its title. */
  readonly details: (text: string) => Promise<void>;
  /** The shop has so many in its log, whatever page is shown. */
  readonly logged: (reports: number) => Promise<void>;
  /** The next attempt is counted down to. */
  readonly waits: () => Promise<void>;
  /** Presses Send now: the shop gets a request at once. */
  readonly sendNow: (kite: string) => Promise<void>;
  /**
   * What the live region said of all of them, and of the end of each. What is under way may be too
   * short to be told.
   */
  readonly told: () => Promise<readonly string[]>;
  /** The form says this of the report that was sent last. */
  readonly saved: (title: string) => Promise<void>;
  readonly startOver: () => Promise<void>;
  readonly reload: () => Promise<void>;
  /** The idempotency keys that have left the page, the browser says: one for each request. */
  readonly keys: readonly string[];
}

type EntryButton = 'Edit' | 'Retry' | 'Discard';

interface Photo {
  readonly name: string;
  readonly mimeType: string;
  readonly buffer: Buffer;
}

/**
 * What passes between two looks: little beside the time limit of a request, so that no request of a
 * machine that is busy runs into it.
 */
const stepMs = 20;

const newsPattern =
  /\d+ reports? (is|are) kept on this device\.|\d+ needs? your attention\.|\w+, Pier: (Delivered|Needs your attention)\./g;

export function asReporter(visitor: Visitor): Reporter {
  const { page, arrives } = visitor;
  const witness = createWitness(page, stepMs);
  const form = page.getByRole('form', { name: 'Flight report' });
  const keys: string[] = [];
  page.on('request', (request) => {
    if (request.url().endsWith('/api/flight-reports')) {
      keys.push(request.headers()['idempotency-key'] ?? 'none');
    }
  });
  const textsOf = (rows: string, parts: readonly string[]): Promise<string[]> =>
    page
      .locator(rows)
      .evaluateAll(
        (found, selectors) =>
          found.map((row) =>
            selectors.map((part) => row.querySelector(part)?.textContent ?? '').join(': '),
          ),
        parts,
      );

  const press = (button: string, kite: string): Promise<void> =>
    page.getByRole('button', { name: `${button} ${kite}, Pier`, exact: true }).click();

  return {
    ...visitor,
    async write(kite, words = 'A steady pull.', photo) {
      await form.getByLabel('Kite').selectOption(kite);
      await form.getByLabel('Place').fill('Pier');
      await form.getByLabel('How did it fly?').fill(words);
      if (photo) await form.getByLabel('Photo').setInputFiles(photo);
      await form.getByRole('button', { name: 'Send report' }).click();
    },
    press,
    lists: (...lines) => witness(() => textsOf('.entry', ['h3', '.entry-title']), [...lines]),
    async received(requests, ...reports) {
      await arrives(requests);
      await witness(() => textsOf('.ledger-orders li', ['.ledger-what']), [...reports]);
    },
    details: (text) => witness(async () => (await textsOf('.entry', ['.entry-detail']))[0], text),
    logged: (reports) => witness(async () => (await readLog(page)).reports.length, reports),
    async startOver() {
      const { round } = await readLog(page);
      await page.getByRole('button', { name: 'Start over' }).click();
      await witness(async () => (await readLog(page)).round, round + 1);
    },
    async told() {
      const { told } = await visitor.sightings();
      return told.join(' ').match(newsPattern) ?? [];
    },
    async waits() {
      // While it counts down from the future, nothing is under way.
      const isFuture = async (): Promise<boolean> => {
        const timers = await page.getByRole('timer', { name: 'Next attempt in' }).allTextContents();
        return timers.some((text) => /^[1-9]/.test(text));
      };
      await witness(isFuture, true);
    },
    async sendNow(kite) {
      const before = keys.length;
      await press('Send now', kite);
      // The clock stands still meanwhile.
      await page.locator(`[data-arrived="${before + 1}"]`).waitFor();
    },
    saved: (title) => witness(() => page.locator('.post-status .slip-title').textContent(), title),
    async reload() {
      await page.reload();
      await page.locator('.post').waitFor();
    },
    keys,
  };
}

/** The shop's log, as the browser keeps it for all pages. */
const readLog = (page: Page): Promise<{ reports: unknown[]; round: number }> =>
  page.evaluate(() =>
    JSON.parse(localStorage.getItem('windhover.reports') ?? '{"reports":[],"round":1}'),
  );
