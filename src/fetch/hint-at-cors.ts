import { toUrl } from './request-parts.ts';
import { warn } from './warn.ts';

/**
 * Says, once per origin, what a cross-origin page cannot see: a Retry-After that is not exposed,
 * and an answer without CORS headers, which looks like no answer. For development.
 */
export function hintAtCors(instance: object, url: string, response?: Response): void {
  const origin = toUrl(url)?.origin;
  if (!origin || !globalThis.location || origin === globalThis.location.origin) return;
  if (!response) {
    warn(
      instance,
      `cors ${origin}`,
      `A request to ${origin} failed without an answer. If the network is fine, the answer may have ` +
        `come without CORS headers, as a gateway's own 502, 503 or 504 often does: let every answer, ` +
        `errors included, carry Access-Control-Allow-Origin.`,
    );
  } else if (/^(413|429|503)$/.test(`${response.status}`) && !response.headers.has('retry-after')) {
    warn(
      instance,
      `expose ${origin}`,
      `${origin} answered ${response.status} without a readable Retry-After. If it sends one, the ` +
        `browser hides it: add Access-Control-Expose-Headers: Retry-After, Date.`,
    );
  }
}
