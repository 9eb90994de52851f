import {
  type ComponentType,
  createElement,
  startTransition,
  useEffect,
  useRef,
  useState,
} from 'react';
import { Header } from './navigation.tsx';
import { entries, type Entry, type Head, type Name, parseHash, Shell } from './shell.tsx';
import { useHash } from './use-hash.ts';

/** A page, and where on it one is: the rest of the hash. */
type Page = ComponentType<{ readonly place: string | undefined }>;

/** Each is loaded when it is opened, and starts its mock API then: `started` rejects where it cannot. */
type Load = () => Promise<{ readonly default: Page; readonly started?: Promise<void> }>;

const pages: Readonly<Record<Name, Load>> = {
  storm: () => import('./storm/storm-view.tsx'),
  read: () => import('./read/read.tsx'),
  order: () => import('./order/order.tsx'),
  send: () => import('./send/send.tsx'),
  tabs: () => import('./tabs/tabs.tsx'),
};

/** Where a page cannot start. */
const failed: Head = {
  heading: 'This page could not start',
  lead: 'Reload it, over https or on localhost. Its server runs in your browser, as a service worker.',
};

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
      try {
        const { default: page, started } = await pages[name]();
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
  const { title, head }: Entry = entries[name];
  useEffect(() => {
    document.title = title;
    if (shown.current === name) return;
    shown.current = name;
    // As on a new page: from the top.
    scrollTo(0, 0);
    document.querySelector<HTMLElement>('h1')?.focus({ preventScroll: true });
  }, [name, title]);
  const content = page && createElement(page, { place });
  if (page && !head) {
    return (
      <>
        <Header current={name} />
        {content}
      </>
    );
  }
  return (
    <Shell name={name} head={page === null ? failed : head} isBusy={isBusy}>
      {content}
    </Shell>
  );
}
