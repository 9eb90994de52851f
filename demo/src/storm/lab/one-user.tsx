import { pagePolicyNames } from '../../../../sim/report/names.ts';
import type { SeenByUser } from './use-users.ts';

interface Props {
  readonly outageS: number;
  readonly seen: readonly SeenByUser[];
}

type Query = SeenByUser['record']['queries'][number];

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

const endOf = ({ isOk, settledMs }: Query): string =>
  settledMs === undefined
    ? 'still waiting'
    : `${isOk ? 'answered' : 'error'} after ${seconds(settledMs)}`;

/** The same outage before one page that asks for six things: what becomes of each of them. */
export function OneUser({ outageS, seen }: Props) {
  const outageMs = outageS * 1000;
  const ends = seen.flatMap(({ record }) =>
    record.queries.map(({ settledMs = outageMs + 10_000 }) => settledMs),
  );
  const shownMs = Math.max(outageMs * 1.1, ...ends);
  const percent = (ms: number): string => `${(100 * ms) / shownMs}%`;
  return (
    <div className="users">
      {seen.map(({ policy, record }) => (
        <section key={policy} className="user" aria-label={`One user: ${pagePolicyNames[policy]}`}>
          <h4>
            {pagePolicyNames[policy]} <span>{record.requests} requests</span>
          </h4>
          <ol style={{ '--outage': percent(outageMs) } as React.CSSProperties}>
            {record.queries.map((query, index) => (
              <li key={`${index + 1}`} data-end={query.isOk ? 'answered' : 'error'}>
                <span className="user-bar" style={{ width: percent(query.settledMs ?? shownMs) }} />
                <span className="user-end">{endOf(query)}</span>
              </li>
            ))}
          </ol>
        </section>
      ))}
    </div>
  );
}
