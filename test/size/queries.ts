// What an app pays that shows lists, and says when each is asked for again.
import { QueryClient } from '@tanstack/react-query';
import { createSteadfetch } from 'steadfetch';
import { useCountdown, useRetryStatus } from 'steadfetch/react';

export const steady = createSteadfetch();
export const queryClient = new QueryClient({ defaultOptions: steady.defaultOptions });
export { useCountdown, useRetryStatus };
