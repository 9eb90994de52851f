import { QueryClientProvider, useQuery } from '@tanstack/react-query';
import { useEffect, useState, useSyncExternalStore } from 'react';
import { RetryStatus } from 'steadfetch/ui';
import { latency } from '../api/server.ts';
import type { Route } from '../api/route.ts';
import { serve, useServing } from '../api/serving.ts';
import { links } from '../links.ts';
import { Proof } from '../proof.tsx';
import { type Kite, kites } from '../shop/kites.ts';
import { type Board, createBoard, describeBoard, isDown, outageMs, type Tab } from './board.ts';
import { shared, single } from './steady.ts';
import './tabs.css';

const board = createBoard(localStorage, Date.now());

/** The server that all tabs have in common: it is down for each of them from the same moment on. */
const route: Route = {
  method: 'get',
  path: '*/api/tabs/kites',
  async answer(info) {
    const at = Date.now();
    board.note('request', at);
    const isUp = !isDown(board.getState().run, at);
    await latency(info);
    return isUp ? Response.json(kites) : new Response(null, { status: 503 });
  },
};

const serving = serve(route);
/** @public The app waits for it. */
export const { started } = serving;

/** Opens a tab beside this one, as a small window: only who is seen waits for its user. */
function openBeside(place: number): boolean {
  const width = Math.floor(screen.availWidth / 3);
  const size = `width=${width},height=${screen.availHeight},left=${place * width},top=0`;
  return window.open(location.href, '_blank', `popup,${size}`) !== null;
}

/** Do it for real: tabs of this browser that share a probe. */
export default function Tabs() {
  const state = useSyncExternalStore(board.subscribe, board.getState);
  const { run, tabs } = state;
  const isServing = useServing(serving);
  const [isShared, setShared] = useState(true);
  const [told, setTold] = useState('');
  const number = tabs.findIndex(({ id }) => id === board.own) + 1;
  useEffect(() => {
    document.title = `Tab ${number} of ${tabs.length} · Steadfetch`;
  }, [number, tabs.length]);
  const verdict = describeBoard(state);
  const openTwo = (): void => {
    const opened = [1, 2].map(openBeside);
    setTold(
      opened.every(Boolean)
        ? ''
        : 'Your browser has held a tab back: open it with “Open another tab”.',
    );
  };
  return (
    <div className="tabs-page">
      <div className="actions">
        <button
          type="button"
          className="button"
          data-primary={tabs.length > 1 || undefined}
          onClick={() => board.begin(isShared)}
        >
          Take the server down for {outageMs / 1000} s
        </button>
        <button
          type="button"
          className="button"
          data-primary={tabs.length === 1 || undefined}
          onClick={openTwo}
        >
          Open two more tabs
        </button>
        <a className="button" href={location.href} target="_blank" rel="opener">
          Open another tab
        </a>
        <label className="tabs-share">
          <input
            type="checkbox"
            checked={isShared}
            onChange={({ target }) => setShared(target.checked)}
          />
          Tabs share what they know
        </label>
      </div>
      <p className="tabs-told" role="status">
        {told}
      </p>
      <div
        className="verdict"
        data-tone={tabs.every(({ answeredAt }) => answeredAt) ? 'ok' : 'open'}
      >
        <p className="verdict-text">{verdict.text}</p>
        <p className="verdict-detail" role="status">
          {verdict.detail}
        </p>
      </div>
      <Lanes board={state} />
      <section className="pane tabs-own" aria-label="This tab">
        <h2>This is tab {number}</h2>
        {run.number === 0 && <p>It has not asked for anything yet.</p>}
        {run.number > 0 && isServing && <Asking key={run.number} />}
      </section>
      <p className="note">
        One option does it: <code>tabs: shareAcrossTabs()</code>. Without it, each tab asks for
        itself. <a href={links.acrossTabs}>Across tabs</a>
      </p>
      <p className="note">
        A tab that nobody sees waits for the others, so put the windows side by side.
      </p>
      <Proof />
    </div>
  );
}

/** The requests of all tabs, on one time axis. */
function Lanes({ board: { run, tabs } }: { readonly board: Board }) {
  const last = Math.max(0, ...tabs.flatMap(({ requests }) => requests)) - run.startedAt;
  const shownMs = Math.max(outageMs * 1.5, last * 1.1);
  const percent = (ms: number): string => `${(100 * ms) / shownMs}%`;
  const describe = ({ requests, answeredAt }: Tab): string =>
    `${requests.length} ${requests.length === 1 ? 'request' : 'requests'}${answeredAt ? ', answered' : ''}`;
  return (
    <ol className="tab-lanes">
      {tabs.map((tab, index) => (
        <li key={tab.id}>
          <p>
            <b>Tab {index + 1}</b>
            {tab.id === board.own && ' (this one)'} <span>{describe(tab)}</span>
          </p>
          <div className="tab-lane" aria-hidden="true">
            {run.number > 0 && <i className="tab-outage" style={{ width: percent(outageMs) }} />}
            {tab.requests.map((at) => (
              <i
                key={at}
                className="tab-request"
                data-ok={!isDown(run, at) || undefined}
                style={{ left: percent(at - run.startedAt) }}
              />
            ))}
          </div>
        </li>
      ))}
    </ol>
  );
}

/** What this tab wants in the run. */
function Asking() {
  const { run } = board.getState();
  const [{ steady, queryClient }] = useState(run.isShared ? shared : single);
  const [url] = useState(`https://tabs-${run.startedAt}.kites.example/api/tabs/kites`);
  return (
    <QueryClientProvider client={queryClient}>
      <List url={url} load={(signal) => steady.json<readonly Kite[]>(url, { signal })} />
    </QueryClientProvider>
  );
}

interface ListProps {
  readonly url: string;
  readonly load: (signal: AbortSignal) => Promise<readonly Kite[]>;
}

function List({ url, load }: ListProps) {
  const { data } = useQuery({
    queryKey: [url],
    queryFn: ({ signal }) => load(signal),
    staleTime: Infinity,
  });
  useEffect(() => {
    if (data) board.note('answer', Date.now());
  }, [data]);
  return (
    <>
      <RetryStatus query={[url]} />
      {data && <p>Answered: {data.map(({ name }) => name).join(', ')}.</p>}
    </>
  );
}
