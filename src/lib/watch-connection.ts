import { hasPage } from './page.ts';

/** The Network Information API, where there is one. */
interface MaybeConnected {
  readonly connection?: EventTarget;
}

/** Calls back when the device goes over another network, until the returned function is called. */
export function watchConnection(onChange: () => void): () => void {
  const { connection } = hasPage() ? (navigator as MaybeConnected) : {};
  connection?.addEventListener('change', onChange);
  return () => connection?.removeEventListener('change', onChange);
}
