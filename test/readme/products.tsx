import { useCountdown, useRetryStatus } from 'steadfetch/react';
import { useProducts } from './steady.ts';

export function Products() {
  const { data } = useProducts();
  return data ? <p>{data.join(', ')}</p> : <Waiting />;
}

function Waiting() {
  const { status, reason, attempt, maxAttempts, retryAt, retryNow, cancel } = useRetryStatus({
    queryKey: ['products'],
  });
  const seconds = useCountdown(retryAt);
  if (status !== 'waiting' && status !== 'paused') return <p role="status">{status}</p>;
  return (
    <p>
      {status === 'paused' ? `Paused: ${reason}.` : `Attempt ${attempt} of ${maxAttempts} failed.`}{' '}
      {retryAt && <span role="timer">Next in {seconds} s.</span>}{' '}
      <button onClick={retryNow}>Retry now</button> <button onClick={cancel}>Cancel</button>
    </p>
  );
}
