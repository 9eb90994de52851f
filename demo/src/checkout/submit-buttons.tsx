import { type Ref, useCallback } from 'react';
import type { RetryControls, RetryStatus } from 'steadfetch/react';

interface Props {
  readonly ref: React.RefObject<HTMLButtonElement | null>;
  readonly status: RetryStatus & RetryControls;
  readonly isPending: boolean;
}

/** Order, and while that waits, Retry now and Cancel. Who presses Cancel is left at Order. */
export function SubmitButtons({ ref, status, isPending }: Props) {
  const { retryNow, cancel } = status;
  const isWaiting = isPending && /^(waiting|paused)$/.test(status.status);
  const handOver: Ref<HTMLButtonElement> = useCallback(
    (button: HTMLButtonElement | null) => () => {
      if (button && document.activeElement === button) ref.current?.focus();
    },
    [ref],
  );
  return (
    <>
      <button
        ref={ref}
        type={isWaiting ? 'button' : 'submit'}
        className="button"
        data-primary
        aria-disabled={isPending && !isWaiting}
        onClick={isWaiting ? retryNow : undefined}
      >
        {isWaiting ? 'Retry now' : 'Order'}
      </button>
      {isPending && (
        <button ref={handOver} type="button" className="button" onClick={cancel}>
          Cancel
        </button>
      )}
    </>
  );
}
