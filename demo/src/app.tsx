import { type ComponentType, createElement, startTransition, useEffect, useRef, useState } from 'react';
import { Header } from './navigation.tsx';
import { isStorm } from './storm/is-storm.ts';
import { useHash } from './use-hash.ts';

/** A page, and where on it one is: the rest of the hash. */
type Page = ComponentType<{ readonly place: string | undefined }>;

/** What stands above a page, before it is loaded, too. */
interface Head {
  readonly heading: string;
  readonly lead: string;
}

interface Entry {
  readonly title: string;
  /** Without one, the page has its own. */
  readonly head?: Head;
  /** Each is loaded when it is opened, and starts its mock API then: `started` rejects where it cannot. */
  readonly load: () => Promise<{ readonly default: Page; readonly started?: Promise<void> }>;
}

const withHead = (head: Head, load: Entry['load']): Entry => ({
  title: `${head.heading} · Steadfetch`,
  head,
  load,
});

const pages = {
  storm: {
    title: 'Steadfetch: your API is down, a thousand tabs ask again',
    load: () => import('./storm/storm-view.tsx'),
  },
  read: withHead(
    {
      heading: 'Read it',
      lead: 'Two pages ask for the same list at the same time. Then their server gets into trouble.',
    },
    () => import('./read/read.tsx'),
  ),
  order: withHead(
    {
      heading: 'Order it',
      lead: 'An answer gets lost, so the order is sent again. Only a key tells the shop that it is the same order.',
    },
    () => import('./order/order.tsx'),
  ),
  send: withHead(
    {
      heading: 'Send it',
      lead: 'You press Send without a network, and then close the page. Does it ever arrive?',
    },
    () => import('./send/send.tsx'),
  ),
  tabs: withHead(
    {
      heading: 'Three tabs, one probe',
      lead: 'These are real tabs of your browser. All want the same list, and their server goes down. One of them asks whether it is back, and tells the others.',
    },
    () => import('./tabs/tabs.tsx'),
  ),
} satisfies Record<string, Entry>;

/** Where a page cannot start. */
const failed: Head = {
  heading: 'This page could not start',
  lead: 'Reload it, over https or on localhost. Its server runs in your browser, as a service worker.',
};

type Name = keyof typeof pages;

/** `#/read/404`: the page, and the place on it. */
function parseHash(hash: string): { readonly name: Name; readonly place: string | undefined } {
  const [, name = '', place] = hash.split('/');
  return name in pages
    ? { name: name as Name, place }
    : { name: isStorm(hash) ? 'storm' : 'read', place };
}

interface Loaded {
  /** Undefined until it is loaded, and null where it cannot start. */
  readonly page?: Page | null;
  /** Its mock API has not started yet. */
  readonly isBusy: boolean;
}

function usePage(name: Name): Loaded {
  const [pagesLoaded, setLoaded] = useState<Readonly<Partial<Record<Name, Loaded>>>>({});
  useEffect(() => {
    // In slices: a page is a lot to render at once.
    const show = (loaded: Loaded): void =>
      startTransition(() => setLoaded((now) => ({ ...now, [name]: loaded })));
    const load = async (): Promise<void> => {
      const entry: Entry = pages[name];
      try {
        const { default: page, started } = await entry.load();
        if (started) show({ page, isBusy: true });
        await started;
        show({ page, isBusy: false });
      } catch (error) {
        console.error(error);
        show({ page: null, isBusy: false });
      }
    };
    void load();
  }, [name]);
  return pagesLoaded[name] ?? { isBusy: true };
}

export function App() {
  const { name, place } = parseHash(useHash());
  const { page, isBusy } = usePage(name);
  const shown = useRef(name);
  const { title, head }: Entry = pages[name];
  useEffect(() => {
    document.title = title;
    if (shown.current === name) return;
    shown.current = name;
    // As on a new page: from the top.
    scrollTo(0, 0);
    document.querySelector<HTMLElement>('h1')?.focus({ preventScroll: true });
  }, [name, title]);
  const content = page && createElement(page, { place });
  const above = page === null ? failed : head;
  return (
    <>
      <Header current={name} />
      {page && !head ? (
        content
      ) : (
        <main key={name} className="act" aria-busy={isBusy}>
          {above && (
            <div className="act-head">
              <h1 tabIndex={-1}>{above.heading}</h1>
              <p className="lead">{above.lead}</p>
            </div>
          )}
          {content}
        </main>
      )}
    </>
  );
}
