/** Calls back when the device goes over another network, until the returned function is called. */
export function watchConnection(onChange: () => void): () => void {
  // The Network Information API, where there is one.
  const connection = (globalThis.navigator as { readonly connection?: EventTarget } | undefined)
    ?.connection;
  connection?.addEventListener('change', onChange);
  return () => connection?.removeEventListener('change', onChange);
}
