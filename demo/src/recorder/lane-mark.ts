import { formatSeconds } from './describe-recording.ts';
import type { Lane, WaitMark } from './recording.ts';

/** What stands at the end of a lane. */
export interface LaneMark {
  readonly at: number;
  readonly text: string;
}

export function markOf({ requests, wait, stop, from, to }: Lane): LaneMark | undefined {
  const last = requests.at(-1);
  const at = Math.max(wait?.plannedTo ?? from, last?.to ?? from, to ?? from);
  if (stop) return { at, text: 'stopped' };
  if (wait) return { at, text: describeWait(wait) };
  if (last?.outcome?.kind !== 'ok') return undefined;
  return { at, text: last.outcome.status === 201 ? 'booked' : 'loaded' };
}

function describeWait({ from, to, plannedTo }: WaitMark): string {
  const planned = formatSeconds(plannedTo - from);
  return to !== undefined && to < plannedTo ? `${formatSeconds(to - from)} of ${planned}` : planned;
}
