/** Path segments that name one thing of many: numbers and dates, UUIDs, hex and other long tokens. */
const ids = [
  /^[-+]?\d+([.,:_-]\d+)*$/,
  /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i,
  /^(?=.*\d)[\da-f]{8,}$/i,
  /^(?=.*\d)[\w~-]{16,}=*$/,
];

const fold = (segment: string): string => (ids.some((id) => id.test(segment)) ? ':id' : segment);

/**
 * The endpoint of a request: its method and path, with ids folded and without the query string.
 * `GET https://api.example/orders/17/items?page=2` is `GET /orders/:id/items`.
 */
export function endpointOf(method: string, url: string): string {
  const path = url.replace(/[?#].*/s, '').replace(/^[a-z][\w+.-]*:(\/\/[^/]*)?|^\/\/[^/]*/i, '');
  return `${method} ${path.split('/').map(fold).join('/') || '/'}`;
}
