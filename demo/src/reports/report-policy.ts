import type { OutboxPolicy } from 'steadfetch/outbox';
import { demoPolicy } from '../steady.ts';

/** Waits that one can watch, and never longer than one would look on; a photo takes its time. */
export const reportPolicy = {
  ...demoPolicy,
  capMs: 20_000,
  timeout: 30_000,
} as const satisfies OutboxPolicy;
