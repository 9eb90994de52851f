/**
 * Where the oldest supported peers are installed, under names of their own beside the newest.
 * Longer names first: the first entry that matches, itself or with a subpath, wins.
 */
export const floorNames: Readonly<Record<string, string>> = {
  '@tanstack/react-query': 'react-query-floor',
  'react-dom': 'react-dom-18',
  react: 'react-18',
};

/** The installed name of an imported one: `react-dom/client` is `react-dom-18/client`. */
export function toFloor(specifier: string): string {
  for (const [name, floor] of Object.entries(floorNames)) {
    if (specifier === name) return floor;
    if (specifier.startsWith(`${name}/`)) return floor + specifier.slice(name.length);
  }
  return specifier;
}
