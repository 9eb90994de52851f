import { QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import type { OutboxEntry } from 'steadfetch/outbox';
import { ConnectionBanner, OutboxBadge, OutboxPanel } from 'steadfetch/ui';
import 'steadfetch/ui.css';
import { queryClient } from './outbox.ts';
import { ReportForm } from './report-form.tsx';
import { Reports } from './reports.tsx';

/** An entry that another version of the app has saved may have other variables, or none. */
const nameOf = ({ variables }: OutboxEntry): string =>
  (variables as { text?: string } | undefined)?.text ?? 'A report';

const container = document.querySelector('#root');
if (!container) throw new Error('index.html has no #root.');

createRoot(container).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <ConnectionBanner />
      <h1>
        Reports <OutboxBadge />
      </h1>
      <ReportForm />
      <OutboxPanel describe={nameOf} />
      <Reports />
    </QueryClientProvider>
  </StrictMode>,
);
