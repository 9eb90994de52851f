import { readStringItem } from '../headers/structured-field.ts';
import { createProblem } from './problem.ts';
import type { Settings } from './options.ts';

/** Visible ASCII but for the quotes, and the comma that joins two headers to one. */
const rawKey = /^[!#-+\--~]+$/;

/**
 * The key of a request, or the answer to one without a good one
 * (draft-ietf-httpapi-idempotency-key-header §2.1: the value is a String of RFC 9651).
 */
export function readKey(request: Request, settings: Settings<unknown>): string | Response {
  const { header, acceptRaw, maxKeyLength } = settings;
  const field = request.headers.get(header);
  if (field === null) return createProblem('key-missing', settings);
  const key = readStringItem(field) ?? (acceptRaw && rawKey.test(field) ? field : undefined);
  if (key !== undefined && key.length > 0 && key.length <= maxKeyLength) return key;
  const form = acceptRaw ? 'a key, in quotes or without them' : 'a key in quotes ("8e03978e")';
  const rule = ` It must be ${form}, of 1 to ${maxKeyLength} characters.`;
  return createProblem('key-malformed', settings, rule);
}
