/** The docs are built next to the demo: as they are, for they are written to be read as text. */
export const links = {
  npm: 'https://www.npmjs.com/package/steadfetch',
  docs: new URL('../../docs/README.md', import.meta.url).href,
  exactlyOnce: new URL('../../docs/exactly-once/figures.md', import.meta.url).href,
  oneUser: new URL('../../docs/storms/one-user.md', import.meta.url).href,
} as const;
