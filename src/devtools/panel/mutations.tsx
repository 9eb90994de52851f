import type { Mutation } from '@tanstack/react-query';
import { type ReactElement, useCallback, useSyncExternalStore } from 'react';
import { keyText } from '../../core/lib/json.ts';
import { mutationStatus, runOf } from '../../core/internal.ts';
import { reasonOf, upper } from '../explain.ts';
import type { Live } from '../recording/live.ts';
import { Entries } from './entries.tsx';
import { Chip, Empty, timeUntil, processedWords, stateTones, stateWords } from './parts.tsx';

/** The entries of the outbox, and the mutations of this page. */
export function Mutations({
  live,
  now,
  onMessage,
}: {
  readonly live: Live;
  readonly now: number;
  readonly onMessage: (text: string) => void;
}): ReactElement {
  const outbox = live.outbox();
  const mutations = live.client.getMutationCache().getAll().slice(-mostShown).reverse();
  if (!outbox && mutations.length === 0)
    return (
      <Empty title="No mutation yet">
        Mutations are shown here with their idempotency keys, and so are the entries of an outbox.
      </Empty>
    );
  return (
    <>
      {outbox && <Entries outbox={outbox} now={now} onMessage={onMessage} />}
      {mutations.length > 0 && (
        <section className="card" aria-label="Mutations of this page">
          <header>
            <h2>Mutations of this page</h2>
            <span className="soft">lost when it closes</span>
          </header>
          <table>
            <thead>
              <tr>
                <th scope="col">Mutation</th>
                <th scope="col">State</th>
                <th scope="col">At the server</th>
                <th scope="col">Idempotency key</th>
              </tr>
            </thead>
            <tbody>
              {mutations.map((one) => (
                <MutationRow key={one.mutationId} mutation={one} live={live} now={now} />
              ))}
            </tbody>
          </table>
        </section>
      )}
    </>
  );
}

const mostShown = 50;

function MutationRow({
  mutation,
  live: { client, instance },
  now,
}: {
  readonly mutation: Mutation;
  readonly live: Live;
  readonly now: number;
}): ReactElement {
  const cache = client.getMutationCache();
  const subscribe = useCallback((listener: () => void) => cache.subscribe(listener), [cache]);
  useSyncExternalStore(subscribe, () => mutation.state);
  const { status, attempt, maxAttempts, reason, retryAt } = mutationStatus(
    mutation,
    cache,
    instance,
    undefined,
  );
  const { operation } = runOf(mutation) ?? {};
  const { mutationKey } = mutation.options;
  const isUnsure = status === 'unknown' || !!operation?.effects.isUnknown();
  const outcome = status === 'succeeded' ? 'yes' : isUnsure ? 'unknown' : 'no';
  const of = maxAttempts < Infinity ? ` of ${maxAttempts}` : '';
  const why = reason === undefined ? '' : `: ${reasonOf(reason)}`;
  return (
    <tr>
      <td className="name mono">{mutationKey ? keyText(mutationKey) : 'without a key'}</td>
      <td>
        <Chip tone={stateTones[status] ?? 'plain'} isBusy={status === 'sending'}>
          {stateWords[status]}
        </Chip>{' '}
        <span className="soft">
          attempt {attempt}
          {of}
          {why}
          {retryAt !== undefined && status === 'waiting'
            ? `, next attempt ${timeUntil(retryAt, now)}`
            : ''}
        </span>
      </td>
      <td data-label="At the server:">{upper(processedWords[outcome])}</td>
      <td className="name mono" data-label="Key:">
        {operation?.submission?.key ?? <span className="soft none">–</span>}
      </td>
    </tr>
  );
}
