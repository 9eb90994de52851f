import { notifyManager, QueryClientProvider, useQuery } from '@tanstack/react-query';
import { act, fireEvent, render, screen } from '@testing-library/react';
import type { ReactNode } from 'react';
import { ConnectionBanner, OutboxBadge, OutboxPanel, RetryStatus, SafeForm } from 'steadfetch/ui';
import { expect, onTestFinished, test } from 'vitest';
import { createBrowser, settle, shop } from '../outbox/rig.ts';
import { createFormRig } from '../core/react/form-rig.tsx';
import { createRig, type Rig } from '../core/react-query/rig.tsx';

/** From now on, what is told in the regions that are there now; no others may come. It returns what ends it. */
function listen(): () => readonly string[] {
  const told: string[] = [];
  const regions = [...document.querySelectorAll('[role=status], [role=alert]')];
  expect(regions.map(({ textContent }) => textContent)).toEqual(regions.map(() => ''));
  const before = new Map(regions.map((region) => [region, '']));
  const observer = new MutationObserver(() => {
    expect([...document.querySelectorAll('[role=status], [role=alert]')]).toEqual(regions);
    for (const region of regions) {
      const { textContent: text } = region;
      if (text !== before.get(region) && text) told.push(`${region.role}: ${text}`);
      before.set(region, text);
    }
  });
  observer.observe(document.body, { subtree: true, childList: true, characterData: true });
  return () => {
    observer.disconnect();
    return told;
  };
}

function Products({ rig, path = '/products' }: { readonly rig: Rig; readonly path?: string }) {
  useQuery({ queryKey: [path], queryFn: () => rig.steady.json(path) });
  return <RetryStatus query={[path]} />;
}

const paths = Array.from({ length: 10 }, (_, index) => `/products/${index}/parts`);
const showAll = (rig: Rig, strict: boolean): void => {
  rig.show(
    paths.map((path) => <Products key={path} rig={rig} path={path} />),
    { strict },
  );
};

test.each([false, true])(
  'what ten components say at once is said once, in strict mode: %s',
  async (strict) => {
    const rig = createRig({ health: false, policy: { maxRetries: 0 } });
    for (const path of paths) rig.server.plan(path, 503, { body: 'kites' });
    showAll(rig, strict);
    const stop = listen();
    await rig.time.advance(1000);
    for (const button of screen.getAllByRole('button', { name: 'Retry now' }))
      fireEvent.click(button);
    await rig.time.advance(1000);
    expect(stop()).toEqual([
      'alert: This could not be loaded. The server is unavailable (503).',
      'status: Trying again. Attempt 1 of 1.',
      'status: Loaded.',
    ]);
    for (const path of paths) expect(rig.server.times(path)).toHaveLength(2);
  },
);

test('what one component says again, and another a second later, is said again', async () => {
  const rig = createRig({ health: {}, policy: { maxRetries: 0 } });
  for (const path of paths.slice(0, 2)) rig.server.plan(path, 404, 404);
  showAll(rig, false);
  const stop = listen();
  await rig.time.advance(100);
  for (const [at, afterMs] of [
    [0, 100],
    [1, 1000],
  ] as const) {
    await rig.time.advance(afterMs);
    const button = screen.getAllByRole('button', { name: 'Retry now' })[at];
    if (button) fireEvent.click(button);
    await rig.time.advance(0);
  }
  const refused = 'alert: This could not be loaded. The server refused (404).';
  const again = 'status: Trying again. Attempt 1 of 1.';
  expect(stop()).toEqual([refused, again, refused, again, refused]);
});

test('an outage is told when it begins, not at each probe or second, and when it is over', async () => {
  const rig = createRig({ health: {} });
  rig.server.plan('/products', 503, 503, 503, 503, { body: 'kites' });
  rig.show(
    <>
      <ConnectionBanner />
      <Products rig={rig} />
    </>,
  );
  const stop = listen();
  await rig.time.advance(60_000);
  expect(stop()).toEqual([
    'status: The server is unavailable (503). Trying again in 1 second.',
    // The banner.
    'status: The server is down.',
    'status: This is not available right now. It goes on by itself.',
    'status: Loaded.',
    'status: Connected again.',
  ]);
  expect(rig.server.times('/products')).toHaveLength(5);
});

test('an outbox tells of what needs the user, and of what was discarded', async () => {
  notifyManager.setScheduler(setImmediate);
  const browser = createBrowser();
  const tab = browser.openTab({ handlers: shop });
  onTestFinished(() => tab.crash());
  const show = (children: ReactNode): void => {
    render(<QueryClientProvider client={tab.client}>{children}</QueryClientProvider>);
  };
  show(
    <>
      <OutboxBadge />
      <OutboxPanel describe={({ variables }) => String(variables)} />
    </>,
  );
  const stop = listen();
  browser.server.rule = (arrival) => arrival.answer(422);
  tab.outbox.submit('order', 'lamp');
  await act(() => browser.pass(200));
  for (const name of ['Discard lamp', 'Discard for good lamp'])
    await act(async () => {
      fireEvent.click(screen.getByRole('button', { name }));
      await settle();
    });
  await act(() => browser.pass(200));
  expect(stop()).toEqual([
    // The badge or the panel.
    'status: 1 needs your attention',
    'status: Discarded.',
  ]);
});

test('a form tells of an unknown outcome as an alarm, of its question, and of the end', async () => {
  const rig = createFormRig();
  rig.book.plan('lost answer');
  rig.show(
    <SafeForm
      form="checkout"
      mutation={rig.placeOrder}
      submitLabel="Order"
      variables={(fields) => ({ sku: fields.get('sku') as string })}
    >
      <input aria-label="Article" name="sku" defaultValue="kite" />
    </SafeForm>,
  );
  const stop = listen();
  const press = async (name: string): Promise<void> => {
    act(() => void fireEvent.click(screen.getByRole('button', { name })));
    await rig.time.settle();
  };
  await press('Order');
  fireEvent.change(screen.getByRole('textbox'), { target: { value: 'dragon' } });
  await press('Order');
  await press('Send it');
  expect(stop()).toEqual([
    'alert: It is not known whether this has arrived. Press Order again: it will not be done twice.',
    'status: Send this, too?',
    'status: Sent.',
  ]);
});
