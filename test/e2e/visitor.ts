import type { Page, Request } from 'playwright';

/** Somebody who looks at the demo. Their time passes only when a test says so. */
export interface Visitor {
  readonly page: Page;
  /** Lets time pass. */
  readonly pass: (ms: number) => Promise<void>;
  /** The requests to the API that have left the page, the browser says. */
  readonly requests: readonly Request[];
  /** What else the console was told of, besides the answers that the troubles fail with. */
  readonly complaints: readonly string[];
}

const isApi = (url: string): boolean => /\/api\/(\w+\/(kites|orders|notes)|here)$/.test(url);

/** Watches a page that has not been opened yet. */
export function createVisitor(page: Page): Visitor {
  const complaints: string[] = [];
  const requests: Request[] = [];
  page.on('request', (request) => {
    if (isApi(request.url())) requests.push(request);
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    // The browser itself reports every answer from 400 on; Firefox names the URL in the text, and not as the place.
    const [, url = message.location().url] = /^Failed to load ‘(\S+)’/.exec(message.text()) ?? [];
    const isAnswer = message.type() === 'error' && isApi(url);
    if (/^(error|warning)$/.test(message.type()) && !isAnswer) complaints.push(message.text());
  });
  return { page, pass: (ms) => page.clock.runFor(ms), requests, complaints };
}
