import type { ReactElement, ReactNode } from 'react';
import { type OutboxControls, useFoundOutbox, useOutbox } from '../outbox/react/use-outbox.ts';
import { Announcement } from './parts.tsx';
import { useTexts } from './texts/texts.tsx';

/** The argument of an `OutboxBadge` render prop. */
export interface OutboxBadgeView extends OutboxControls {
  /** The number of entries that are still to be sent; undefined while it is not known. */
  readonly toSend: number | undefined;
  readonly text: string;
}

/** The props of {@link OutboxBadge}. */
export interface OutboxBadgeProps {
  /** Renders the content; screen-reader announcements stay. @default the component's own content */
  readonly children?: ((view: OutboxBadgeView) => ReactNode) | undefined;
}

/**
 * Shows how many outbox entries are to be sent, and how many need the user. Shows nothing while the outbox is
 * empty.
 *
 * If the QueryClient has no outbox, it shows nothing; in development it warns.
 *
 * @example
 * ```tsx
 * import { OutboxBadge } from 'steadfetch/ui';
 *
 * export const Menu = () => <a href="/outbox">Outbox <OutboxBadge /></a>;
 * ```
 */
export function OutboxBadge(props: OutboxBadgeProps): ReactElement | null {
  return useFoundOutbox('OutboxBadge') ? <Badge {...props} /> : null;
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
      <Announcement text={dead > 0 ? texts.dead(dead) : ''} />
    </span>
  );
}
