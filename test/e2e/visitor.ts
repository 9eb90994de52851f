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

/** Firefox names the URL in the text, and not as the place; some of these it tells as errors of the page. */
const urlInText =
  /^(?:Failed to load ‘|The Same Origin Policy disallows reading the remote resource at )([^\s’]+?)(?:’|\.? )/;
/** A body that breaks off within a service worker, as Firefox tells of it. */
const brokenBody = /^Failed to load ‘’\. A ServiceWorker intercepted the request/;

/** Watches a page that has not been opened yet. */
export function createVisitor(page: Page): Visitor {
  const complaints: string[] = [];
  const requests: Request[] = [];
  page.on('request', (request) => {
    if (isApi(request.url())) requests.push(request);
  });
  const complain = (text: string, place = ''): void => {
    // The browser itself reports every answer from 400 on.
    const [, url = place] = urlInText.exec(text) ?? [];
    if (!isApi(url) && !brokenBody.test(text)) complaints.push(text);
  };
  page.on('pageerror', (error) => complain(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error') complain(message.text(), message.location().url);
    else if (message.type() === 'warning') complain(message.text());
  });
  return { page, pass: (ms) => page.clock.runFor(ms), requests, complaints };
}
