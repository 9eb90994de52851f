import { useQuery } from '@tanstack/react-query';
import { RetryStatus } from 'steadfetch/ui';
import { type Report, steady } from './handlers.ts';

export function Reports() {
  const { data } = useQuery({
    queryKey: ['reports'],
    queryFn: ({ signal }) => steady.json<Report[]>('/api/reports', { signal }),
  });
  return (
    <section>
      <h2>Delivered</h2>
      <RetryStatus query={['reports']} />
      {data?.length === 0 && <p>Nothing yet.</p>}
      <ul>
        {data?.map(({ id, text }) => (
          <li key={id}>{text}</li>
        ))}
      </ul>
    </section>
  );
}
