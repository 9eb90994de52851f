import { useState } from 'react';
import { press } from './press.ts';
import { Shown } from './shown.tsx';
import type { Props, Tutorial } from './tutorial.ts';

const withOptions = (own: object) =>
  function WithOptions(props: Props) {
    return <Shown {...props} own={own} />;
  };

/** Two components of one query, of which one leaves. */
const two = (own: object) =>
  function Two(props: Props) {
    const [isBoth, setBoth] = useState(true);
    return (
      <div>
        <button onClick={() => setTimeout(() => setBoth(false), 1500)}>Go</button>
        {isBoth && <Shown {...props} />}
        <Shown {...props} own={own} />
      </div>
    );
  };

const nothing = (): void => {};

const untilError = ({ state }: { readonly state: { readonly status: string } }) =>
  state.status === 'error' ? false : 5000;

const polls: readonly (readonly [name: string, own: object, isOpen: boolean])[] = [
  ['with `retry: false`', { retry: false }, true],
  ['with `refetchIntervalInBackground`', { refetchIntervalInBackground: true }, true],
  ['from the first load on', {}, false],
  ['until an error', { refetchInterval: untilError }, true],
];

const options: Readonly<Record<string, object>> = {
  '`retry: 1`': { retry: 1 },
  '`retry: false`': { retry: false },
  '`retry: true`': { retry: true },
  '`retry` by a function': { retry: (count: number) => count < 5 },
  '`retryDelay: 500`': { retryDelay: 500 },
  '`retryDelay` of the docs': {
    retryDelay: (count: number) => Math.min(1000 * 2 ** count, 30_000),
  },
  '`retry: 10, retryDelay: 1000`': { retry: 10, retryDelay: 1000 },
  "`networkMode: 'always'`": { networkMode: 'always' },
  "`networkMode: 'offlineFirst'`": { networkMode: 'offlineFirst' },
  '`gcTime: 0`': { gcTime: 0 },
  '`staleTime: Infinity`': { staleTime: Infinity },
  '`retryOnMount: false`': { retryOnMount: false },
  '`notifyOnChangeProps`': { notifyOnChangeProps: ['data', 'error'] },
};

/** One query with options of its own. */
export const moreOptions: readonly Tutorial[] = [
  ...Object.entries(options).map(([name, own]) => ({ name, App: withOptions(own) })),
  ...polls.map(([name, own, isOpen]) => ({
    name: `polling ${name}`,
    App: withOptions({ refetchInterval: 5000, ...own }),
    ...(isOpen && { act: nothing }),
  })),
  { name: 'two observers, one leaves', App: two({}), act: press('Go'), content: ['list'] },
  {
    name: '`subscribed: false` beside another',
    App: two({ subscribed: false }),
    act: press('Go'),
    content: ['list'],
  },
];
