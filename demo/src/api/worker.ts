import { http } from 'msw';
import { type SetupWorker, setupWorker } from 'msw/browser';
import { isPlugged } from './plug.ts';
import type { Route } from './route.ts';

const start = async (): Promise<SetupWorker> => {
  const worker = setupWorker(
    // What the connectivity check asks for.
    http.head('*/api/here', () =>
      isPlugged() ? new Response(null, { status: 204 }) : Response.error(),
    ),
  );
  await worker.start({
    quiet: true,
    onUnhandledFrame: 'bypass',
    serviceWorker: { url: `${import.meta.env.BASE_URL}mockServiceWorker.js` },
  });
  return worker;
};

let starting: Promise<SetupWorker> | undefined;

/** Answers these, too, by the service worker that stands in the place of a server. The first call starts it. */
export async function answerByWorker(routes: readonly Route[]): Promise<void> {
  const worker = await (starting ??= start());
  worker.use(...routes.map(({ method, path, answer }) => http[method](path, answer)));
}
