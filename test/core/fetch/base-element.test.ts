import { createSteadfetch } from 'steadfetch';
import { afterEach, expect, test } from 'vitest';

const page = 'http://localhost:3000/shop/checkout';

afterEach(() => {
  document.querySelector('base')?.remove();
  history.replaceState({}, '', '/');
});

/** The page is at a deep route, and its router has put a `<base>` into its head. */
function openPage(base: string | undefined): void {
  history.replaceState({}, '', page);
  if (base === undefined) return;
  const element = document.createElement('base');
  element.href = base;
  document.head.append(element);
}

test.each<[base: string | undefined, url: string, sentTo: string]>([
  [undefined, 'api/orders', 'http://localhost:3000/shop/api/orders'],
  [undefined, '/api/orders', 'http://localhost:3000/api/orders'],
  ['/', 'api/orders', 'http://localhost:3000/api/orders'],
  ['/tenant/', 'api/orders', 'http://localhost:3000/tenant/api/orders'],
  ['/tenant/', '/api/orders', 'http://localhost:3000/api/orders'],
  ['/tenant/', '?page=2', 'http://localhost:3000/tenant/?page=2'],
  ['https://cdn.example/app/', '/api/orders', 'https://cdn.example/api/orders'],
  ['https://cdn.example/app/', 'api/orders', 'https://cdn.example/app/api/orders'],
])(
  'with the base %s, the profile of the API is found by the URL that fetch sends %s to',
  async (base, url, sentTo) => {
    openPage(base);
    const asked: string[] = [];
    const sent: string[] = [];
    const steady = createSteadfetch({
      apis: [{ match: ({ href }) => asked.push(href) > 0 }],
      // As a browser's own fetch does.
      fetch: async (input) => {
        sent.push(new URL(input as string, document.baseURI).href);
        return new Response('{}');
      },
    });
    await steady.fetch(url);
    expect([asked, sent]).toEqual([[sentTo], [sentTo]]);
  },
);

test.each<[base: string | undefined, match: string, isItsApi: boolean]>([
  [undefined, '/api', false],
  ['/', '/api', true],
  ['/', 'http://localhost:3000/api', true],
  ['/tenant/', '/api', false],
  ['/tenant/', '/tenant/api', true],
  ['https://cdn.example/', '/api', true],
  ['https://cdn.example/', 'http://localhost:3000/api', false],
])(
  'with the base %s, a profile for %s fits the request for api/orders: %s',
  async (base, match, isItsApi) => {
    openPage(base);
    const steady = createSteadfetch({
      apis: [{ match, expect: 'json' }],
      fetch: async () => new Response('<h1>', { headers: { 'content-type': 'text/html' } }),
    });
    const result = await steady.fetch('api/orders').catch((error: unknown) => error);
    expect((result as Error).name === 'UnexpectedContentError').toBe(isItsApi);
  },
);
