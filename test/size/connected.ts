// The same app, which knows whether the network is there and shares what it knows across tabs.
import { QueryClient } from '@tanstack/react-query';
import { createSteadfetch, shareAcrossTabs, watchConnectivity } from 'steadfetch';
import { useCountdown, useRetryStatus } from 'steadfetch/react';

export const steady = createSteadfetch({
  connectivity: watchConnectivity(),
  tabs: shareAcrossTabs(),
});
export const queryClient = new QueryClient({ defaultOptions: steady.defaultOptions });
export { useCountdown, useRetryStatus };
