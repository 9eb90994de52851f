import { type ReactElement, useState } from 'react';
import { asTest } from '../recording/as-test.ts';
import { duration, explain, type Explained, reasonOf, stateOf } from '../explain.ts';
import type { Live } from '../recording/live.ts';
import type { OperationEvent, OperationView, View } from '../view.ts';
import { Action, Chip, Empty, timeUntil, toneOfOperation } from './parts.tsx';

/** The operations, newest first, and the timeline of the selected one. */
export function Operations({
  view,
  live,
  onMessage,
}: {
  readonly view: View;
  /** Undefined in a replay, which has nothing to retry. */
  readonly live: Live | undefined;
  readonly onMessage: (text: string) => void;
}): ReactElement {
  const [selected, setSelected] = useState<string | undefined>();
  const { operations } = view;
  const open = operations.find((one) => nameOf(one) === selected);
  if (operations.length === 0)
    return (
      <Empty title="No operation yet">
        Queries, mutations and calls of steady.fetch are shown here, with each decision and its
        reason.
      </Empty>
    );
  return (
    <div className="split" data-open={!!open}>
      <ul className="pane list" aria-label="Operations">
        {operations.slice(0, mostShown).map((one) => (
          <li key={nameOf(one)}>
            <button
              type="button"
              className="op"
              aria-current={one === open}
              onClick={() => setSelected(nameOf(one))}
            >
              <Chip tone={toneOfOperation[one.status]} isBusy={one.status === 'sending'}>
                {stateOf(one)}
              </Chip>
              <span className="mono cut">{one.label}</span>
              <span className="soft">{attemptsOf(one)}</span>
              <small>{whyOf(one, view.at)}</small>
            </button>
          </li>
        ))}
      </ul>
      <div className="pane">
        {open ? (
          <Detail
            one={open}
            at={view.at}
            live={live}
            onMessage={onMessage}
            onBack={() => setSelected(undefined)}
          />
        ) : (
          <Empty title="Select an operation">
            Its attempts, pauses and decisions are shown here.
          </Empty>
        )}
      </div>
    </div>
  );
}

const mostShown = 200;
const nameOf = ({ id, startedAt }: OperationView): string => `${id} ${startedAt}`;

const attemptsOf = ({ attempt, maxAttempts }: OperationView): string =>
  `attempt ${attempt}${maxAttempts === undefined ? '' : ` of ${maxAttempts}`}`;

/** The reason of its state, in one line. */
function whyOf(one: OperationView, at: number): string {
  const { kind, status, reason, retryAt, probedBy, startedAt, endedAt, requests } = one;
  const why = reason === undefined ? '' : reasonOf(reason);
  const when = retryAt === undefined ? '' : `; next attempt ${timeUntil(retryAt, at)}`;
  const who = probedBy ? '; another tab probes' : '';
  const sent = `${requests} ${requests === 1 ? 'request' : 'requests'}`;
  if (status === 'waiting' || status === 'paused') return `${kind}: ${why}${when}${who}`;
  if (endedAt === undefined) return `${kind}, ${sent}`;
  return `${kind}, ${sent} in ${duration(endedAt - startedAt)}${why && `: ${why}`}`;
}

/** The steps of an operation, in words. */
function stepsOf(
  one: OperationView,
): readonly { readonly key: string; readonly event: OperationEvent; readonly words: Explained }[] {
  let paused = '';
  return one.events.flatMap((event, index) => {
    // The same pause, emitted again with another time.
    const isSame = event.type === 'pause:start' && event.reason === paused;
    paused = event.type === 'pause:start' ? event.reason : '';
    const words = isSame ? undefined : explain(event);
    return words ? [{ key: `${index} ${event.type}`, event, words }] : [];
  });
}

function Detail({
  one,
  at,
  live,
  onMessage,
  onBack,
}: {
  readonly one: OperationView;
  readonly at: number;
  readonly live: Live | undefined;
  readonly onMessage: (text: string) => void;
  readonly onBack: () => void;
}): ReactElement {
  const { retryNow, cancel } = live?.controlsOf(one) ?? {};
  const mayRetry = one.status === 'waiting' || one.status === 'paused';
  const test = asTest(one);
  const copy = async (): Promise<void> => {
    try {
      await document.defaultView?.navigator.clipboard.writeText(test ?? '');
      onMessage('The test is copied.');
    } catch {
      onMessage('The browser did not let it be copied.');
    }
  };
  return (
    <article className="detail" aria-label={one.label}>
      <div className="row">
        <button type="button" className="back" onClick={onBack}>
          ‹ All
        </button>
        <Chip tone={toneOfOperation[one.status]} isBusy={one.status === 'sending'}>
          {stateOf(one)}
        </Chip>
        <h2 className="mono grow">{one.label}</h2>
      </div>
      <p className="soft">
        {one.kind}, {attemptsOf(one)}, {whyOf(one, at).replace(/^\w+[:,] /, '')}
      </p>
      <div className="actions">
        {live && <Action label="Retry now" onPress={mayRetry ? retryNow : undefined} isPrimary />}
        {live && <Action label="Cancel" onPress={cancel} />}
        <Action label="Copy as failing test" onPress={test === undefined ? undefined : copy} />
      </div>
      <Timeline one={one} />
    </article>
  );
}

/** The steps of an operation, each with the options behind its decision. */
function Timeline({ one }: { readonly one: OperationView }): ReactElement {
  return (
    <ol className="time" aria-label="Timeline">
      {stepsOf(one).map(({ key, event, words: { title, detail, tone, options } }) => (
        <li key={key} data-tone={tone}>
          <span className="at">+{duration(Math.max(0, event.at - one.startedAt))}</span>
          <div>
            <h3>{title}</h3>
            {detail && <p>{detail}</p>}
            {options.length > 0 && (
              <div className="options">
                {options.map(({ name, value, level }) => [
                  <code key={name}>{name}</code>,
                  <code key={`${name} value`}>{value}</code>,
                  <span key={`${name} level`} className="soft">
                    {level === 'the default' ? level : `set by ${level}`}
                  </span>,
                ])}
              </div>
            )}
          </div>
        </li>
      ))}
    </ol>
  );
}
