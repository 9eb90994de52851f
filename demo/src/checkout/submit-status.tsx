import type { RetryStatus } from 'steadfetch/react';
import { AttemptMeter } from '../status/attempt-meter.tsx';
import { Countdown } from '../status/countdown.tsx';
import type { Message } from '../status/message.ts';
import { StatusKite } from '../status/status-kite.tsx';
import { Told } from '../status/told.tsx';

interface Props {
  readonly status: RetryStatus;
  readonly isUnknown: boolean;
  readonly message: Message;
}

/** How the order is doing. What is told at a transition does not count down. */
export function SubmitStatus({ status, isUnknown, message }: Props) {
  const { title, detail } = message;
  const isUnderWay = /^(sending|waiting|paused)$/.test(status.status);
  const shown = isUnknown && !isUnderWay ? 'unknown' : status.status;
  return (
    <div className="slip-status" data-status={shown === 'idle' ? undefined : shown}>
      {title && <StatusKite />}
      <div>
        <p className="slip-title">{title}</p>
        <p className="slip-detail">{detail}</p>
        {isUnderWay && <AttemptMeter status={status} />}
      </div>
      {isUnderWay && <Countdown retryAt={status.retryAt} />}
      <Told text={title && `${title}. ${detail}`} />
    </div>
  );
}
