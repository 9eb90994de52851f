import { QueryClientProvider } from '@tanstack/react-query';
import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import { createRecorder } from './recorder/recorder.ts';
import { queryClient, steady } from './steady.ts';
import { createReportPost } from './reports/report-post.ts';
import { followHash } from './outbox/follow-hash.ts';
import { createVisits } from './visits/visits.ts';
import './styles/tokens.css';
import './styles/base.css';
import './styles/layout.css';

const container = document.querySelector('#root');
if (!container) throw new Error('index.html has no #root.');

try {
  const { startMockApi } = await import('./api/mock-api.ts');
  const api = await startMockApi();
  const recorder = createRecorder(steady, queryClient);
  const visits = createVisits(api, recorder);
  await followHash(api.reports);
  const post = createReportPost(api.reports);
  // No StrictMode: in development it mounts everything twice, and a query whose queryFn takes the
  // signal then sends its first request twice. Here requests are counted.
  createRoot(container).render(
    <QueryClientProvider client={queryClient}>
      <App api={api} post={post} visits={visits} recorder={recorder} />
    </QueryClientProvider>,
  );
} catch (error) {
  container.textContent =
    'This demo mocks its API with a service worker, which this browser does not start here. ' +
    'Open it over https or on localhost, in a window that is not private.';
  throw error;
}
