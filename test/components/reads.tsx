import {
  QueryErrorResetBoundary,
  skipToken,
  useQueries,
  useQuery,
  useQueryErrorResetBoundary,
  useSuspenseQueries,
  useSuspenseQuery,
} from '@tanstack/react-query';
import { Suspense, useEffect, useState } from 'react';
import { ErrorBoundary } from './error-boundary.tsx';
import { press } from './press.ts';
import type { List, Props, Tutorial } from './tutorial.ts';

const useList = ({ api }: Props) =>
  useQuery({ queryKey: ['list'], queryFn: () => api.get<List>('/api/list') });

/** With JavaScript the `!` is not even seen. */
function Ladder(props: Props) {
  const { isLoading, error, data } = useList(props);
  if (isLoading) return <p>Loading…</p>;
  if (error) return <p>Failed: {error.message}</p>;
  return <ul>{data!.items.join()}</ul>;
}

export function PendingLadder(props: Props) {
  const { isPending, isError, error, data } = useList(props);
  if (isPending) return <span>Loading…</span>;
  if (isError) return <span>Failed: {error.message}</span>;
  return <ul>{data.items.join()}</ul>;
}

function StatusSwitch(props: Props) {
  const { status, error, data } = useList(props);
  switch (status) {
    case 'pending':
      return <p>Loading…</p>;
    case 'error':
      return <p>Failed: {error.message}</p>;
    case 'success':
      return <ul>{data.items.join()}</ul>;
  }
}

function SideBySide(props: Props) {
  const { isLoading, isError, data } = useList(props);
  return (
    <main>
      {isLoading && <p>Loading…</p>}
      {isError && <p>Failed</p>}
      {data && <ul>{data.items.join()}</ul>}
    </main>
  );
}

function EmptyByDefault(props: Props) {
  const { data: { items } = { items: [] }, isLoading, isError } = useList(props);
  if (isLoading) return <p>Loading…</p>;
  if (isError) return <p>Failed</p>;
  return items.length === 0 ? <p>Nothing here yet</p> : <ul>{items.join()}</ul>;
}

function Fetched(props: Props) {
  const { isFetched, isError, data } = useList(props);
  if (!isFetched) return <p>Loading…</p>;
  return <p>{isError ? 'Failed' : data!.items.join()}</p>;
}

/** As the docs show it for what waits for the network. */
function NetworkStatus(props: Props) {
  const { fetchStatus, isPending, isError, data } = useList(props);
  if (fetchStatus === 'paused') return <p>You are offline…</p>;
  if (isPending) return <p>Loading…</p>;
  return <p>{isError ? 'Failed' : data.items.join()}</p>;
}

function SuspendedList({ api }: Props) {
  const { data } = useSuspenseQuery({
    queryKey: ['list'],
    queryFn: () => api.get<List>('/api/list'),
  });
  return <ul>{data.items.join()}</ul>;
}

function Suspended(props: Props) {
  return (
    <ErrorBoundary>
      <Suspense fallback={<p>Loading…</p>}>
        <SuspendedList {...props} />
      </Suspense>
    </ErrorBoundary>
  );
}

function TwoSuspended({ api }: Props) {
  const [list, offers] = useSuspenseQueries({
    queries: [
      { queryKey: ['list'], queryFn: () => api.get<List>('/api/list') },
      { queryKey: ['offers'], queryFn: () => api.get<List>('/api/offers') },
    ],
  });
  return <ul>{[...list.data.items, ...offers.data.items].join()}</ul>;
}

function SuspendedTwice(props: Props) {
  return (
    <ErrorBoundary>
      <Suspense fallback={<p>Loading…</p>}>
        <TwoSuspended {...props} />
      </Suspense>
    </ErrorBoundary>
  );
}

function ThrowingList({ api }: Props) {
  const { data } = useQuery({
    queryKey: ['list'],
    queryFn: () => api.get<List>('/api/list'),
    throwOnError: true,
  });
  return data ? <ul>{data.items.join()}</ul> : <p>Loading…</p>;
}

function Resettable(props: Props) {
  const { reset } = useQueryErrorResetBoundary();
  return (
    <ErrorBoundary onReset={reset}>
      <ThrowingList {...props} />
    </ErrorBoundary>
  );
}

function Throwing(props: Props) {
  return (
    <QueryErrorResetBoundary>
      <Resettable {...props} />
    </QueryErrorResetBoundary>
  );
}

function TwoQueries({ api }: Props) {
  const results = useQueries({
    queries: ['list', 'offers'].map((name) => ({
      queryKey: [name],
      queryFn: () => api.get<List>(`/api/${name}`),
    })),
  });
  return (
    <ul>
      {results.map(({ isLoading, isError, data }, index) => (
        <li key={['list', 'offers'][index]}>
          {isLoading ? 'Loading…' : isError ? 'Failed' : data!.items.join()}
        </li>
      ))}
    </ul>
  );
}

/** The user begins after two seconds, and goes on as soon as the next step is there. */
function Wizard({ api }: Props) {
  const [step, setStep] = useState(0);
  const { data, isError } = useQuery({
    queryKey: ['step', step],
    queryFn: () => api.get<List>(`/api/step${step}`),
    enabled: step > 0,
  });
  useEffect(() => {
    if (step === 6 || (step > 0 && !data)) return;
    const timer = setTimeout(() => setStep(step + 1), step === 0 ? 2000 : 0);
    return () => clearTimeout(timer);
  }, [data, step]);
  return <p>{isError ? 'Failed' : data ? data.items.join() : 'Next step…'}</p>;
}

/** Widgets that need an endpoint each, and a wizard that needs neither. */
function Beside({ api }: Props) {
  const results = useQueries({
    queries: ['widget1', 'widget2'].map((name) => ({
      queryKey: [name],
      queryFn: () => api.get<List>(`/api/${name}`),
    })),
  });
  return (
    <main>
      {results.map(({ isPending, isError, data }, index) => (
        <p key={['first', 'second'][index]}>
          {isPending ? 'Loading…' : isError ? 'Failed' : data.items.join()}
        </p>
      ))}
      <Wizard api={api} />
    </main>
  );
}

function Dependent({ api }: Props) {
  const { data: user, isError } = useQuery({
    queryKey: ['user'],
    queryFn: () => api.get<{ id: number }>('/api/user'),
  });
  const id = user?.id;
  const { status, fetchStatus, data } = useQuery({
    queryKey: ['list', id],
    queryFn: () => api.get<List>(`/api/list?user=${id}`),
    enabled: !!id,
  });
  if (isError) return <p>Failed</p>;
  if (status === 'pending') return <p>{fetchStatus === 'idle' ? 'Who are you…' : 'Loading…'}</p>;
  return <p>{status === 'error' ? 'Failed' : data.items.join()}</p>;
}

function AfterLogin({ api }: Props) {
  const [isLoggedIn, setLoggedIn] = useState(false);
  const { isLoading, isError, data } = useQuery({
    queryKey: ['list'],
    queryFn: () => api.get<List>('/api/list'),
    enabled: isLoggedIn,
  });
  if (!isLoggedIn) return <button onClick={() => setLoggedIn(true)}>Log in</button>;
  if (isLoading) return <p>Loading…</p>;
  if (isError) return <p>Failed</p>;
  return <ul>{data!.items.join()}</ul>;
}

function Chosen({ api }: Props) {
  const [name, setName] = useState<string>();
  const { data, isLoading, isError } = useQuery({
    queryKey: ['chosen', name],
    queryFn: name ? () => api.get<List>(`/api/${name}`) : skipToken,
  });
  if (!name) return <button onClick={() => setName('list')}>Choose</button>;
  return <p>{isLoading ? 'Loading…' : isError ? 'Failed' : data!.items.join()}</p>;
}

function Selected({ api }: Props) {
  const { data, isLoading, error } = useQuery({
    queryKey: ['list'],
    queryFn: () => api.get<List>('/api/list'),
    select: ({ items }) => items.map((item) => item.toLowerCase()),
  });
  if (isLoading) return <p>Loading…</p>;
  if (error) return <p>Failed</p>;
  return <ul>{data!.map((item) => item)}</ul>;
}

function Initial({ api }: Props) {
  const { data, isFetching, isError } = useQuery({
    queryKey: ['list'],
    queryFn: () => api.get<List>('/api/list'),
    initialData: { items: ['list 0'] },
  });
  return (
    <p>
      {data.items.join()} {isFetching && 'Updating…'} {isError && 'Failed'}
    </p>
  );
}

function Placeholder({ api }: Props) {
  const { data, isPlaceholderData, isError } = useQuery({
    queryKey: ['list'],
    queryFn: () => api.get<List>('/api/list'),
    placeholderData: { items: ['list 0'] },
  });
  if (isError) return <p>Failed</p>;
  return <p>{isPlaceholderData ? 'Preview…' : data!.items.join()}</p>;
}

export const reads: readonly Tutorial[] = [
  { name: '`isLoading`, `error`, `data.items`', App: Ladder },
  { name: 'the same in `StrictMode`', App: Ladder, isStrict: true },
  { name: '`isPending`, `isError`, `data`', App: PendingLadder },
  { name: 'a `switch` over `status`', App: StatusSwitch },
  { name: '`isLoading &&`, `isError &&`, `data &&`', App: SideBySide },
  {
    name: '`data = []`, and "Nothing here yet"',
    App: EmptyByDefault,
    claims: { 'Nothing here': () => false },
  },
  { name: '`isFetched`', App: Fetched },
  {
    name: "`fetchStatus === 'paused'`",
    App: NetworkStatus,
    claims: { 'You are offline': ({ isOnline }) => !isOnline },
  },
  { name: '`useSuspenseQuery` in an error boundary', App: Suspended },
  { name: '`useSuspenseQueries`', App: SuspendedTwice, content: ['list 2', 'offers 2'] },
  { name: '`throwOnError` with a reset', App: Throwing },
  { name: '`useQueries`', App: TwoQueries, content: ['list 2', 'offers 2'] },
  {
    name: 'six steps beside two widgets',
    App: Beside,
    broken: 'GET /api/widget',
    content: ['step6 2'],
  },
  { name: 'a query that depends on another', App: Dependent, broken: 'GET /api/user' },
  { name: '`enabled` after a login', App: AfterLogin, act: press('Log in') },
  { name: '`skipToken` until a choice', App: Chosen, act: press('Choose') },
  { name: '`select`', App: Selected },
  { name: '`initialData`', App: Initial },
  { name: '`placeholderData`', App: Placeholder },
];
