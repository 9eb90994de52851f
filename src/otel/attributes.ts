import type { Attributes } from '@opentelemetry/api';
import { toUrl } from '../core/lib/input/url.ts';
import type { Outcome } from '../core/internal.ts';
import { placeOf } from '../telemetry/words.ts';

// Names from https://opentelemetry.io/docs/specs/semconv/http/http-spans/. Names of our own begin with
// `steadfetch.`.

const knownMethods = 'CONNECT DELETE GET HEAD OPTIONS PATCH POST PUT QUERY TRACE'.split(' ');

/** Unknown methods share one value, because each value is a time series. */
export function methodOf(method: string): Attributes {
  return knownMethods.includes(method)
    ? { 'http.request.method': method }
    : { 'http.request.method': '_OTHER', 'http.request.method_original': method };
}

/** The server of a URL or origin; no attributes without one. */
export function serverOf(url: string): Attributes {
  const { protocol, hostname, port } = toUrl(url) ?? {};
  if (!hostname) return {};
  const usual = protocol === 'http:' ? 80 : 443;
  // OpenTelemetry wants an IPv6 address without brackets.
  const address = hostname.replace(/^\[(.*)\]$/, '$1');
  return { 'server.address': address, 'server.port': port ? Number(port) : usual };
}

export const urlOf = (url: string, hasQuery: boolean): Attributes => ({
  'url.full': placeOf(url, hasQuery).url,
  ...serverOf(url),
});

/** The type of a failure: the status of an answer, or the kind. */
export const errorOf = (outcome: Outcome): Attributes => {
  const { kind } = outcome;
  return kind === 'ok' ? {} : { 'error.type': kind === 'http' ? `${outcome.status}` : kind };
};

/** The status of an answer; no attribute for an opaque one. */
export const statusOf = (outcome: Outcome): Attributes =>
  'status' in outcome && outcome.status > 0 ? { 'http.response.status_code': outcome.status } : {};
