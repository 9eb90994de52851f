import { QueryClient } from '@tanstack/react-query';
import { createSteadfetch, shareAcrossTabs } from 'steadfetch';

const withClient = (steady: ReturnType<typeof createSteadfetch>) => ({
  steady,
  queryClient: new QueryClient({ defaultOptions: steady.defaultOptions }),
});

/** Of the other tabs' instances, too: what one knows all know. */
export const shared = withClient(createSteadfetch({ tabs: shareAcrossTabs() }));
/** Each tab by itself, which is the default. */
export const single = withClient(createSteadfetch());
