/**
 * A site that shows a link to the demo wants its address, and that of its picture in full. Only its
 * host knows them.
 */
export const withAddress = (html: string, url: string): string =>
  html
    .replace('content="./storm.jpg"', `content="${new URL('storm.jpg', url).href}"`)
    .replace(
      '<meta property="og:image" ',
      `<meta property="og:url" content="${new URL('.', url).href}" />\n    $&`,
    );
