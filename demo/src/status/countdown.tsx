import { useId } from 'react';
import { useCountdown } from 'steadfetch/react';

/** The seconds until the next attempt. Not in a live region: nobody wants each of them read out. */
export function Countdown({ retryAt }: { readonly retryAt: number | undefined }) {
  const id = useId();
  const seconds = useCountdown(retryAt);
  return (
    <p className="countdown">
      {seconds !== undefined && (
        <>
          <span className="countdown-label" id={id}>
            Next attempt in
          </span>
          <span className="countdown-value" role="timer" aria-labelledby={id}>
            {seconds}
            <span className="countdown-unit"> s</span>
          </span>
        </>
      )}
    </p>
  );
}
