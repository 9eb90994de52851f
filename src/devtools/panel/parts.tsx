import { type ReactElement, type ReactNode, useEffect, useState } from 'react';
import type { Clock } from '../../core/lib/clock.ts';
import type { InspectedEndpoint } from '../endpoints.ts';
import { duration } from '../explain.ts';
import type { Cell, OperationView } from '../view.ts';

export type Tone = 'plain' | 'good' | 'warn' | 'bad' | 'info';

/** A word with its colour. */
export function Chip({
  tone,
  isBusy,
  children,
}: {
  readonly tone: Tone;
  readonly isBusy?: boolean;
  readonly children: ReactNode;
}): ReactElement {
  return (
    <span className="chip" data-tone={tone} data-busy={isBusy || undefined}>
      <span className="dot" aria-hidden />
      {children}
    </span>
  );
}

const healthTones = {
  up: 'good',
  recovering: 'info',
  'rate-limited': 'warn',
  down: 'bad',
} as const satisfies Record<string, Tone>;
const healthWords = {
  up: 'Up',
  recovering: 'Recovering',
  'rate-limited': 'Rate-limited',
  down: 'Down',
} as const;

export const toneOfHealth = (status: InspectedEndpoint['status']): Tone => healthTones[status];

export const HealthChip = ({
  status,
}: {
  readonly status: InspectedEndpoint['status'];
}): ReactElement => <Chip tone={healthTones[status]}>{healthWords[status]}</Chip>;

export const toneOfOperation: Readonly<Record<OperationView['status'], Tone>> = {
  sending: 'info',
  waiting: 'warn',
  paused: 'warn',
  succeeded: 'good',
  failed: 'bad',
  cancelled: 'plain',
  superseded: 'plain',
};

/** The tones of mutations and outbox entries. */
export const stateTones: Readonly<Record<string, Tone>> = {
  pending: 'warn',
  sending: 'info',
  waiting: 'warn',
  paused: 'warn',
  done: 'good',
  succeeded: 'good',
  dead: 'bad',
  failed: 'bad',
  unknown: 'bad',
};
export const stateWords: Readonly<Record<string, string>> = {
  idle: 'Idle',
  pending: 'To be sent',
  sending: 'Sending',
  waiting: 'Waiting',
  paused: 'Paused',
  done: 'Delivered',
  succeeded: 'Succeeded',
  dead: 'Dead letter',
  failed: 'Failed',
  unknown: 'Unknown outcome',
};
/** Whether the server processed it, in words. */
export const processedWords: Readonly<Record<'no' | 'yes' | 'unknown', string>> = {
  no: 'not done',
  yes: 'done',
  unknown: 'may have been done',
};

/** The last two minutes as bars. Height and colour show the same. */
export function Strip({
  cells,
  label,
}: {
  readonly cells: readonly Cell[];
  readonly label: string;
}): ReactElement {
  const count = (wanted: Cell): number => cells.filter((cell) => cell === wanted).length;
  const seconds = (wanted: Cell): string => `${count(wanted) * 2} s`;
  const summary =
    `${label}, the last two minutes: answers in ${seconds('ok')}, ` +
    `failures in ${seconds('failed')}, down for ${seconds('down')}`;
  return (
    <div className="strip" role="img" aria-label={summary} title={summary}>
      {cells.map((cell, index) => {
        const place = index - cells.length;
        return <i key={place} data-cell={cell} />;
      })}
    </div>
  );
}

/** The time until then, in words. */
export const timeUntil = (at: number, now: number): string =>
  at <= now ? 'now' : `in ${duration(Math.ceil((at - now) / 1000) * 1000).replace('.0', '')}`;

export const since = (at: number, now: number): string =>
  duration(Math.max(0, Math.floor((now - at) / 1000) * 1000))
    .replace('.0', '')
    .replace(/^0 ms/, '0 s');

const clockTime = new Intl.DateTimeFormat('en-GB', {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  fractionalSecondDigits: 3,
});

/** The time of day, with milliseconds. */
export const timeOf = (at: number): string => clockTime.format(at);

/** The wall-clock time, updated each second. */
export function useNow(clock: Clock, isRunning: boolean): number {
  const [now, setNow] = useState(() => clock.now());
  useEffect(() => {
    if (!isRunning) return;
    let timer: unknown;
    const tick = (): void => {
      setNow(clock.now());
      timer = clock.setTimeout(tick, 1000 - (clock.now() % 1000));
    };
    tick();
    return () => clock.clearTimeout(timer);
  }, [clock, isRunning]);
  return now;
}

/** A placeholder that says why nothing is shown. */
export const Empty = ({
  title,
  children,
}: {
  readonly title: string;
  readonly children?: ReactNode;
}): ReactElement => (
  <p className="empty">
    <b>{title}</b>
    {children}
  </p>
);

/** A button that stays in place while it does nothing, so that it keeps the focus. */
export const Action = ({
  label,
  onPress,
  isPrimary,
}: {
  readonly label: string;
  readonly onPress: (() => unknown) | undefined;
  readonly isPrimary?: boolean;
}): ReactElement => (
  <button
    type="button"
    data-primary={(isPrimary && !!onPress) || undefined}
    aria-disabled={!onPress || undefined}
    onClick={() => void onPress?.()}
  >
    {label}
  </button>
);
