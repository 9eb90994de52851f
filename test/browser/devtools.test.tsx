import { QueryClient, QueryClientProvider, useQuery } from '@tanstack/react-query';
import { TanStackDevtools } from '@tanstack/react-devtools';
import { ReactQueryDevtools } from '@tanstack/react-query-devtools';
import axe from 'axe-core';
import { type ReactNode, StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { createSteadfetch, type Steadfetch } from 'steadfetch';
import { SteadfetchDevtools, steadfetchDevtoolsPlugin } from 'steadfetch/devtools';
import { createOutbox, outboxHandler } from 'steadfetch/outbox';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { patienceMs } from '../setup/patience.ts';
import { emulateMedia } from './media.ts';

let end: () => void;

/** A page whose own style would spoil the devtools, with operations of every kind. */
function openPage(children: ReactNode, host = document.createElement('main')): Steadfetch {
  const steady = createSteadfetch({
    random: () => 0.5,
    fetch: async (input) => {
      const url = String(input instanceof Request ? input.url : input);
      const status = url.includes('down') ? 503 : url.includes('notes') ? 422 : 200;
      return new Response('{}', { status, headers: { 'Content-Type': 'application/json' } });
    },
  });
  const client = new QueryClient({ defaultOptions: steady.defaultOptions });
  const note = outboxHandler({
    mutationFn: (text: string, { json }) => json('/notes', { method: 'POST', json: text }),
  });
  const name = `devtools ${performance.now()}`;
  const outbox = createOutbox({ steady, queryClient: client, handlers: { note }, name });
  function Items() {
    useQuery({ queryKey: ['down', 1], queryFn: () => steady.json('/down/1') });
    useQuery({ queryKey: ['down', 2], queryFn: () => steady.json('/down/2') });
    useQuery({ queryKey: ['fine'], queryFn: () => steady.json('https://fine.example/fine') });
    return null;
  }
  document.body.append(host);
  const style = document.head.appendChild(document.createElement('style'));
  style.textContent = `* { letter-spacing: 3px; color: hotpink; } div, button { display: inline !important; }`;
  const root = createRoot(host);
  end = () => {
    root.unmount();
    host.remove();
    style.remove();
    outbox.dispose();
    steady.dispose();
  };
  root.render(
    <StrictMode>
      <QueryClientProvider client={client}>
        <Items />
        {children}
      </QueryClientProvider>
    </StrictMode>,
  );
  outbox.submit('note', 'A note').delivered.catch(() => {});
  return steady;
}

const shadow = (): ShadowRoot => {
  const root = document.querySelector('[data-steadfetch-devtools]')?.shadowRoot;
  if (!root) throw new Error('The devtools are not there.');
  return root;
};
const find = (selector: string): HTMLElement | null =>
  shadow().querySelector<HTMLElement>(selector);
const open = async (): Promise<void> => {
  await vi.waitFor(() => expect(find('.badge')?.ariaLabel).toContain('2 paused'));
  find('.badge')?.click();
  await vi.waitFor(() => expect(find('.panel')).not.toBeNull());
};
const tabs = (): HTMLElement[] => [...shadow().querySelectorAll<HTMLElement>('[role=tab]')];

beforeEach(() => {
  Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: false });
  document.documentElement.lang = 'en';
  document.title = 'Devtools';
});
afterEach(() => end());

test.each(['light', 'dark'] as const)('axe finds nothing in any tab, in %s', async (theme) => {
  openPage(<SteadfetchDevtools theme={theme} />);
  await open();
  for (const tab of tabs()) {
    tab.click();
    await vi.waitFor(() => expect(tab.ariaSelected).toBe('true'));
    find('.op')?.click();
    await new Promise((resolve) => setTimeout(resolve, 50));
    const { violations } = await axe.run(
      { fromShadowDom: ['[data-steadfetch-devtools]', '.panel'] },
      // The page's own affair.
      { rules: { region: { enabled: false } } },
    );
    const found = violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]);
    expect([tab.textContent, found]).toEqual([tab.textContent, []]);
  }
});

test('in forced colours badge, tabs, the selected operation, buttons and bars can be told apart', async (context) => {
  await emulateMedia(context, { forcedColors: 'active' });
  openPage(<SteadfetchDevtools theme="light" />);
  await vi.waitFor(() => expect(find('.badge')?.ariaLabel).toContain('2 paused'));
  const probe = document.body.appendChild(document.createElement('i'));
  onTestFinished(() => probe.remove());
  const system = (name: string): string => {
    probe.style.setProperty('color', name, 'important');
    return getComputedStyle(probe).color;
  };
  const styleOf = (selector: string): CSSStyleDeclaration =>
    getComputedStyle(find(selector) as HTMLElement);
  expect(styleOf('.badge').borderTopStyle).toBe('solid');
  await open();
  expect(styleOf('.chip').borderTopStyle).toBe('solid');
  expect([
    styleOf('[role=tab][aria-selected=true]').borderBottomColor,
    styleOf('[role=tab][aria-selected=false]').borderBottomColor,
  ]).toEqual([system('Highlight'), system('Canvas')]);
  const bars = ['down', 'none'].map((cell) => styleOf(`.strip i[data-cell=${cell}]`));
  expect(bars.map(({ forcedColorAdjust }) => forcedColorAdjust)).toEqual(['none', 'auto']);
  tabs()[1]?.click();
  await vi.waitFor(() => expect(find('.op')).not.toBeNull());
  find('.op')?.click();
  await vi.waitFor(() => expect(find('.op[aria-current=true]')).not.toBeNull());
  const { borderLeftColor, borderLeftWidth } = styleOf('.op[aria-current=true]');
  expect([borderLeftColor, borderLeftWidth]).toEqual([system('Highlight'), '3px']);
  tabs()
    .find(({ textContent }) => textContent === 'Faults')
    ?.click();
  await vi.waitFor(() => expect(find('.form')).not.toBeNull());
  const { color, backgroundColor } = styleOf('.form [data-primary]');
  expect([color, backgroundColor]).toEqual([system('ButtonFace'), system('ButtonText')]);
});

test('the style of the page does not reach it', async () => {
  openPage(<SteadfetchDevtools theme="light" />);
  await open();
  const { letterSpacing, color, display } = getComputedStyle(find('.head') as HTMLElement);
  expect([letterSpacing, color, display]).toEqual(['normal', 'rgb(23, 32, 46)', 'flex']);
});

test.each([390, 320])('at %i px nothing is cut off in any tab', async (width) => {
  openPage(<SteadfetchDevtools />);
  await open();
  const dock = find('.dock') as HTMLElement;
  dock.style.width = `${width}px`;
  for (const tab of tabs()) {
    tab.click();
    await vi.waitFor(() => expect(tab.ariaSelected).toBe('true'));
    const wide = [...shadow().querySelectorAll<HTMLElement>('.body, .body *:not(.cut, .told)')]
      .filter((one) => one.scrollWidth > Math.max(one.clientWidth, width) + 1)
      .map((one) => one.outerHTML.slice(0, 80));
    expect([tab.textContent, wide]).toEqual([tab.textContent, []]);
  }
});

test('the keyboard alone opens it, goes through it, and closes it', async () => {
  const { userEvent } = await import('vitest/browser');
  openPage(<SteadfetchDevtools />);
  await vi.waitFor(() => expect(find('.badge')).not.toBeNull());
  // Firefox sends keys to the frame that has the focus.
  window.focus();
  find('.badge')?.focus();
  await userEvent.keyboard('{Enter}');
  await vi.waitFor(() => expect(shadow().activeElement?.textContent).toMatch(/^Origins/));
  await userEvent.keyboard('{ArrowRight}');
  await vi.waitFor(() => expect(shadow().activeElement?.textContent).toMatch(/^Operations/));
  await userEvent.keyboard('{Escape}');
  await vi.waitFor(() => expect(shadow().activeElement?.className).toBe('badge'));
});

test("with React Query's and TanStack's devtools beside it nothing throws, and it is a plugin there", async () => {
  const errors: unknown[] = [];
  const onError = ({ error }: ErrorEvent): void => void errors.push(error);
  addEventListener('error', onError);
  openPage(
    <>
      <ReactQueryDevtools initialIsOpen />
      <TanStackDevtools
        config={{ defaultOpen: true, theme: 'dark' }}
        plugins={[steadfetchDevtoolsPlugin()]}
      />
    </>,
  );
  const plugin = (): HTMLElement | undefined =>
    [...document.querySelectorAll<HTMLElement>('h3, button, div')].findLast(
      (one) => one.textContent.trim() === 'Steadfetch',
    );
  await vi.waitFor(() => expect(plugin()).toBeDefined(), { timeout: patienceMs });
  plugin()?.click();
  await vi.waitFor(() => expect(find('.card')).not.toBeNull(), { timeout: patienceMs });
  expect(find('.root')?.dataset['theme']).toBe('dark');
  removeEventListener('error', onError);
  expect(errors).toEqual([]);
});
