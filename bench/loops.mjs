/** Loops that retry at once, without a wait. */
export async function createLoop(who, run, retries) {
  const create = loops[who];
  return create(run, retries);
}

const loops = {
  async steady(run, maxRetries) {
    const { createSteadfetch, retry } = await import('../dist/index.js');
    const steady = createSteadfetch();
    return () => retry(steady, run, { maxRetries, baseMs: 0, idempotent: true });
  },

  async 'p-retry'(run, retries) {
    const { default: pRetry } = await import('p-retry');
    return () => pRetry(run, { retries, minTimeout: 0, factor: 1 });
  },

  async cockatiel(run, maxAttempts) {
    const { ConstantBackoff, handleAll, retry } = await import('cockatiel');
    const policy = retry(handleAll, { maxAttempts, backoff: new ConstantBackoff(0) });
    return () => policy.execute(run);
  },
};
