import { type QueryKey, useQueryClient } from '@tanstack/react-query';
import { useRetryStatus } from 'steadfetch/react';
import { announcementFor } from './announcement.ts';

/**
 * Tells screen readers of transitions. The regions are there from the start and only their text
 * changes; nothing in them counts down.
 */
export function Announcer({ queryKey }: { readonly queryKey: QueryKey }) {
  const client = useQueryClient();
  const status = useRetryStatus({ queryKey });
  const isLoaded = client.getQueryData(queryKey) !== undefined;
  const { polite, alert } = announcementFor(status, isLoaded);
  return (
    <div className="visually-hidden">
      <p role="status" aria-live="polite" aria-atomic="true">
        {polite}
      </p>
      <p role="alert" aria-atomic="true">
        {alert}
      </p>
    </div>
  );
}
