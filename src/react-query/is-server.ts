import * as reactQuery from '@tanstack/react-query';

/** Not there before 5.91: named, its import would fail. */
const { environmentManager } = reactQuery as Partial<typeof reactQuery>;

/** Whether React Query takes this for a server: an app can say so by its `environmentManager`. */
export function isServer(): boolean {
  return environmentManager ? environmentManager.isServer() : typeof window === 'undefined';
}
