import type { OutboxEntry } from 'steadfetch/outbox';
import type { ReportReceipt } from '../reports/report.ts';
import type { Message } from '../status/message.ts';

/** What the form tells about the report that was sent last. */
export function describeSaving(
  status: 'idle' | 'pending' | 'success' | 'error',
  entry: Pick<OutboxEntry, 'isDurable'> | undefined,
  data: ReportReceipt | undefined,
): Message {
  if (data) return { title: 'Delivered', detail: `It is number ${data.number} in the shop’s log.` };
  if (status !== 'pending')
    return { title: '', detail: 'It is saved on this device before its first byte is sent.' };
  if (!entry) return { title: 'Keeping it', detail: 'One moment.' };
  return entry.isDurable
    ? { title: 'Kept on this device', detail: 'You may close the page: it will still arrive.' }
    : {
        title: 'Kept in this page only',
        detail: 'This browser offers no storage: keep the page open.',
      };
}
