import { inDevelopment } from '../lib/development.ts';
import { callApp, reporterOf } from '../lib/input/callback.ts';
import { normalizeEscapes, toUrl } from '../lib/input/url.ts';
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

/** The units for which an origin counts a request. */
interface Target {
  /** The unit of outages and probes. */
  readonly endpoint: string;
  /** The unit that fails by itself: method and URL, or the name of an endpoint that an API's profile gives. */
  readonly resource: string;
  /** The scope of a Retry-After or RateLimit in its answer. */
  readonly limitScope: string;
}

const folded = new Map<string, string>();
const maxFolded = 500;

/** The endpoint, cached by URL, because folding takes longer than the rest of an admission. */
function fold(method: string, url: string): string {
  const name = `${method} ${url}`;
  const known = folded.get(name);
  if (known !== undefined) return known;
  const endpoint = endpointOf(method, url);
  if (folded.size >= maxFolded) folded.clear();
  // A `data:` URL contains all of its content.
  if (name.length < 300) folded.set(name, endpoint);
  return endpoint;
}

/** The target of a request. An API's profile may name its endpoint. */
export function targetOf(method: string, url: string, api: ApiProfile | undefined): Target {
  const own = ownName(method, url, api);
  const endpoint = own ?? fold(method, url);
  const isOfApi = api?.limitsApplyTo === 'api' || !!api?.partition;
  const resource = own ?? `${method} ${url}`;
  return { endpoint, resource, limitScope: isOfApi ? `api ${String(api.match)}` : endpoint };
}

function ownName(method: string, url: string, api: ApiProfile | undefined): string | undefined {
  if (!api) return undefined;
  const { endpoint } = api;
  if (typeof endpoint !== 'function') return endpoint;
  const absolute = toUrl(url);
  const rule = inDevelopment(
    () => 'the path counts as the endpoint. It must be synchronous and return a name',
  );
  return (
    absolute &&
    callApp(() => endpoint(method, absolute), isName, reporterOf(endpoint, 'apis: endpoint', rule))
  );
}

const isName = (value: unknown): value is string => typeof value === 'string' && value !== '';
