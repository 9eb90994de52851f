/**
 * Whether there is a page with events. There is none on a server, in a worker or in React Native; some
 * of them have a `document` or `window` without events.
 */
export function hasPage(): boolean {
  const { document, window } = globalThis as Partial<typeof globalThis>;
  return [document, window].every((target) => typeof target?.addEventListener === 'function');
}
