import { inDevelopment } from '../lib/development.ts';
import { callApp, reporterOf } from '../lib/input/callback.ts';
import { normalizeEscapes, toUrl } from '../lib/input/url.ts';
import type { Target } from '../origin/ask.ts';
import type { ApiProfile } from './api.ts';

/** Path segments that name one thing of many: numbers and dates, hex and other long tokens, UUIDs among them. */
const id = /^([-+]?\d+([.,:_-]\d+)*|(?=.*\d)([\da-f]{8,}|[\w~-]{16,}=*))$/i;

const foldSegment = (segment: string): string => (id.test(segment) ? ':id' : segment);

/**
 * The endpoint of a request: its method and path, with ids folded and without the query string.
 * `GET https://api.example/orders/17/items?page=2` is `GET /orders/:id/items`. A `data:` or `blob:` URL is content, which
 * must not reach logs.
 */
export function endpointOf(method: string, url: string): string {
  const path = url
    .replace(/[?#].*|^(data|blob):.*/is, '')
    .replace(/^([a-z][\w+.-]*:)?\/\/[^/]*/i, '');
  return `${method} ${normalizeEscapes(path).replace(/[^/]+/g, foldSegment) || '/'}`;
}

/**
 * The units for which an origin counts a request. An API's profile may name its endpoint, which is then the resource, too.
 * `content`: the text by which a read is told from others of its URL.
 */
export function targetOf(
  method: string,
  url: string,
  api: ApiProfile | undefined,
  content = '',
): Pick<Target, 'endpoint' | 'resource' | 'limitScope'> {
  const own = ownName(method, url, api);
  const endpoint = own ?? endpointOf(method, url);
  const isOfApi = api?.limitsApplyTo === 'api' || !!api?.partition;
  const resource = own ?? `${method} ${url}${content}`;
  return { endpoint, resource, limitScope: isOfApi ? `api ${String(api.match)}` : endpoint };
}

function ownName(method: string, url: string, api: ApiProfile | undefined): string | undefined {
  const endpoint = api?.endpoint;
  if (typeof endpoint !== 'function') return endpoint;
  const rule = inDevelopment(
    () => 'the path counts as the endpoint. It must be synchronous and return a name',
  );
  const report = reporterOf(endpoint, 'apis: endpoint', rule);
  // An endpoint function of the app gets absolute URLs only.
  return callApp(() => endpoint(method, toUrl(url) as URL), isName, report);
}

const isName = (value: unknown): value is string => typeof value === 'string' && value !== '';
