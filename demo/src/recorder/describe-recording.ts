import type { Outcome } from 'steadfetch';
import { pauseNames, pauseReasons, retryReasons, stopReasons } from './describe-reason.ts';
import type { Lane, Recording, RequestMark } from './recording.ts';

export function formatSeconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

/** What a request ended with, in a word or two. */
export function describeOutcome(outcome: Outcome | undefined): string {
  switch (outcome?.kind) {
    case undefined:
      return 'sending';
    case 'ok':
    case 'http':
      return `${outcome.status}`;
    case 'timeout':
      return 'timed out';
    case 'body':
      return `${outcome.status}, cut`;
    case 'network':
      return 'no answer';
    case 'aborted':
      return 'cancelled';
    default:
      return 'error';
  }
}

export function requestsOf({ lanes }: Recording): readonly RequestMark[] {
  return lanes.flatMap(({ requests }) => requests);
}

/** The last thing that was decided, and why. */
export function describeDecision(recording: Recording): string {
  const { lanes, result, endedAt } = recording;
  const [first, last] = [lanes[0], lanes.at(-1)];
  if (!first || !last) return 'Nothing has been sent yet.';
  if (last.pausedFor && last.to === undefined) return `Paused: ${pauseReasons[last.pausedFor]}.`;
  if (last.stop) return `Stopped: ${stopReasons[last.stop]}.`;
  if (result === 'succeeded' && endedAt !== undefined) {
    const count = requestsOf(recording).length;
    const requests = count === 1 ? 'one request' : `${count} requests`;
    return `Done with ${requests}, ${formatSeconds(endedAt - first.from)} after the start.`;
  }
  const { wait, attempt } = last;
  if (wait && wait.to === undefined) {
    return `It tries again in ${formatSeconds(wait.plannedTo - wait.from)}: ${retryReasons[wait.reason]}.`;
  }
  // After a pause its attempt has no line yet.
  return (attempt ?? 1) === 1 ? 'The request is on its way.' : `Attempt ${attempt} is on its way.`;
}

function describeLane({ attempt, pausedFor, from, to, requests, wait }: Lane): string {
  if (pausedFor) {
    return to === undefined
      ? `Paused: ${pauseNames[pausedFor]}.`
      : `Paused for ${formatSeconds(to - from)}: ${pauseNames[pausedFor]}.`;
  }
  const outcomes = requests.map(({ outcome }) => describeOutcome(outcome)).join(' and ');
  const waited = wait
    ? `, then a wait of ${formatSeconds((wait.to ?? wait.plannedTo) - wait.from)}`
    : '';
  return `Attempt ${attempt}: ${outcomes || 'nothing sent'}${waited}.`;
}

/** The picture in words. */
export function describePicture({ lanes }: Recording): string {
  return lanes.length === 0 ? 'No request yet.' : lanes.map(describeLane).join(' ');
}
