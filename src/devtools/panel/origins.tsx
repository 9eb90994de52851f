import type { ReactElement } from 'react';
import type { InspectedEndpoint } from '../endpoints.ts';
import type { InspectedOrigin } from '../inspect.ts';
import { duration } from '../explain.ts';
import { endpointsSeen, stripOf, type View } from '../view.ts';
import { Empty, HealthChip, timeUntil, since, Strip } from './parts.tsx';

/** The origins and their endpoints. */
export function Origins({
  origins,
  view,
}: {
  readonly origins: readonly InspectedOrigin[];
  readonly view: View;
}): ReactElement {
  if (origins.length === 0)
    return (
      <Empty title="No request yet">
        Each origin that a request goes to is shown here, with its endpoints.
      </Empty>
    );
  return (
    <>
      {origins.map((origin) => (
        <OriginCard key={`${origin.origin} ${origin.partition}`} own={origin} view={view} />
      ))}
      <p className="key">
        {keys.map(([cell, word]) => (
          <span key={cell}>
            <span className="strip" aria-hidden>
              <i data-cell={cell} />
            </span>
            {word}
          </span>
        ))}
        <span>Two minutes; a bar is two seconds.</span>
      </p>
    </>
  );
}

const keys = [
  ['ok', 'answered'],
  ['limited', 'rate-limited'],
  ['failed', 'failed'],
  ['down', 'down'],
  ['none', 'nothing sent'],
] as const;

const unknown = (endpoint: string): InspectedEndpoint => ({
  endpoint,
  status: 'up',
  downSince: undefined,
  retryAt: undefined,
  probedBy: undefined,
  waiting: 0,
  failures: 0,
  failuresUntilDown: undefined,
  usualFailureRatio: undefined,
  usualLatencyMs: undefined,
});

function OriginCard({
  own,
  view,
}: {
  readonly own: InspectedOrigin;
  readonly view: View;
}): ReactElement {
  const { at } = view;
  const { origin, partition, status, downSince, inFlight, maxInFlight, waiting, limits } = own;
  const endpoints = [...own.endpoints, ...endpointsSeen(view, own).map(unknown)];
  const isDown = (one: InspectedEndpoint): boolean => one.status === 'down';
  const troubled = status === 'down' ? 0 : endpoints.filter(isDown).length;
  const facts: readonly (readonly [string, string])[] = [
    ['In flight', maxInFlight === undefined ? `${inFlight}` : `${inFlight} of ${maxInFlight}`],
    ['Paused', `${waiting}`],
    ...limits.map(({ scope, pausedUntil, remaining, resetAt }) => {
      const left = remaining === undefined ? '' : `${remaining} left`;
      const until =
        pausedUntil === undefined
          ? resetAt !== undefined && `, resets ${timeUntil(resetAt, at)}`
          : `${left && ', '}closed, opens ${timeUntil(pausedUntil, at)}`;
      return [`Limit of ${scope}`, `${left}${until || ''}`] as const;
    }),
  ];
  return (
    <section className="card" aria-label={origin}>
      <header>
        <HealthChip status={status} />
        <h2 className="mono">{origin || 'no origin'}</h2>
        {partition && <span className="soft">partition {partition}</span>}
        {troubled > 0 && (
          <span className="warn">
            {troubled} {troubled === 1 ? 'endpoint is' : 'endpoints are'} down
          </span>
        )}
        {downSince !== undefined && <span className="soft">for {since(downSince, at)}</span>}
        <span className="grow" />
        <Next own={own} at={at} />
      </header>
      <div className="in row">
        <dl className="facts grow">
          {facts.map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
        <Strip cells={stripOf(view, origin)} label={origin} />
      </div>
      {endpoints.length > 0 && <EndpointTable endpoints={endpoints} origin={own} view={view} />}
    </section>
  );
}

function EndpointTable({
  endpoints,
  origin,
  view,
}: {
  readonly endpoints: readonly InspectedEndpoint[];
  readonly origin: InspectedOrigin;
  readonly view: View;
}): ReactElement {
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">Endpoint</th>
          <th scope="col">Health</th>
          <th scope="col">Last two minutes</th>
          <th scope="col">Usual latency</th>
          <th scope="col">Usually fails</th>
          <th scope="col">Next</th>
        </tr>
      </thead>
      <tbody>
        {endpoints.map((one) => (
          <EndpointRow key={one.endpoint} one={one} origin={origin} view={view} />
        ))}
      </tbody>
    </table>
  );
}

const byWhom = { 'this-tab': 'by this tab', 'another-tab': 'by another tab' } as const;

/** When something is sent there next, and by which tab. */
function Next({
  own: { status, retryAt, probedBy },
  at,
}: {
  readonly own: Pick<InspectedOrigin, 'status' | 'retryAt' | 'probedBy'>;
  readonly at: number;
}): ReactElement | null {
  if (status === 'up') return null;
  const who = probedBy ? ` ${byWhom[probedBy]}` : '';
  if (status === 'recovering') return <span>Paused requests are sent one by one</span>;
  if (status === 'rate-limited')
    return retryAt === undefined ? null : <span>Opens {timeUntil(retryAt, at)}</span>;
  if (retryAt !== undefined)
    return (
      <span>
        Probe {timeUntil(retryAt, at)}
        {who}
      </span>
    );
  return <span>{probedBy ? `Probed${who}` : 'Probed with the next request'}</span>;
}

/** No value. */
const None = (): ReactElement => <span className="soft none">–</span>;

function EndpointRow({
  one,
  origin,
  view,
}: {
  readonly one: InspectedEndpoint;
  readonly origin: InspectedOrigin;
  readonly view: View;
}): ReactElement {
  const { endpoint, status, usualLatencyMs, usualFailureRatio, failures, failuresUntilDown } = one;
  return (
    <tr>
      <td className="name mono">{endpoint}</td>
      <td>
        <HealthChip status={status} />
      </td>
      <td>
        <Strip cells={stripOf(view, origin.origin, endpoint)} label={endpoint} />
      </td>
      <td data-label="Usual latency:">
        {usualLatencyMs === undefined ? <None /> : duration(usualLatencyMs)}
      </td>
      <td data-label="Usually fails:">
        {usualFailureRatio === undefined ? <None /> : `${Math.round(usualFailureRatio * 100)} %`}
      </td>
      <td className="soft">
        {status !== 'up' && origin.downSince === undefined ? (
          <Next own={one} at={view.at} />
        ) : failures > 0 && failuresUntilDown !== undefined ? (
          `${failuresUntilDown} more ${failuresUntilDown === 1 ? 'failure' : 'failures'} until it counts as down`
        ) : (
          <None />
        )}
      </td>
    </tr>
  );
}
