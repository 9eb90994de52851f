import type { DeadReason, OutboxEntry } from 'steadfetch/outbox';
import type { FlightReport } from '../reports/report.ts';
import type { Message } from '../status/message.ts';
import type { Item } from './items.ts';

/** What becomes of a report, as a user sees it. */
export interface ItemText extends Message {
  readonly mark: 'kept' | 'sending' | 'needs-you' | 'delivered';
}

type Entry = OutboxEntry<FlightReport>;

/** Where a report is, and what happens next. */
export function describeItem({ entry }: Pick<Item, 'entry'>, isOffline: boolean): ItemText {
  switch (entry?.state) {
    case 'pending':
      return kept(entry, describeWait(entry, isOffline));
    case 'paused':
      return kept(entry, describePause(entry.pause?.reason));
    case 'sending':
      return {
        mark: 'sending',
        title: 'Sending',
        detail:
          entry.attempts > 1
            ? `Attempt ${entry.attempts}, with the same key.`
            : 'The request is on its way.',
      };
    case 'dead':
      return { mark: 'needs-you', title: 'Needs your attention', detail: describeEnd(entry) };
    default:
      return { mark: 'delivered', title: 'Delivered', detail: 'The shop has it.' };
  }
}

function kept({ isDurable }: Entry, detail: string): ItemText {
  const title = isDurable ? 'Kept on this device' : 'Kept in this page only';
  return { mark: 'kept', title, detail };
}

function describeWait({ lastError, nextRetryAt, waitsFor }: Entry, isOffline: boolean): string {
  if (waitsFor) return 'A newer version of the page wrote it, and will send it.';
  if (isOffline) return describePause('offline');
  if (nextRetryAt === undefined) return 'It is sent after the report before it.';
  if (!lastError) return 'It is sent in a moment.';
  const { name, status } = lastError;
  const what =
    status === 503
      ? 'The shop is overloaded (503)'
      : status !== undefined
        ? `The shop refused (${status})`
        : name === 'TimeoutError'
          ? 'No answer in time'
          : 'The connection broke';
  return `${what}. It is sent again by itself.`;
}

function describePause(reason: NonNullable<Entry['pause']>['reason'] | undefined): string {
  switch (reason) {
    case 'offline':
      return 'You are offline. It is sent when you are back online.';
    case 'server-down':
      return 'The shop is down. It is sent when the shop is back.';
    case 'rate-limited':
      return 'The shop asks for a pause. It is sent afterwards.';
    default:
      return 'It is sent when its turn comes.';
  }
}

/** Why it needs a user, where the shop has not said it in its own words. */
const ends: Readonly<Record<Exclude<DeadReason, 'refused'>, string>> = {
  'not-repeatable': 'The shop may have it already: check there first.',
  'answer-lost': 'The shop has it, but its answer could not be read.',
  expired: 'The shop may have it already, and it is too old to be sent again.',
  'max-attempts': 'It was tried often enough.',
  'max-age': 'It is too old.',
  'handler-missing': 'This version of the page cannot send it.',
  'not-migrated': 'An earlier version of the page wrote it.',
  unreadable: 'It cannot be read.',
};

function describeEnd({ reason = 'refused', lastError }: Entry): string {
  if (reason !== 'refused') return ends[reason];
  return lastError
    ? `The shop refused it (${lastError.status ?? 'error'}): ${lastError.message}`
    : 'The shop refused it.';
}
