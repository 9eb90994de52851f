import { type Kite, kites } from '../api/kites.ts';

/** The kite that something is about; the first one of the shop where it has none. */
export const kiteOf = ({ kite: id }: { readonly kite: string }): Kite => {
  const kite = kites.find((one) => one.id === id) ?? kites[0];
  if (!kite) throw new Error('The shop has no kites.');
  return kite;
};
