import type { ReactNode } from 'react';
import { Outlet, Scripts } from 'react-router';
import { Providers } from './providers.tsx';

export function Layout({ children }: { readonly children: ReactNode }) {
  return (
    <html lang="en">
      <body>
        {children}
        <Scripts />
      </body>
    </html>
  );
}

export default function Root() {
  return (
    <Providers>
      <Outlet />
    </Providers>
  );
}
