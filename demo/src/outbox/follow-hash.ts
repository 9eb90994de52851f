import { onlineManager } from '@tanstack/react-query';
import { isOutbox, parseOutboxHash } from './hash.ts';
import type { ReportDesk } from '../reports/report-desk.ts';
import { fine } from '../reports/report-troubles.ts';

/**
 * What goes wrong with reports is what the URL hash says, and nothing on other pages. Resolves once
 * a page that begins offline knows it: nothing that it keeps is to be sent before.
 */
export async function followHash({ play }: Pick<ReportDesk, 'play'>): Promise<void> {
  const follow = (): void => play(isOutbox(location.hash) ? parseOutboxHash(location.hash) : fine);
  window.addEventListener('hashchange', follow);
  follow();
  if (navigator.onLine) return;
  await new Promise<void>((known) => {
    const stop = onlineManager.subscribe((isOnline) => {
      if (isOnline) return;
      stop();
      known();
    });
  });
}
