import type { ReactNode } from 'react';
import { Header } from './navigation.tsx';

/** What stands above a page, before it is loaded, too. */
export interface Head {
  readonly heading: string;
  readonly lead: string;
}

export interface Entry {
  readonly title: string;
  /** Without one, the page has its own. */
  readonly head?: Head;
}

const withHead = (heading: string, lead: string): Entry => ({
  title: `${heading} · Steadfetch`,
  head: { heading, lead },
});

export const entries = {
  storm: { title: 'Steadfetch: your API is down, a thousand tabs ask again' },
  read: withHead(
    'Read it',
    'Two pages ask for the same list at the same time. Then their server gets into trouble.',
  ),
  order: withHead(
    'Order it',
    'An answer gets lost, so the order is sent again. Only a key tells the shop that it is the same order.',
  ),
  send: withHead(
    'Send it',
    'You press Send without a network, and then close the page. Does it ever arrive?',
  ),
  tabs: withHead(
    'Three tabs, one probe',
    'These are real tabs of your browser. All want the same list, and their server goes down. One of them asks whether it is back, and tells the others.',
  ),
} satisfies Record<string, Entry>;

export type Name = keyof typeof entries;

/**
 * The page that a hash names; none or `#/` is the home. The HTML runs it as well, before the app has come, so
 * it uses nothing from outside.
 */
export function pageOf(hash: string, names: readonly string[]): string {
  const [, name = ''] = hash.split('/');
  if (names.includes(name)) return name;
  return ['', '#', '#/'].includes(hash) ? 'storm' : 'read';
}

/** `#/read/404`: the page, and the place on it. */
export function parseHash(hash: string): {
  readonly name: Name;
  readonly place: string | undefined;
} {
  return { name: pageOf(hash, Object.keys(entries)) as Name, place: hash.split('/')[2] };
}

interface Props {
  readonly name: Name;
  readonly head: Head | undefined;
  readonly isBusy: boolean;
  readonly children?: ReactNode;
}

/** The frame of a page that has none of its own: also what is in the HTML, before any script has come. */
export function Shell({ name, head, isBusy, children }: Props) {
  return (
    <>
      <Header current={name} />
      <main key={name} className="act" aria-busy={isBusy}>
        {head && (
          <div className="act-head">
            <h1 tabIndex={-1}>{head.heading}</h1>
            <p className="lead">{head.lead}</p>
          </div>
        )}
        {children}
      </main>
    </>
  );
}
