import { useQuery } from '@tanstack/react-query';
import { act, fireEvent, screen } from '@testing-library/react';
import { useSteadyMutation } from 'steadfetch/react';
import { mutationOptions, profiles } from 'steadfetch';
import { english, german, japanese, RetryStatus, TextsProvider } from 'steadfetch/ui';
import { afterEach, expect, test, vi } from 'vitest';
import { createRig, type Rig, setOnline } from '../core/react-query/rig.tsx';

afterEach(() => document.documentElement.removeAttribute('lang'));

function Products({ rig, children }: { readonly rig: Rig; readonly children?: React.ReactNode }) {
  const { data } = useQuery({
    queryKey: ['products'],
    queryFn: () => rig.steady.json<string>('/products'),
  });
  return (
    <>
      <p>{data}</p>
      {children ?? <RetryStatus query={['products']} />}
    </>
  );
}

/** What is seen: without what is only heard. */
const seen = (): string => {
  const copy = screen.getByRole('group').cloneNode(true) as HTMLElement;
  for (const told of copy.querySelectorAll('.steadfetch-told')) told.remove();
  return copy.textContent;
};
const heard = (): string => screen.getByRole('status').textContent;
const press = (name: string): void => {
  act(() => void fireEvent.click(screen.getByRole('button', { name })));
};

test('nothing is seen or heard while all is well', async () => {
  const rig = createRig();
  rig.server.plan('/products', { body: 'kites', afterMs: 10 });
  rig.show(<Products rig={rig} />);
  expect(seen()).toBe('');
  await rig.time.advance(10);
  expect(screen.getByText('kites')).toBeTruthy();
  expect([seen(), heard()]).toEqual(['', '']);
});

test('a wait says why, which attempt it was and how long it is, and is heard once', async () => {
  const rig = createRig();
  rig.server.plan('/products', { status: 503 }, { status: 503 }, { body: 'kites' });
  rig.show(<Products rig={rig} />);
  await rig.time.settle();
  expect(seen()).toBe(
    'The server is unavailable (503)Attempt 1 of 4. It goes on by itself.Next attempt in 1sRetry nowCancel',
  );
  const told = 'The server is unavailable (503). Trying again in 1 second.';
  expect(heard()).toBe(told);
  expect(screen.getByRole('timer', { name: 'Next attempt in' }).textContent).toBe('1s');
  await rig.time.advance(499);
  expect(heard()).toBe(told);
  await rig.time.advance(1);
  expect(heard()).toBe('The server is unavailable (503). Trying again in 1 second.');
  await rig.time.advance(1000);
  expect(seen()).toBe('');
  expect(heard()).toBe('Loaded.');
});

test('a wait is heard once, also where what is around it renders meanwhile', async () => {
  const rig = createRig();
  rig.server.plan('/products', { status: 429, headers: { 'retry-after': '20' } });
  const { rerender } = rig.show(<Products rig={rig} />);
  await rig.time.settle();
  const told = 'The server asks for a pause (429). Trying again in 21 seconds.';
  for (let second = 0; second < 3; second++) {
    expect(heard()).toBe(told);
    await rig.time.advance(1000);
    rerender(rig.wrap(<Products rig={rig} />));
  }
});

test('another query in its place has nothing of its trouble, and nothing of what was loaded before is heard', async () => {
  const rig = createRig();
  rig.server.plan('/a', 404);
  rig.server.plan('/b', { afterMs: 10 });
  rig.server.plan('/c', 503, 200);
  const prefetch = (path: string): void =>
    void rig.client.prefetchQuery({ queryKey: [path], queryFn: () => rig.steady.json(path) });
  for (const path of ['/a', '/c']) prefetch(path);
  await rig.time.advance(500);
  prefetch('/b');
  const { rerender } = rig.show(<RetryStatus query={['/a']} />);
  expect(seen()).toBe('This could not be loadedThe server refused (404).Retry now');
  rerender(rig.wrap(<RetryStatus query={['/b']} />));
  expect([seen(), heard()]).toEqual(['', '']);
  rerender(rig.wrap(<RetryStatus query={['/c']} />));
  expect([seen(), heard()]).toEqual(['', '']);
});

test('Retry now sends it at once, and Cancel ends it; the keyboard stays in the component', async () => {
  const rig = createRig();
  rig.server.plan('/products', { status: 500 }, { status: 404 });
  rig.show(<Products rig={rig} />);
  await rig.time.settle();
  screen.getByRole('button', { name: 'Cancel' }).focus();
  press('Cancel');
  await rig.time.settle();
  expect(seen()).toBe('This could not be loadedCancelled.Retry now');
  // Who has cancelled knows it: no alarm.
  expect(screen.getByRole('alert').textContent).toBe('');
  expect(heard()).toBe('This could not be loaded. Cancelled.');
  expect(document.activeElement).toBe(screen.getByRole('group'));
  press('Retry now');
  await rig.time.settle();
  expect(seen()).toBe('This could not be loadedThe server refused (404).Retry now');
  expect(screen.getByRole('alert').textContent).toBe(
    'This could not be loaded. The server refused (404).',
  );
});

test('Retry now says that it tries again, also where it has failed for good', async () => {
  const rig = createRig();
  rig.server.plan('/products', 503, { status: 404, afterMs: 10 }, { body: 'kites', afterMs: 10 });
  rig.show(<Products rig={rig} />);
  await rig.time.settle();
  press('Retry now');
  await rig.time.settle();
  expect(seen()).toBe('Trying againAttempt 1 of 4.Retry nowCancel');
  await rig.time.advance(10);
  expect(seen()).toBe('This could not be loadedThe server refused (404).Retry now');
  press('Retry now');
  await rig.time.settle();
  expect(seen()).toBe('Trying againAttempt 1 of 4.Retry nowCancel');
  await rig.time.advance(10);
  expect(seen()).toBe('');
});

test('offline it is paused, and says that it goes on by itself', async () => {
  const rig = createRig();
  setOnline(false);
  rig.server.plan('/products', { body: 'kites' });
  rig.show(<Products rig={rig} />);
  await rig.time.settle();
  expect(seen()).toBe('You are offlineIt goes on by itself.Retry nowCancel');
  setOnline(true);
  await rig.time.settle();
  expect(seen()).toBe('');
});

test('a mutation says what became of it, and never that it failed where it may have been done', async () => {
  const rig = createRig({ apis: [{ match: '/orders', idempotency: profiles.draft }] });
  rig.server.plan('/orders', 'hang');
  const order = mutationOptions(rig.steady, {
    mutationFn: (_: void, { json }) => json('/orders', { method: 'POST' }),
    policy: { maxRetries: 0 },
  });
  function Order() {
    const { mutate, target } = useSteadyMutation(order);
    return (
      <>
        <button onClick={() => mutate()}>Order</button>
        <RetryStatus mutation={target} />
      </>
    );
  }
  rig.show(<Order />);
  expect(seen()).toBe('');
  press('Order');
  await rig.time.settle();
  expect(seen()).toBe('SendingCancel');
  await rig.time.advance(60_000);
  expect(seen()).toBe('It is not known whether this was doneThe server did not answer in time.');
});

test('a refusal after an attempt that may have arrived leaves it open whether the mutation was done', async () => {
  const rig = createRig({ apis: [{ match: '/orders', idempotency: profiles.draft }] });
  rig.server.plan('/orders', 'network', 403);
  const order = mutationOptions(rig.steady, {
    mutationFn: (_: void, { json }) => json('/orders', { method: 'POST' }),
  });
  function Order() {
    const { mutate, target } = useSteadyMutation(order);
    return (
      <>
        <button onClick={() => mutate()}>Order</button>
        <RetryStatus mutation={target} />
      </>
    );
  }
  rig.show(<Order />);
  press('Order');
  await rig.time.settle();
  expect(seen()).toBe(
    'No answer from the serverAttempt 1 of 4. It goes on by itself.Next attempt in 1sRetry nowCancel',
  );
  await rig.time.advance(1000);
  expect(rig.server.times('/orders')).toEqual([0, 500]);
  expect(seen()).toBe('It is not known whether this was doneAn earlier attempt may have arrived.');
});

test('an attempt that starts by itself is seen and not heard, and one after a press is heard', async () => {
  const rig = createRig({ health: {} });
  const slow = { status: 503, afterMs: 250 };
  rig.server.plan('/products', slow, slow, slow, slow, slow, { body: 'kites', afterMs: 100 });
  rig.show(<Products rig={rig} />);
  const told: string[] = [];
  const listen = async (tenths: number): Promise<void> => {
    for (let tenth = 0; tenth < tenths; tenth++) {
      await rig.time.advance(100);
      if (told.at(-1) !== heard()) told.push(heard());
    }
  };
  await listen(9);
  expect(seen()).toBe('Trying againAttempt 2 of 4.Retry nowCancel');
  await listen(20);
  press('Retry now');
  await listen(40);
  expect(told).toEqual([
    '',
    'The server is unavailable (503). Trying again in 1 second.',
    'This is not available right now. It goes on by itself.',
    'Trying again. Attempt 5 of 6.',
    'This is not available right now. It goes on by itself.',
    'Loaded.',
  ]);
});

test('a render prop draws it, and what is heard stays', async () => {
  const rig = createRig();
  rig.server.plan('/products', { status: 503 });
  rig.show(
    <Products rig={rig}>
      <RetryStatus query={['products']}>
        {({ title, attempt, maxAttempts }) => `${title}: ${attempt}/${maxAttempts}`}
      </RetryStatus>
    </Products>,
  );
  await rig.time.settle();
  expect(seen()).toBe('The server is unavailable (503): 1/4');
  expect(heard()).toBe('The server is unavailable (503). Trying again in 1 second.');
});

test.each([
  ['de-AT', 'Der Server ist gerade nicht verfügbar (503). Neuer Versuch in 1 Sekunde.'],
  ['ja', 'サーバーを利用できません (503)。 1秒後に再試行します。'],
  ['fr', 'The server is unavailable (503). Trying again in 1 second.'],
])('a page in %s has its texts, or else the first', async (lang, expected) => {
  document.documentElement.lang = lang;
  const rig = createRig();
  rig.server.plan('/products', { status: 503 });
  rig.show(
    <TextsProvider texts={[english, german, japanese]}>
      <Products rig={rig} />
    </TextsProvider>,
  );
  await rig.time.settle();
  expect(heard()).toBe(expected);
});

test('a wait makes no format of Intl: the first with a unit takes 30 ms, just when something has failed', async () => {
  const made = vi.spyOn(Intl, 'NumberFormat');
  const rig = createRig();
  rig.server.plan('/products', { status: 503 });
  rig.show(<Products rig={rig} />);
  await rig.time.settle();
  expect(heard()).toBe('The server is unavailable (503). Trying again in 1 second.');
  expect(made).not.toHaveBeenCalled();
  made.mockRestore();
});
