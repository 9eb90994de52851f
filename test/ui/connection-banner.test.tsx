import { act, fireEvent, screen } from '@testing-library/react';
import { watchConnectivity } from 'steadfetch';
import { ConnectionBanner } from 'steadfetch/ui';
import { expect, test } from 'vitest';
import { setBrowserOnline } from '../core/react-query/network.ts';
import { createRig, setOnline } from '../core/react-query/rig.tsx';

const seen = (): string => {
  const copy = document.querySelector('.steadfetch-banner')?.cloneNode(true) as HTMLElement;
  for (const told of copy.querySelectorAll('.steadfetch-told')) told.remove();
  return copy.textContent;
};
const heard = (): string => screen.getByRole('status').textContent;

test('offline it says so, and for five seconds that it is over', async () => {
  const rig = createRig();
  rig.show(<ConnectionBanner />);
  expect([seen(), heard()]).toEqual(['', '']);
  setOnline(false);
  expect([seen(), heard()]).toEqual(['You are offline', 'You are offline.']);
  setOnline(true);
  expect([seen(), heard()]).toEqual(['Connected again', 'Connected again.']);
  await rig.time.advance(4999);
  expect(seen()).toBe('Connected again');
  await rig.time.advance(1);
  expect([seen(), heard()]).toEqual(['', '']);
});

test('an origin that is down is named as the server, with how many requests wait and when it is tried', async () => {
  const rig = createRig({ health: {} });
  rig.server.plan('/a', 503, 503, 503);
  rig.show(<ConnectionBanner origin="http://localhost:3000" />);
  const ask = (): void =>
    void rig.client.prefetchQuery({ queryKey: ['a'], queryFn: () => rig.steady.json('/a') });
  act(ask);
  await rig.time.advance(500);
  expect(seen()).toBe('The server is down1 request is waiting.Next attempt in 1sTry now');
  expect(heard()).toBe('The server is down.');
});

test('an outage that is over is said to be', async () => {
  const rig = createRig({ health: {} });
  rig.server.plan('/a', 503, 503);
  rig.show(<ConnectionBanner />);
  act(
    () => void rig.client.prefetchQuery({ queryKey: ['a'], queryFn: () => rig.steady.json('/a') }),
  );
  await rig.time.advance(1049);
  expect(seen()).toBe('The server is down1 request is waiting.Next attempt in 1sTry now');
  await rig.time.advance(1);
  expect([seen(), heard()]).toEqual(['Connected again', 'Connected again.']);
});

test('one that is only forgotten, because nobody has asked for a minute, is not said to be over', async () => {
  const rig = createRig({ health: {}, policy: { maxPauseMs: 5000 } });
  rig.server.plan('/a', ...Array.from({ length: 9 }, () => 503));
  rig.show(<ConnectionBanner />);
  const ask = (): Promise<void> =>
    rig.client.prefetchQuery({ queryKey: ['a'], queryFn: () => rig.steady.json('/a') });
  act(() => void ask());
  await rig.time.advance(60_000);
  expect(seen()).toBe('The server is down');
  await rig.time.advance(5000);
  expect([seen(), heard()]).toEqual(['', '']);
});

test('nor is one that begins while the end of another is told', async () => {
  const rig = createRig({ health: {}, policy: { maxPauseMs: 5000 } });
  rig.server.plan('/a', 503, 503, 200, ...Array.from({ length: 9 }, () => 503));
  rig.show(<ConnectionBanner />);
  const ask = (): Promise<void> =>
    rig.client.prefetchQuery({ queryKey: ['a'], queryFn: () => rig.steady.json('/a') });
  act(() => void ask());
  await rig.time.advance(1050);
  expect(heard()).toBe('Connected again.');
  act(() => void ask());
  const told: string[] = [];
  for (let second = 0; second < 90; second++) {
    await rig.time.advance(1000);
    if (told.at(-1) !== heard()) told.push(heard());
  }
  expect(told).toEqual(['Connected again.', 'The server is down.', '']);
});

test('a server that asks for a pause is said to', async () => {
  const rig = createRig({ health: {} });
  rig.server.plan('/a', { status: 429, headers: { 'retry-after': '10' } });
  rig.show(<ConnectionBanner />);
  act(
    () => void rig.client.prefetchQuery({ queryKey: ['a'], queryFn: () => rig.steady.json('/a') }),
  );
  await rig.time.advance(1);
  expect(seen()).toBe('The server asks for a pauseNext attempt in 11s');
});

const pause = { status: 429, headers: { 'retry-after': '10' } };

test.each([
  ['answered', [{ afterMs: 1000 }], ['The server asks for a pause.', '', 'It works again.', '']],
  ['refused again', [pause], ['The server asks for a pause.', 'It works again.', '']],
  ['answered with an error', [500], ['The server asks for a pause.', '', 'It works again.', '']],
] as const)(
  'a pause is said to be over when what has waited for it is loaded: at its end it is %s',
  async (_, answers, expected) => {
    const rig = createRig({ health: {} });
    rig.server.plan('/a', pause, ...answers);
    rig.show(<ConnectionBanner />);
    act(
      () =>
        void rig.client.prefetchQuery({ queryKey: ['a'], queryFn: () => rig.steady.json('/a') }),
    );
    const told: string[] = [];
    const toldOverAs = new Set<string | undefined>();
    for (let tenth = 0; tenth < 400; tenth++) {
      await rig.time.advance(100);
      if (heard() === 'It works again.') toldOverAs.add(rig.client.getQueryState(['a'])?.status);
      if (told.at(-1) !== heard()) told.push(heard());
    }
    expect([told, [...toldOverAs]]).toEqual([expected, ['success']]);
  },
);

test('where the network is watched, Check now checks it', async () => {
  const rig = createRig({ connectivity: watchConnectivity({ check: '/ping' }) });
  rig.server.plan('/ping', 'network', 'network', 200);
  rig.show(<ConnectionBanner />);
  const setOnLine = (isOnline: boolean): void => {
    Object.defineProperty(navigator, 'onLine', { value: isOnline, configurable: true });
    window.dispatchEvent(new Event(isOnline ? 'online' : 'offline'));
  };
  act(() => setOnLine(false));
  await rig.time.settle();
  expect(seen()).toMatch(/^You are offlineNext check in \dsCheck now$/);
  const before = rig.server.times('/ping').length;
  act(() => void fireEvent.click(screen.getByRole('button', { name: 'Check now' })));
  await rig.time.settle();
  expect(rig.server.times('/ping').length).toBe(before + 1);
  Reflect.deleteProperty(navigator, 'onLine');
});

test('where the browser is believed at last, and no check was answered, nothing is said to be over', async () => {
  const rig = createRig({ connectivity: watchConnectivity({ check: '/ping' }) });
  rig.server.plan('/ping', ...Array.from({ length: 20 }, () => 'network' as const));
  rig.server.plan('/', ...Array.from({ length: 20 }, () => 'network' as const));
  rig.show(<ConnectionBanner />);
  setBrowserOnline(false);
  await rig.time.advance(100);
  setBrowserOnline(true);
  const told = new Set<string>();
  for (let second = 0; second < 30; second++) {
    await rig.time.advance(1000);
    told.add(heard());
  }
  expect([...told]).toEqual(['You are offline.', '']);
  act(() => void rig.steady.fetch('/a'));
  await rig.time.advance(1);
  expect(heard()).toBe('Connected again.');
});

test('a render prop draws it, and what is heard stays', () => {
  const rig = createRig();
  rig.show(<ConnectionBanner>{({ status }) => `now ${status}`}</ConnectionBanner>);
  expect(seen()).toBe('now well');
  setOnline(false);
  expect([seen(), heard()]).toEqual(['now offline', 'You are offline.']);
});
