import { QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { ConnectionBanner } from 'steadfetch/ui';
import 'steadfetch/ui.css';
import { Checkout } from './checkout.tsx';
import { Products } from './products.tsx';
import { queryClient } from './steady.ts';

const container = document.querySelector('#root');
if (!container) throw new Error('index.html has no #root.');

createRoot(container).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <ConnectionBanner />
      <h1>Kites</h1>
      <Products />
      <Checkout />
    </QueryClientProvider>
  </StrictMode>,
);
