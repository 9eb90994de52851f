import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { press } from './press.ts';
import { listOptions, show, Shown } from './shown.tsx';
import type { List, Props, Tutorial } from './tutorial.ts';

function Reset(props: Props) {
  const client = useQueryClient();
  return (
    <div>
      <button onClick={() => void client.resetQueries({ queryKey: ['list'] })}>Reset</button>
      {show(useQuery(listOptions(props)))}
    </div>
  );
}

function Removed(props: Props) {
  const client = useQueryClient();
  const [isShown, setShown] = useState(true);
  return (
    <div>
      <button
        onClick={() => {
          setShown(false);
          setTimeout(() => {
            client.removeQueries({ queryKey: ['list'] });
            setShown(true);
          }, 3000);
          void client.refetchQueries({ queryKey: ['list'] });
        }}
      >
        Remove
      </button>
      {isShown ? <Shown {...props} /> : <p>Closed…</p>}
    </div>
  );
}
function Pushed(props: Props) {
  const client = useQueryClient();
  const { data, isPending, isError, refetch } = useQuery(listOptions(props));
  return (
    <div>
      <button
        onClick={() => {
          void refetch();
          setTimeout(() => client.setQueryData(['list'], { items: ['list 2 pushed'] }), 3000);
        }}
      >
        Refresh
      </button>
      {show({ data, isPending, isError })}
    </div>
  );
}

const cancel = (afterMs: number) =>
  function Cancelled(props: Props) {
    const client = useQueryClient();
    const [isOn, setOn] = useState(false);
    const { isLoading, isError, data, fetchStatus } = useQuery({
      ...listOptions(props),
      enabled: isOn,
    });
    return (
      <div>
        <button
          onClick={() => {
            setOn(true);
            setTimeout(() => void client.cancelQueries({ queryKey: ['list'] }), afterMs);
            setTimeout(() => void client.refetchQueries({ queryKey: ['list'] }), afterMs + 1000);
          }}
        >
          Go
        </button>
        {isLoading && 'Loading…'}
        {fetchStatus === 'idle' && !data && !isError && 'Stopped…'}
        {isError && 'Failed'} {data?.items.join()}
      </div>
    );
  };

function Ids({ api }: Props) {
  const [id, setId] = useState(0);
  const query = useQuery({
    queryKey: ['item', id],
    queryFn: () => api.get<List>(`/api/list?id=${id}`),
    enabled: id > 0,
  });
  return (
    <div>
      <button
        onClick={() => {
          setId(1);
          setTimeout(() => setId(2), 1000);
          setTimeout(() => setId(3), 2500);
        }}
      >
        Open
      </button>
      {id > 0 && show(query)}
    </div>
  );
}

function Toggled(props: Props) {
  const [isOn, setOn] = useState(false);
  const query = useQuery({ ...listOptions(props), enabled: isOn });
  return (
    <div>
      <button
        onClick={() => {
          setOn(true);
          setTimeout(() => setOn(false), 1500);
          setTimeout(() => setOn(true), 3000);
        }}
      >
        Open
      </button>
      {isOn ? show(query) : 'Closed…'}
    </div>
  );
}

function Relogin(props: Props) {
  const client = useQueryClient();
  const [user, setUser] = useState('Ada');
  const query = useQuery(listOptions(props, ['list', user]));
  return (
    <div>
      <button
        onClick={() => {
          void client.invalidateQueries();
          setTimeout(() => {
            client.clear();
            setUser('Bob');
          }, 1500);
        }}
      >
        Switch
      </button>
      {show(query)}
    </div>
  );
}

/** More of what happens to a query meanwhile. */
export const moreScenes: readonly Tutorial[] = [
  { name: '`resetQueries()`', App: Reset, act: press('Reset') },
  { name: '`removeQueries()` and open anew', App: Removed, act: press('Remove') },
  { name: '`setQueryData` from a socket during a refetch', App: Pushed, act: press('Refresh') },
  { name: '`cancelQueries` at 0.2 s', App: cancel(200), act: press('Go') },
  { name: '`cancelQueries` at 2.5 s', App: cancel(2500), act: press('Go') },
  { name: 'three ids in a row', App: Ids, act: press('Open') },
  { name: '`enabled` off and on', App: Toggled, act: press('Open') },
  { name: '`clear()` and another user', App: Relogin, act: press('Switch') },
];
