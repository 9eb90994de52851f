/** What clocks are put right by in passing. */
const slackMs = 60_000;

/**
 * Whether its API may have forgotten a key that was made at `createdAt`, in epoch milliseconds. A
 * clock that was set back since then tells no age: that counts as too old.
 */
export function isKeyExpired(createdAt: number, lifetimeMs: number, nowMs: number): boolean {
  if (lifetimeMs === Infinity) return false;
  const ageMs = nowMs - createdAt;
  return ageMs > lifetimeMs || ageMs < -slackMs;
}
