import { QueryClient } from '@tanstack/react-query';
import { createOutbox } from 'steadfetch/outbox';
import { handlers, steady } from './handlers.ts';

export const queryClient = new QueryClient({ defaultOptions: steady.defaultOptions });
export const outbox = createOutbox({ steady, queryClient, handlers });
