import type { LiveOperation } from '../fetch/live-operation.ts';
import type { Decision } from '../policy/decide.ts';
import type { Pauses } from './pauses.ts';
import type { Row } from './store/schema.ts';

/** What this tab does with a submission of its own. */
export interface Progress {
  readonly attempt: number;
  /** The attempt that is under way, or was last. */
  readonly live: LiveOperation | undefined;
  /** When it is sent next; undefined while it is being sent. */
  readonly retryAt: number | undefined;
  readonly decision: Decision | undefined;
  readonly error: unknown;
}

/** Whoever has submitted a row here, and is told how it goes. */
interface Listeners {
  readonly get: (id: string) => { readonly onProgress: OnProgress | undefined } | undefined;
}

export type OnProgress = (progress: Progress) => void;

/** Tells how it goes with a row. */
export function tellProgress(
  listeners: Listeners,
  { id, attempts: attempt }: Row,
  progress: Omit<Progress, 'attempt'>,
): void {
  listeners.get(id)?.onProgress?.({ ...progress, attempt });
}

/** Tells how it goes with an attempt, from its beginning to its end. */
export function followAttempt(
  listeners: Listeners,
  pauses: Pick<Pauses, 'note'>,
  row: Row,
  live: LiveOperation,
  onChange: () => void,
): void {
  live.onChange = () => {
    const none = { retryAt: undefined, decision: undefined, error: undefined };
    if (live.phase !== 'ended') tellProgress(listeners, row, { live, ...none });
    pauses.note(row, live);
    onChange();
  };
  live.onChange();
}
