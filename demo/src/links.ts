/** A page of the docs, which are built beside the demo. */
const page = (path: string): string => `docs/${path}.html`;

export const links = {
  npm: 'https://www.npmjs.com/package/steadfetch',
  docs: page('index'),
  japanese: page('ja/index'),
  readme: page('readme'),
  acrossTabs: page('across-tabs'),
  exactlyOnce: page('exactly-once/figures'),
  partialFailure: page('storms/partial-failure'),
  oneUser: page('storms/one-user'),
} as const;
