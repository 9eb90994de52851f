import Link from 'next/link';
import type { ReactNode } from 'react';
import { Providers } from './providers.tsx';

export default function Layout({ children }: { readonly children: ReactNode }) {
  return (
    <html lang="en">
      <body>
        <nav>
          <Link href="/">Products</Link> <Link href="/stream">Streamed</Link>{' '}
          <Link href="/checkout">Checkout</Link>
        </nav>
        <Providers>{children}</Providers>
      </body>
    </html>
  );
}
