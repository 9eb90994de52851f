import type { RetryStatus } from 'steadfetch/react';

/** One mark for every attempt that the policy allows: failed, under way, successful, or still to come. */
export function AttemptMeter({ status }: { readonly status: RetryStatus }) {
  const { attempt, maxAttempts, reason } = status;
  // An attempt that Steadfetch pauses is still to come; one that React Query pauses has failed.
  const isToCome =
    status.status === 'paused' && /^(server-down|rate-limited|queued)$/.test(`${reason}`);
  const stateOf = (n: number): string => {
    if (n > attempt || (n === attempt && isToCome)) return 'left';
    const isLast = n === attempt;
    return isLast && /^(sending|succeeded)$/.test(status.status) ? status.status : 'failed';
  };
  return (
    <span className="attempt-meter" aria-hidden="true">
      {Array.from({ length: maxAttempts }, (_, index) => index + 1).map((n) => (
        <i key={n} data-attempt={stateOf(n)} />
      ))}
    </span>
  );
}
