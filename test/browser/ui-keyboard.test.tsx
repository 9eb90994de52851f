import { watchConnectivity } from 'steadfetch';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { userEvent } from 'vitest/browser';
import { type Answer, focused, openComponents, sees } from './components.tsx';

/** A retry comes only when it is asked for. */
const slow = { policy: { baseMs: 600_000, capMs: 600_000, deadlineMs: 6_000_000 } };

const refused = (): Response => new Response('no', { status: 422 });
const done = (): Response => Response.json({});

async function tabTo(name: string): Promise<void> {
  for (let stop = 0; stop < 20 && focused() !== name; stop += 1) await userEvent.tab();
  expect(focused()).toBe(name);
}
const press = (keys: string): Promise<void> => userEvent.keyboard(keys);
/** Waits until the keyboard is there. */
async function lands(name: string): Promise<void> {
  await expect.poll(focused).toBe(name);
}

beforeEach(() => {
  // A form remembers what may have been done.
  sessionStorage.clear();
  vi.spyOn(console, 'warn').mockReturnValue();
});

test('Retry now keeps the keyboard while it does nothing, and leaves it in the status when it goes', async () => {
  let answer: (response: Response) => void = () => {};
  let asked = 0;
  const page = openComponents((what) => {
    if (what !== 'products') return done();
    asked += 1;
    if (asked === 1) return new Response('', { status: 503 });
    return new Promise<Response>((resolve) => {
      answer = resolve;
    });
  }, slow);
  await sees(page, 'Next attempt in');
  await tabTo('Retry now');
  await press('{Enter}');
  await sees(page, 'Trying again');
  expect([focused(), document.activeElement?.ariaDisabled]).toEqual(['Retry now', 'true']);
  await press(' ');
  await press('{Enter}');
  answer(Response.json([]));
  await lands('steadfetch steadfetch-status');
  expect(asked).toBe(2);
  await userEvent.tab();
  expect(focused()).toBe('Article ');
});

test('Cancel, too: the status keeps the keyboard, and Retry now is next', async () => {
  const page = openComponents(
    (what) => (what === 'products' ? new Response('', { status: 503 }) : done()),
    slow,
  );
  await sees(page, 'Next attempt in');
  await tabTo('Cancel');
  await press(' ');
  await sees(page, 'Cancelled.');
  expect(focused()).toBe('steadfetch steadfetch-status');
  await userEvent.tab();
  expect(focused()).toBe('Retry now');
});

test('Check now leaves the keyboard in the banner, once there is a network', async () => {
  let isThere = false;
  const answer: Answer = () => {
    if (!isThere) throw new TypeError('Failed to fetch');
    return done();
  };
  const page = openComponents(answer, {
    ...slow,
    connectivity: watchConnectivity({ check: '/ping' }),
  });
  Object.defineProperty(navigator, 'onLine', { value: false, configurable: true });
  onTestFinished(() => void Reflect.deleteProperty(navigator, 'onLine'));
  dispatchEvent(new Event('offline'));
  await sees(page, 'You are offline');
  await tabTo('Check now');
  isThere = true;
  await press('{Enter}');
  await sees(page, 'Connected again');
  expect(focused()).toBe('steadfetch steadfetch-banner');
});

test('Discard is asked about at Keep, Escape keeps, and the panel has the keyboard at the end', async () => {
  const page = openComponents((what) => (what === 'notes' ? refused() : done()), slow);
  await sees(page, 'Not sent');
  await tabTo('Discard A note');
  await press('{Enter}');
  await lands('Keep A note');
  await press(' ');
  await lands('Discard A note');
  await press('{Enter}');
  await lands('Keep A note');
  await userEvent.tab();
  expect(focused()).toBe('Discard for good A note');
  await press('{Escape}');
  await lands('Discard A note');
  await press(' ');
  await lands('Keep A note');
  await userEvent.tab();
  await press('{Enter}');
  await sees(page, 'Everything is sent.');
  expect(focused()).toBe('steadfetch steadfetch-outbox');
});

test('the form of Edit is next, and its entry has the keyboard when it closes', async () => {
  let asked = 0;
  const page = openComponents((what) => {
    asked += what === 'notes' ? 1 : 0;
    return what === 'notes' && asked < 2 ? refused() : done();
  }, slow);
  await sees(page, 'Not sent');
  await tabTo('Edit A note');
  await press('{Enter}');
  await lands('steadfetch-entry');
  await userEvent.tab();
  expect(focused()).toBe('Text ');
  await tabTo('Leave it');
  await press('{Enter}');
  await lands('steadfetch-entry');
  await tabTo('Edit A note');
  await press('{Enter}');
  await tabTo('Send the text');
  await press('{Enter}');
  await sees(page, 'Everything is sent.');
  expect(focused()).toBe('steadfetch steadfetch-outbox');
});

test('Enter in a field sends the form, Escape answers its question with no', async () => {
  let lost = 1;
  let arrived = 0;
  const page = openComponents((what) => {
    if (what !== 'orders') return done();
    arrived += 1;
    lost -= 1;
    if (lost >= 0) throw new TypeError('Failed to fetch');
    return done();
  }, slow);
  await tabTo('Article ');
  await press('{Enter}');
  await sees(page, 'whether this has arrived');
  expect(focused()).toBe('Article ');
  await press('2{Enter}');
  await lands('Do not send');
  await press('{Escape}');
  await lands('steadfetch steadfetch-form');
  await userEvent.tab();
  expect([focused(), arrived]).toEqual(['Send', 1]);
  await press(' ');
  await lands('Do not send');
  await userEvent.tab();
  await press('{Enter}');
  await sees(page, 'Send another');
  expect([focused(), arrived]).toEqual(['steadfetch steadfetch-form', 2]);
});
