import { onTestFinished, vi } from 'vitest';

/**
 * What is rejected and caught by nobody, for the rest of this test: Vitest takes that for a failure
 * of the test, and here it is what is tested.
 */
export function catchUnhandled(): (reason: unknown) => void {
  const report = vi.fn<(reason: unknown) => void>();
  const others = process.listeners('unhandledRejection');
  process.removeAllListeners('unhandledRejection').on('unhandledRejection', report);
  onTestFinished(() => {
    process.off('unhandledRejection', report);
    for (const other of others) process.on('unhandledRejection', other);
  });
  return report;
}

/** Node tells of unhandled rejections once all promises have had their turn. */
export const toldByNow = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
