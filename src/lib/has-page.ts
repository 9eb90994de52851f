/**
 * Whether there is a page, whose life has events: not on a server, in a worker or in React Native,
 * some of which have a `document` or `window` that knows no events.
 */
export function hasPage(): boolean {
  const { document, window } = globalThis as Partial<typeof globalThis>;
  return [document, window].every((target) => typeof target?.addEventListener === 'function');
}
