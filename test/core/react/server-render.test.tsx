import {
  dehydrate,
  type DehydratedState,
  HydrationBoundary,
  QueryClient,
  QueryClientProvider,
  useQuery,
} from '@tanstack/react-query';
import * as reactQuery from '@tanstack/react-query';
import { act } from '@testing-library/react';
import type { ReactNode } from 'react';
import { hydrateRoot } from 'react-dom/client';
import { renderToString } from 'react-dom/server';
import { createSteadfetch, fallback, mutationOptions, type Steadfetch } from 'steadfetch';
import { createOutbox } from 'steadfetch/outbox';
import {
  useCountdown,
  useFallback,
  useMutationStatus,
  useOriginStatus,
  useOutbox,
  useOutboxEntries,
  useRetryStatus,
  useSafeSubmit,
  useSteadyMutation,
} from 'steadfetch/react';
import { virtualTime } from 'steadfetch/testing';
import { expect, onTestFinished, test, vi } from 'vitest';

/** Not there in React Query 5.89. */
const { environmentManager } = reactQuery as Partial<typeof reactQuery>;

type Answer = (path: string) => Response;

/** An instance and its client, on a server or in a browser, with an API that answers so. */
function createSide(answer: Answer) {
  const sent: string[] = [];
  const steady = createSteadfetch({
    random: () => 0.5,
    fetch: async (input) => {
      const { pathname } = new URL(input as string, 'http://shop.example');
      sent.push(pathname);
      return answer(pathname);
    },
  });
  const client = new QueryClient({
    defaultOptions: {
      ...steady.defaultOptions,
      dehydrate: { shouldDehydrateQuery: () => true },
    },
  });
  onTestFinished(() => {
    client.clear();
    steady.dispose();
  });
  return { steady, client, sent };
}

type Side = ReturnType<typeof createSide>;

const prices = fallback('none');

const options = (steady: Steadfetch, path: string) => ({
  queryKey: [path],
  queryFn: () => steady.json<string>(path),
  staleTime: 60_000,
  ...(path === '/prices' && steady.queryPolicy({ fallback: prices })),
});

const paths = ['/good', '/bad', '/prices'];

/** Renders a page on a server, once all queries have ended there, and brings it to life in a browser. */
async function serve(page: (side: Side) => ReactNode, serverSays: Answer, browserSays: Answer) {
  const time = virtualTime(vi, { act: (work) => act(work) });
  onTestFinished(() => time.restore());
  const wrap = (side: Side, state: DehydratedState) => (
    <QueryClientProvider client={side.client}>
      <HydrationBoundary state={state}>{page(side)}</HydrationBoundary>
    </QueryClientProvider>
  );
  environmentManager?.setIsServer(() => true);
  const server = createSide(serverSays);
  const asked = paths.map((path) =>
    server.client.prefetchQuery({ ...options(server.steady, path), retry: false }),
  );
  await time.settle();
  await Promise.all(asked);
  const state = JSON.parse(JSON.stringify(dehydrate(server.client))) as DehydratedState;
  const html = renderToString(wrap(server, state));
  environmentManager?.setIsServer(() => false);
  // A page is not brought to life in the second in which it was rendered.
  await time.advance(3000);
  const browser = createSide(browserSays);
  const container = document.createElement('div');
  document.body.append(container);
  container.innerHTML = html;
  const errors: unknown[] = [];
  const printed = vi.spyOn(console, 'error').mockImplementation(() => {});
  const root = await act(async () =>
    hydrateRoot(container, wrap(browser, state), {
      onRecoverableError: (error) => errors.push(error),
    }),
  );
  onTestFinished(() => act(() => root.unmount()));
  const shown = document.createElement('div');
  shown.innerHTML = html;
  return { time, browser, html: shown.textContent, container, errors, printed };
}

const ok: Answer = (path) => Response.json(`data of ${path}`);
const down: Answer = (path) =>
  path === '/good'
    ? ok(path)
    : new Response(null, { status: 503, headers: { 'retry-after': '60' } });

test('a page whose queries have ended on the server shows idle, and comes to life without a mismatch', async () => {
  function Query({ steady, path }: { readonly steady: Steadfetch; readonly path: string }) {
    const { data } = useQuery(options(steady, path));
    const { status, attempt, maxAttempts, retryAt } = useRetryStatus({ queryKey: [path] });
    const failed = useFallback([path]);
    return <p>{`${String(data)} ${status} ${attempt}/${maxAttempts} ${retryAt} ${!!failed}; `}</p>;
  }
  const { time, browser, html, container, errors, printed } = await serve(
    ({ steady }) => paths.map((path) => <Query key={path} steady={steady} path={path} />),
    down,
    ok,
  );
  expect(html).toBe(
    'data of /good idle 0/0 undefined false; ' +
      'undefined idle 0/0 undefined false; ' +
      'none idle 0/0 undefined false; ',
  );
  expect(errors).toEqual([]);
  await time.settle();
  // What has failed on the server is asked by the browser, also where a fallback stands in for it.
  expect(browser.sent).toEqual(['/bad', '/prices']);
  expect(container.textContent).toBe(
    'data of /good succeeded 0/4 undefined false; ' +
      'data of /bad succeeded 1/4 undefined false; ' +
      'data of /prices succeeded 1/4 undefined false; ',
  );
  expect(printed).not.toHaveBeenCalled();
});

test('seconds until a time are shown once the page has come to life', async () => {
  const at = Date.now() + 60_000;
  const Countdown = (): string => `${useCountdown(at)}`;
  const { html, container, errors, printed } = await serve(() => <Countdown />, ok, ok);
  expect(html).toBe('undefined');
  expect(container.textContent).toMatch(/^\d+$/);
  expect(errors).toEqual([]);
  expect(printed).not.toHaveBeenCalled();
});

test('how an origin was for the server is not shown: the browser may reach another', async () => {
  const Origin = (): string => useOriginStatus().status;
  const everythingDown: Answer = () =>
    new Response(null, { status: 429, headers: { 'retry-after': '60' } });
  const { html, container, errors, printed } = await serve(() => <Origin />, everythingDown, ok);
  expect([html, container.textContent]).toEqual(['up', 'up']);
  expect(errors).toEqual([]);
  expect(printed).not.toHaveBeenCalled();
});

test('forms, mutations and the outbox are idle, and come to life without a mismatch', async () => {
  function Forms({ steady }: { readonly steady: Steadfetch }) {
    const order = mutationOptions(steady, {
      mutationFn: async () => 'done',
      mutationKey: ['order'],
    });
    const form = useSafeSubmit(order, { form: 'checkout' });
    const mutation = useSteadyMutation(order);
    const { status } = useMutationStatus(mutation.target);
    const byKey = useMutationStatus({ mutationKey: ['order'] });
    const { storage, due } = useOutbox();
    const entries = useOutboxEntries();
    return `${form.status} ${!!form.unknown} ${status} ${byKey.status} ${storage} ${due} ${entries?.length}`;
  }
  const { html, errors, printed } = await serve(
    ({ steady, client }) => {
      createOutbox({
        steady,
        queryClient: client,
        handlers: { order: { mutationFn: async () => 'done' } },
      });
      return <Forms steady={steady} />;
    },
    ok,
    ok,
  );
  expect(html).toBe('idle false idle idle opening undefined undefined');
  expect(errors).toEqual([]);
  expect(printed).not.toHaveBeenCalled();
});
