import { type Trouble, type TroubleId, troubles } from '../orders/troubles.ts';

/** Whether a URL hash shows the checkout: `#checkout`, or `#checkout/503`. */
export const isCheckout = (hash: string): boolean => /^#checkout(\/|$)/.test(hash);

/** What goes wrong there; a hash that names nothing shows the one that says most. */
export function parseCheckoutHash(hash: string): Trouble {
  const id = hash.split('/')[1];
  return troubles.find((trouble) => trouble.id === id) ?? troubles[0];
}

export const formatCheckoutHash = (id: TroubleId = troubles[0].id): string => `#checkout/${id}`;
