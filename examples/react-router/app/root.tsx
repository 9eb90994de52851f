import type { ReactNode } from 'react';
import { Link, Outlet, Scripts } from 'react-router';
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
      <nav>
        <Link to="/">Products</Link> <Link to="/checkout">Checkout</Link>
      </nav>
      <Outlet />
    </Providers>
  );
}
