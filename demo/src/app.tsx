import { type ComponentType, createElement, useEffect, useRef, useState } from 'react';
import { Header } from './navigation.tsx';
import { isStorm } from './storm/is-storm.ts';
import { useHash } from './use-hash.ts';

/** A page, and where on it one is: the rest of the hash. */
type Page = ComponentType<{ readonly place: string | undefined }>;

/** Each is loaded when it is opened, and starts the mock API then. */
const pages = {
  storm: {
    title: 'Steadfetch: your API is down, a thousand tabs ask again',
    load: () => import('./storm/storm-view.tsx'),
  },
  read: { title: 'Read it · Steadfetch', load: () => import('./read/read.tsx') },
  order: { title: 'Order it · Steadfetch', load: () => import('./order/order.tsx') },
  send: { title: 'Send it · Steadfetch', load: () => import('./send/send.tsx') },
  tabs: { title: 'Three tabs, one probe · Steadfetch', load: () => import('./tabs/tabs.tsx') },
} as const satisfies Record<
  string,
  { readonly title: string; readonly load: () => Promise<{ readonly default: Page }> }
>;

type Name = keyof typeof pages;

/** `#/read/404`: the page, and the place on it. */
function parseHash(hash: string): { readonly name: Name; readonly place: string | undefined } {
  const [, name = '', place] = hash.split('/');
  return name in pages
    ? { name: name as Name, place }
    : { name: isStorm(hash) ? 'storm' : 'read', place };
}

/** The page of this name; undefined until it is loaded. */
function usePage(name: Name): Page | undefined {
  const [loaded, setLoaded] = useState<Readonly<Partial<Record<Name, Page>>>>({});
  useEffect(() => {
    const load = async (): Promise<Page> => {
      try {
        return (await pages[name].load()).default;
      } catch (error) {
        console.error(error);
        return Unavailable;
      }
    };
    void load().then((page) => setLoaded((now) => ({ ...now, [name]: page })));
  }, [name]);
  return loaded[name];
}

export function App() {
  const { name, place } = parseHash(useHash());
  const page = usePage(name);
  const shown = useRef(name);
  useEffect(() => {
    document.title = pages[name].title;
    if (shown.current === name) return;
    shown.current = name;
    // As on a new page: from the top.
    scrollTo(0, 0);
    document.querySelector<HTMLElement>('h1')?.focus({ preventScroll: true });
  }, [name]);
  return (
    <>
      <Header current={name} />
      {page ? createElement(page, { place }) : <main className="act" aria-busy="true" />}
    </>
  );
}

function Unavailable() {
  return (
    <main className="act">
      <h1 tabIndex={-1}>This page could not start</h1>
      <p className="lead">
        Reload it, over https or on localhost. Its server runs in your browser, as a service worker.
      </p>
    </main>
  );
}
