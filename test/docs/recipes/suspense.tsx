import { QueryErrorResetBoundary, queryOptions, useSuspenseQuery } from '@tanstack/react-query';
import { Component, type ReactNode, Suspense } from 'react';
import { useCountdown, useRetryStatus } from 'steadfetch/react';
import { steady } from './steady.ts';

const report = (of: string) =>
  queryOptions({
    queryKey: ['report', of],
    queryFn: ({ signal }) => steady.json<{ title: string }>(`/api/reports/${of}`, { signal }),
  });

function Report({ of }: { readonly of: string }) {
  const { data } = useSuspenseQuery(report(of));
  return <h1>{data.title}</h1>;
}

function Waiting({ of }: { readonly of: string }) {
  const { status, retryAt } = useRetryStatus(report(of));
  const seconds = useCountdown(retryAt);
  const isNext = status === 'waiting' && retryAt !== undefined;
  return <p role="status">{isNext ? `Not through yet. Next in ${seconds} s.` : 'Loading'}</p>;
}

class Boundary extends Component<{ children: ReactNode; onReset: () => void }> {
  override state = { hasFailed: false };
  static getDerivedStateFromError = () => ({ hasFailed: true });
  reset = () => {
    this.props.onReset();
    this.setState({ hasFailed: false });
  };
  override render() {
    if (this.state.hasFailed) return <button onClick={this.reset}>Failed. Try again</button>;
    return this.props.children;
  }
}

export const Page = ({ of }: { readonly of: string }) => (
  <QueryErrorResetBoundary>
    {({ reset }) => (
      <Boundary onReset={reset}>
        <Suspense fallback={<Waiting of={of} />}>
          <Report of={of} />
        </Suspense>
      </Boundary>
    )}
  </QueryErrorResetBoundary>
);
