import type { Page } from 'playwright';
import { readPicture } from './read-picture.ts';
import { createUntil } from './until.ts';
import type { Sightings } from './watch-page.ts';

/** Somebody who looks at the demo. Their time passes only when a test says so. */
export interface Visitor {
  readonly page: Page;
  /** Lets time pass. */
  readonly pass: (ms: number) => Promise<void>;
  /** Waits until the API has got as many requests as this; next to no time passes. */
  readonly arrives: (requests: number) => Promise<void>;
  /** Waits until the status has this title; next to no time passes. */
  readonly sees: (title: string) => Promise<void>;
  /** The API gets this request and answers it, and the status then has this title. */
  readonly answered: (request: number, title: string) => Promise<void>;
  readonly press: (button: string) => Promise<void>;
  readonly choose: (scenario: string) => Promise<void>;
  readonly sightings: () => Promise<Pick<Sightings, 'seen' | 'told'>>;
  /** What the flight recorder draws, in words. */
  readonly picture: () => Promise<string[]>;
  /** How many requests for the catalogue have left the page, the browser says. */
  readonly sentCount: () => number;
  /** What else the console was told of, besides the answers that the scenarios fail with. */
  readonly complaints: readonly string[];
}

/** How long the demo's API takes for an answer. */
const latencyMs = 400;

const isCatalogue = (url: string): boolean => url.endsWith('/api/catalogue');
const isApi = (url: string): boolean =>
  /\/api\/(catalogue|\w+\/orders|flight-reports|here)$/.test(url);

/** Watches a page that has not been opened yet. */
export function createVisitor(page: Page): Visitor {
  const complaints: string[] = [];
  let sent = 0;
  page.on('request', (request) => {
    if (isCatalogue(request.url())) sent += 1;
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    // The browser itself reports every answer from 400 on.
    const isAnswer = message.type() === 'error' && isApi(message.location().url);
    if (/^(error|warning)$/.test(message.type()) && !isAnswer) complaints.push(message.text());
  });

  const pass = (ms: number): Promise<void> => page.clock.runFor(ms);
  const until = createUntil(page);

  const arrives = (requests: number): Promise<void> =>
    until('[data-arrived]', 'data-arrived', `${requests}`);
  const sees = (title: string): Promise<void> => until('.status-title', undefined, title);

  return {
    page,
    pass,
    arrives,
    sees,
    async answered(request, title) {
      await arrives(request);
      await pass(latencyMs);
      await sees(title);
    },
    press: (button) => page.getByRole('button', { name: button, exact: true }).click(),
    choose: (scenario) => page.getByRole('radio', { name: scenario, exact: true }).click(),
    sightings: () =>
      page.evaluate(() => ({ seen: window.sightings.seen, told: window.sightings.told })),
    picture: () => readPicture(page),
    sentCount: () => sent,
    complaints,
  };
}
