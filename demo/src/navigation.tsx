import { formatCheckoutHash, isCheckout } from './checkout/hash.ts';
import { formatOutboxHash, isOutbox } from './outbox/hash.ts';
import { formatHash, type Visit } from './visits/visit.ts';

interface Props {
  readonly hash: string;
  readonly visit: Visit;
}

/** The pages of the shop. */
export function Navigation({ hash, visit }: Props) {
  const current = isCheckout(hash) ? 'checkout' : isOutbox(hash) ? 'outbox' : 'catalogue';
  const pages = [
    { id: 'catalogue', label: 'Catalogue', href: formatHash(visit) },
    { id: 'checkout', label: 'Checkout', href: formatCheckoutHash() },
    { id: 'outbox', label: 'Outbox', href: formatOutboxHash() },
  ];
  return (
    <nav className="pages" aria-label="Shop">
      {pages.map(({ id, label, href }) => (
        // Where one is, a press must not begin anything anew.
        <a
          key={id}
          href={id === current ? hash || href : href}
          aria-current={id === current ? 'page' : undefined}
        >
          {label}
        </a>
      ))}
    </nav>
  );
}
