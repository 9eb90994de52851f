/** What a browser's tabs tell each other of a run, each by an entry of its own in the localStorage. */
export interface Board {
  readonly run: Run;
  /** In the order in which they were opened. */
  readonly tabs: readonly Tab[];
}

/** An outage of the server that the tabs have in common. */
interface Run {
  /** Counted from 1; 0 before the first. */
  readonly number: number;
  /** In epoch milliseconds. */
  readonly startedAt: number;
  /** Whether the tabs share what they know. */
  readonly isShared: boolean;
}

/** What one tab has done in the run. */
export interface Tab {
  readonly id: string;
  readonly openedAt: number;
  readonly run: number;
  /** When each of its requests came, in epoch milliseconds. */
  readonly requests: readonly number[];
  readonly answeredAt?: number;
}

export interface BoardStore {
  /** The id of this tab. */
  readonly own: string;
  readonly getState: () => Board;
  readonly subscribe: (listener: () => void) => () => void;
  /** The server goes down, for all of them. */
  readonly begin: (isShared: boolean) => void;
  /** This tab has sent a request, or got its answer. */
  readonly note: (what: 'request' | 'answer', at: number) => void;
}

/** How long the server is down. */
export const outageMs = 12_000;

export const isDown = ({ startedAt }: Run, at: number): boolean => at < startedAt + outageMs;

const runKey = 'steadfetch.tabs.run';
const tabPrefix = 'steadfetch.tabs.tab.';

export function createBoard(storage: Storage, openedAt: number): BoardStore {
  const listeners = new Set<() => void>();
  const own = crypto.randomUUID();
  const ownKey = `${tabPrefix}${own}`;
  const read = (): Board => {
    const kept = storage.getItem(runKey);
    const run: Run = kept === null ? { number: 0, startedAt: 0, isShared: true } : JSON.parse(kept);
    const tabs = Object.keys(storage)
      .filter((key) => key.startsWith(tabPrefix))
      .map((key) => JSON.parse(storage.getItem(key) ?? '') as Tab);
    return {
      run,
      tabs: tabs.toSorted((a, b) => a.openedAt - b.openedAt || (a.id < b.id ? -1 : 1)),
    };
  };
  let state = read();
  const show = (): void => {
    state = read();
    for (const listener of listeners) listener();
  };
  const write = (tab: Tab): void => {
    storage.setItem(ownKey, JSON.stringify(tab));
    show();
  };
  const join = (): void => write({ id: own, openedAt, run: read().run.number, requests: [] });
  join();
  window.addEventListener('storage', ({ key }) => {
    // Who begins a run forgets all tabs, for some may have crashed: those that are there say so.
    if (key === runKey) join();
    else if (key?.startsWith(tabPrefix)) show();
  });
  window.addEventListener('pagehide', () => storage.removeItem(ownKey));
  window.addEventListener('pageshow', ({ persisted }) => persisted && join());
  return {
    own,
    getState: () => state,
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    begin(isShared) {
      for (const { id } of read().tabs) storage.removeItem(`${tabPrefix}${id}`);
      const run: Run = { number: read().run.number + 1, startedAt: Date.now(), isShared };
      storage.setItem(runKey, JSON.stringify(run));
      join();
    },
    note(what, at) {
      const tab = read().tabs.find(({ id }) => id === own);
      if (!tab) return;
      write(
        what === 'answer'
          ? { ...tab, answeredAt: tab.answeredAt ?? at }
          : { ...tab, requests: [...tab.requests, at] },
      );
    },
  };
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1).replace('.0', '')} s`;
const counted = (count: number, one: string): string => `${count} ${one}${count === 1 ? '' : 's'}`;

/** What a run comes to, in words and numbers. */
export function describeBoard({ run, tabs }: Board): {
  readonly text: string;
  readonly detail: string;
} {
  if (run.number === 0) {
    return { text: counted(tabs.length, 'tab'), detail: 'Nothing has been sent yet.' };
  }
  const inOutage = tabs.flatMap(({ requests }) => requests.filter((at) => isDown(run, at)));
  const text = `${counted(tabs.length, 'tab')}, ${counted(inOutage.length, 'request')} while the server was down`;
  const answers = tabs.flatMap(({ answeredAt }) => answeredAt ?? []);
  if (answers.length === 0) return { text, detail: 'None has its answer yet.' };
  if (answers.length < tabs.length) {
    return { text, detail: `${answers.length} of ${tabs.length} have their answer.` };
  }
  const last = Math.max(...answers) - run.startedAt - outageMs;
  const who = tabs.length === 1 ? 'It has its answer' : `All ${tabs.length} have their answer`;
  return { text, detail: `${who}, ${seconds(last)} after the server was back.` };
}
