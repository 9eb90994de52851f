import type { RetryStatus } from 'steadfetch/react';
import { isStopReason, stopReasons } from '../recorder/describe-reason.ts';
import { describeFailure } from './describe-failure.ts';

/** What the page tells about a status. */
export interface Message {
  readonly title: string;
  readonly detail: string;
}

export function messageFor(status: RetryStatus, isLoaded: boolean): Message {
  const { attempt, maxAttempts, lastError, reason } = status;
  switch (status.status) {
    case 'succeeded':
      if (attempt > 0) return { title: 'Up to date', detail: '' };
      // Without an attempt it is what an earlier visit has left, and about to be fetched anew.
      return begin(isLoaded);
    case 'idle':
    case 'sending':
      if (attempt <= 1) return begin(isLoaded);
      return {
        title: 'Trying again',
        detail: `Attempt ${attempt} of ${maxAttempts} is on its way.`,
      };
    case 'waiting':
      return {
        title: describeFailure(lastError),
        detail: isLoaded
          ? `Attempt ${attempt} of ${maxAttempts} failed.`
          : `Attempt ${attempt} of ${maxAttempts} failed. The page tries again by itself.`,
      };
    case 'paused':
      return describePause(status, isLoaded);
    case 'failed':
    case 'unknown':
      return isLoaded
        ? { title: 'Could not check for changes', detail: `${describeFailure(lastError)}.` }
        : {
            title: 'The catalogue did not load',
            detail: `${describeFailure(lastError)}. ${describeEnd(reason)}`,
          };
  }
}

function begin(isLoaded: boolean): Message {
  return {
    title: isLoaded ? 'Looking for changes' : 'Loading the catalogue',
    detail: 'The request is on its way.',
  };
}

function describePause({ reason, probedBy }: RetryStatus, isLoaded: boolean): Message {
  const done = isLoaded ? 'It is checked' : 'The catalogue loads by itself';
  switch (reason) {
    case 'server-down':
      return {
        title: 'The server is down',
        detail: `${done} when it is back.${probedBy ? ' Another tab finds out when.' : ''}`,
      };
    case 'rate-limited':
      return { title: 'The server asks for a pause', detail: `${done} afterwards.` };
    case 'queued':
      return { title: 'Waiting for its turn', detail: `${done} when its turn comes.` };
    case 'hidden':
      return { title: 'Waiting until you look at this tab', detail: `${done} when you are back.` };
    default:
      return { title: 'You are offline', detail: `${done} when you are back online.` };
  }
}

function describeEnd(reason: RetryStatus['reason']): string {
  return isStopReason(reason) ? `Stopped: ${stopReasons[reason]}.` : '';
}
