import { isSteadfetchError } from 'steadfetch';
import type { RetryStatus } from 'steadfetch/react';
import { messageFor } from './message.ts';

/** What a screen reader is told at a transition: politely, or, for the final failure, at once. */
export interface Announcement {
  readonly polite: string;
  readonly alert: string;
}

export function announcementFor(status: RetryStatus, isLoaded: boolean): Announcement {
  const { title, detail } = messageFor(status, isLoaded);
  const polite = (text: string): Announcement => ({ polite: text, alert: '' });
  switch (status.status) {
    case 'idle':
      return polite('');
    case 'sending':
      return polite(status.attempt > 1 ? `${title}. ${detail}` : `${title}.`);
    case 'waiting':
      return polite(`${title}. Trying again ${describeDelay(status.lastError)}.`);
    case 'paused':
      return polite(`${title}. ${detail}`);
    case 'succeeded':
      // Data of an earlier visit comes without an attempt: nothing has happened yet.
      return polite(status.attempt > 0 ? 'The catalogue is up to date.' : '');
    case 'failed':
    case 'unknown':
      // Whoever has cancelled knows it.
      return status.reason === 'cancelled'
        ? polite(`Cancelled. ${title}.`)
        : { polite: '', alert: `${title}. ${detail}` };
  }
}

/** The whole wait, as it was decided: what is announced once must not depend on when it is drawn. */
function describeDelay(error: unknown): string {
  const decision = isSteadfetchError(error) ? error.decision : undefined;
  if (decision?.kind !== 'retry') return 'soon';
  const seconds = Math.ceil(decision.delayMs / 1000);
  return seconds === 1 ? 'in 1 second' : `in ${seconds} seconds`;
}
