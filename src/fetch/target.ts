import { endpointOf } from '../origin/endpoint.ts';
import type { ApiProfile } from './api-profile.ts';
import { toUrl } from './request-parts.ts';

/** Where a request goes, as its origin counts it. */
interface Target {
  /** The unit of health. */
  readonly endpoint: string;
  /** What a Retry-After or RateLimit of its answer speaks for. */
  readonly limitScope: string;
}

const folded = new Map<string, string>();
const maxFolded = 500;

/** Folding costs more than the rest of the way out: it is done once for each URL of late. */
function fold(method: string, url: string): string {
  const name = `${method} ${url}`;
  const known = folded.get(name);
  if (known !== undefined) return known;
  const endpoint = endpointOf(method, url);
  if (folded.size >= maxFolded) folded.clear();
  // A `data:` URL is all of its content.
  if (name.length < 300) folded.set(name, endpoint);
  return endpoint;
}

/** The endpoint of a request, by its API's profile where that names one. */
export function targetOf(method: string, url: string, api: ApiProfile | undefined): Target {
  const endpoint = ownName(method, url, api) ?? fold(method, url);
  const isOfApi = api?.limitsApplyTo === 'api' || !!api?.partition;
  return { endpoint, limitScope: isOfApi ? `api ${String(api.match)}` : endpoint };
}

function ownName(method: string, url: string, api: ApiProfile | undefined): string | undefined {
  if (typeof api?.endpoint !== 'function') return api?.endpoint;
  const absolute = toUrl(url);
  try {
    return absolute && api.endpoint(method, absolute);
  } catch {
    // Somebody else's mistake must not stop the request.
    return undefined;
  }
}
