import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { act, render } from '@testing-library/react';
import * as React from 'react';
import { type ReactNode, StrictMode } from 'react';
import { renderToString } from 'react-dom/server';
import { createSteadfetch, mutationOptions, observeOnly } from 'steadfetch';
import * as devtools from 'steadfetch/devtools';
import { createOutbox, outboxHandler } from 'steadfetch/outbox';
import { retryPolicy } from 'steadfetch/policy';
import * as hooks from 'steadfetch/react';
import * as ui from 'steadfetch/ui';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

// As an app has them in modules of their own, made for another QueryClient than that of a test or a story.
const steady = createSteadfetch();
const mutation = mutationOptions(steady, {
  mutationKey: ['order'],
  mutationFn: (_: string, { json }) => json<string>('https://shop.test/orders', { method: 'POST' }),
});
const outbox = createOutbox({
  steady,
  queryClient: new QueryClient({ defaultOptions: steady.defaultOptions }),
  handlers: {
    order: outboxHandler({
      mutationFn: (_: string, { json }) => json<string>('https://shop.test/orders'),
    }),
  },
});
const queued = outbox.mutationOptions('order');
const texts = [ui.english];

type Hook = () => unknown;
/** React 18 has no `useActionState`. */
const hasActions = 'useActionState' in React;
const idle = { status: 'idle', key: 'a' } as const;
const ofHooks: Readonly<Record<keyof typeof hooks, Hook>> = {
  KeyField: () => hooks.KeyField({ state: idle, form: 'order' }).type,
  sendAction: () => hooks.sendAction.name,
  useSafeAction: () =>
    hasActions && hooks.useSafeAction(async () => idle, idle, { form: 'order' }).isPending,
  useConnectivity: () => hooks.useConnectivity().status,
  useCountdown: () => hooks.useCountdown(Date.now() + 5000),
  useFallback: () => hooks.useFallback(['a']),
  useMutationStatus: () => hooks.useMutationStatus({ mutationKey: ['a'] }).status,
  useOriginStatus: () => hooks.useOriginStatus().status,
  useOutbox: () => hooks.useOutbox().storage,
  useOutboxEntries: () => hooks.useOutboxEntries(),
  useOutboxEntry: () => hooks.useOutboxEntry('a').entry,
  useOutboxMutation: () => hooks.useOutboxMutation(queued).status,
  useRetryStatus: () => hooks.useRetryStatus({ queryKey: ['a'] }).status,
  useSafeSubmit: () => hooks.useSafeSubmit(mutation, { form: 'order' }).status,
  useSteadyMutation: () => hooks.useSteadyMutation(mutation).status,
};

const isComponent = (name: string): boolean => /^[A-Z]/.test(name);
const ofUi: Readonly<Record<string, ReactNode>> = {
  ConnectionBanner: <ui.ConnectionBanner />,
  OutboxBadge: <ui.OutboxBadge />,
  OutboxPanel: <ui.OutboxPanel />,
  RetryStatus: (
    <>
      <ui.RetryStatus query={['a']} />
      <ui.RetryStatus mutation={['a']} />
    </>
  ),
  SafeForm: (
    <ui.SafeForm mutation={mutation} variables={() => ''} form="order">
      <input name="sku" />
    </ui.SafeForm>
  ),
  TextsProvider: <ui.TextsProvider texts={texts}>texts</ui.TextsProvider>,
};
const ofDevtools: Readonly<Record<string, ReactNode>> = {
  SteadfetchDevtools: <devtools.SteadfetchDevtools initialIsOpen />,
  SteadfetchDevtoolsPanel: <devtools.SteadfetchDevtoolsPanel />,
};

beforeEach(() => void vi.spyOn(console, 'warn').mockReturnValue());
afterEach(() => vi.restoreAllMocks());

test('the tables have every hook and component of the package', () => {
  expect(Object.keys(ofHooks).toSorted()).toEqual(Object.keys(hooks).toSorted());
  expect(Object.keys(ofUi).toSorted()).toEqual(Object.keys(ui).filter(isComponent).toSorted());
  expect(Object.keys(ofDevtools).toSorted()).toEqual(
    Object.keys(devtools).filter(isComponent).toSorted(),
  );
});

function Use({ hook }: { readonly hook: Hook }) {
  return <p>{JSON.stringify(hook())}</p>;
}

const shown: readonly (readonly [name: string, node: ReactNode])[] = [
  ...Object.entries(ofHooks).map(([name, hook]) => [name, <Use key={name} hook={hook} />] as const),
  ...Object.entries(ofUi),
  ...Object.entries(ofDevtools),
];

const gone = createSteadfetch();
gone.dispose();
/** What a story, a test or a second client of an app has. */
const clients: readonly (readonly [name: string, make: () => QueryClient])[] = [
  ['a bare QueryClient', () => new QueryClient()],
  ['one of retryPolicy', () => new QueryClient({ defaultOptions: { queries: retryPolicy() } })],
  ['one of an instance', () => new QueryClient({ defaultOptions: steady.defaultOptions })],
  [
    'one of an instance that only observes',
    () =>
      new QueryClient({
        defaultOptions: createSteadfetch({ observe: observeOnly() }).defaultOptions,
      }),
  ],
  [
    'one of an instance that was disposed of',
    () => new QueryClient({ defaultOptions: gone.defaultOptions }),
  ],
];
const worlds = clients.flatMap(([world, make]) =>
  shown.map(([name, node]) => [name, world, node, make] as const),
);
const bare = (node: ReactNode, client: QueryClient): ReactNode => (
  <StrictMode>
    <QueryClientProvider client={client}>{node}</QueryClientProvider>
  </StrictMode>
);

test.each(worlds)('%s throws nothing under %s', async (_name, _world, node, make) => {
  const client = make();
  const { rerender, unmount } = render(bare(node, client));
  await act(() => Promise.resolve());
  rerender(bare(node, client));
  // A second client takes the place of the first.
  rerender(bare(node, make()));
  expect(() => unmount()).not.toThrow();
});

test.each(worlds)('%s throws nothing under %s on a server', (_name, _world, node, make) => {
  expect(typeof renderToString(bare(node, make()))).toBe('string');
});
