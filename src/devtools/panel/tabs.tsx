import { type ReactElement, useEffect, useSyncExternalStore } from 'react';
import type { OriginInspection } from '../inspect.ts';
import type { Live } from '../recording/live.ts';
import type { KnownTab, TabsSeen } from '../recording/tab-watch.ts';
import { Chip, Empty, since, timeOf, type Tone } from './parts.tsx';

const lives = {
  visible: ['good', 'Visible'],
  hidden: ['info', 'Hidden'],
  away: ['warn', 'Frozen or gone'],
} as const satisfies Record<string, readonly [Tone, string]>;

/** The tabs of the app, which of them probe, and their messages. */
export function Tabs({
  live: {
    tabs,
    instance: { wall },
  },
  inspection,
  now,
}: {
  readonly live: Live;
  readonly inspection: OriginInspection;
  readonly now: number;
}): ReactElement {
  const seen = useSyncExternalStore(tabs.subscribe, tabs.getState, tabs.getState);
  // Asked again and again, because a frozen tab shows only by its silence.
  useEffect(() => {
    let timer: unknown;
    const refresh = (): void => {
      tabs.refresh();
      timer = wall.setTimeout(refresh, 3000);
    };
    refresh();
    return () => wall.clearTimeout(timer);
  }, [tabs, wall]);
  const { areShared, probes } = inspection.tabs;
  const elsewhere = probes.filter(({ by }) => by === 'another-tab');
  return (
    <>
      {!areShared && (
        <p className="note">
          Each tab probes for itself. With <code>tabs: shareAcrossTabs()</code> one probes for all.
        </p>
      )}
      <section className="card" aria-label="Tabs">
        <table>
          <thead>
            <tr>
              <th scope="col">Tab</th>
              <th scope="col">State</th>
              <th scope="col">Probes</th>
              <th scope="col">Last seen</th>
            </tr>
          </thead>
          <tbody>
            {seen.tabs.map((tab, index) => (
              <TabRow key={tab.id} tab={tab} isOwn={index === 0} now={now} />
            ))}
          </tbody>
        </table>
      </section>
      {elsewhere.length > 0 && (
        <p className="note">
          Another tab probes{' '}
          {elsewhere.map(({ origin, endpoint }) => endpoint ?? origin).join(', ')}. This one waits
          for its result.
        </p>
      )}
      <Messages messages={seen.messages} />
    </>
  );
}

function TabRow({
  tab: { title, path, life, probes, seenAt },
  isOwn,
  now,
}: {
  readonly tab: KnownTab;
  readonly isOwn: boolean;
  readonly now: number;
}): ReactElement {
  const [tone, word] = lives[life];
  return (
    <tr>
      <td className="name">
        <b>{isOwn ? 'This tab' : title || 'Without a title'}</b>{' '}
        <span className="mono soft">{path}</span>
      </td>
      <td>
        <Chip tone={tone}>{word}</Chip>
      </td>
      <td className="name" data-label="Probes:">
        {probes.length > 0 ? (
          <span className="mono">{probes.join(', ')}</span>
        ) : (
          <span className="soft">nothing</span>
        )}
      </td>
      <td className="soft" data-label="Last seen:">
        {isOwn ? 'now' : `${since(seenAt, now)} ago`}
      </td>
    </tr>
  );
}

function Messages({ messages }: Pick<TabsSeen, 'messages'>): ReactElement {
  return (
    <section className="card" aria-label="Messages">
      <header>
        <h2>Messages between tabs</h2>
      </header>
      {messages.length === 0 ? (
        <Empty title="No message yet">
          Tabs send one when something goes down, is probed, recovers, or is rate-limited.
        </Empty>
      ) : (
        <ul className="log two">
          {messages.map(({ key, at, text }) => (
            <li key={key}>
              <span className="mono soft">{timeOf(at)}</span>
              <span>{text}</span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
