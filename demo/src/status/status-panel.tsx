import type { QueryKey } from '@tanstack/react-query';
import { useRetryStatus } from 'steadfetch/react';
import { AttemptMeter } from './attempt-meter.tsx';
import { Countdown } from './countdown.tsx';
import { messageFor } from './message.ts';
import { StatusKite } from './status-kite.tsx';
import './status.css';
import './stage.css';
import './strip.css';

interface Props {
  readonly queryKey: QueryKey;
  /** When the catalogue on the page was loaded, in epoch milliseconds; 0 when there is none. */
  readonly loadedAt: number;
  readonly onReload: () => void;
}

/**
 * How the catalogue's query is doing, and what one can do about it: where the products would be,
 * or in a strip above them. Its buttons stay where they are: one that goes away takes the
 * keyboard's focus with it.
 */
export function StatusPanel({ queryKey, loadedAt, onReload }: Props) {
  const status = useRetryStatus({ queryKey });
  const isLoaded = loadedAt > 0;
  const { title, detail } = messageFor(status, isLoaded);
  const isDone = status.status === 'succeeded' && status.attempt > 0;
  const isSending = !isDone && /^(idle|sending|succeeded)$/.test(status.status);
  return (
    <div
      className="status"
      data-status={status.status}
      data-place={isLoaded ? 'strip' : 'stage'}
      role="group"
      aria-label="Catalogue status"
    >
      <StatusKite />
      <div className="status-text">
        <p className="status-title">{title}</p>
        <AttemptMeter status={status} />
        <p className="status-detail">
          {detail || `Loaded at ${new Date(loadedAt).toLocaleTimeString('en-GB')}.`}
        </p>
      </div>
      <Countdown retryAt={/^(waiting|paused)$/.test(status.status) ? status.retryAt : undefined} />
      <div className="status-actions">
        <button
          type="button"
          className="button"
          data-primary={!isDone || undefined}
          aria-disabled={isSending}
          onClick={isDone ? onReload : status.retryNow}
        >
          {isDone ? 'Reload' : 'Retry now'}
        </button>
        {!isDone && (
          <button
            type="button"
            className="button"
            aria-disabled={status.status === 'failed'}
            onClick={status.cancel}
          >
            Cancel
          </button>
        )}
      </div>
    </div>
  );
}
