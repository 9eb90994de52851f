import { useQueryClient } from '@tanstack/react-query';
import type { ReactElement, ReactNode } from 'react';
import { findOutbox } from '../outbox/query-adapter/outbox.ts';
import { type OutboxControls, useOutbox } from '../react/use-outbox.ts';
import { Told } from './parts.tsx';
import { useTexts } from './texts/texts.tsx';

/** What a render prop of `OutboxBadge` is given. */
export interface OutboxBadgeView extends OutboxControls {
  /** How many entries are still to be sent. */
  readonly toSend: number | undefined;
  readonly text: string;
}

/** How the badge is drawn. */
export interface OutboxBadgeProps {
  /** Draws it; what a screen reader hears stays. @default what the component draws */
  readonly children?: ((view: OutboxBadgeView) => ReactNode) | undefined;
}

/**
 * How many entries of the outbox are to be sent, and how many need the user. It shows nothing while the outbox
 * is empty.
 *
 * Where the QueryClient has no outbox it shows nothing; in development a warning says so.
 *
 * @example
 * ```tsx
 * import { OutboxBadge } from 'steadfetch/ui';
 *
 * export const Menu = () => <a href="/outbox">Outbox <OutboxBadge /></a>;
 * ```
 */
export function OutboxBadge(props: OutboxBadgeProps): ReactElement | null {
  return findOutbox(useQueryClient(), 'OutboxBadge') ? <Badge {...props} /> : null;
}

function Badge({ children }: OutboxBadgeProps): ReactElement {
  const { outbox: texts } = useTexts();
  const outbox = useOutbox();
  const { due = 0, waiting = 0, sending = 0, paused = 0, dead = 0 } = outbox;
  const toSend = due + waiting + sending + paused;
  const isKnown = outbox.dead !== undefined;
  const parts = [toSend > 0 && texts.waiting(toSend), dead > 0 && texts.dead(dead)];
  const text = parts.filter((part) => part !== false).join(', ');
  return (
    <span
      className="steadfetch steadfetch-badge"
      data-state={dead > 0 ? 'dead' : toSend > 0 ? 'waiting' : isKnown ? 'empty' : 'unknown'}
    >
      {children ? children({ ...outbox, toSend: isKnown ? toSend : undefined, text }) : text}
      <Told text={dead > 0 ? texts.dead(dead) : ''} />
    </span>
  );
}
