import { SteadfetchDevtools } from 'steadfetch/devtools';
import { ConnectionBanner, RetryStatus } from 'steadfetch/ui';

export const dynamic = 'force-dynamic';

/** A server component: it passes no functions and no instances, so it uses the components that need none. */
export default function Page() {
  return (
    <main>
      <ConnectionBanner />
      <RetryStatus query={['products']} />
      <p id="by-server">Used by a server component</p>
      <SteadfetchDevtools />
    </main>
  );
}
