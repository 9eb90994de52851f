import { hmac } from '../lib/sha256.ts';

/**
 * The database of a user: one of its own, so that nobody's entries are sent as another's. Her id is
 * not to be read from its name.
 */
export function databaseName(name: string, user: string | undefined): string {
  if (user === undefined) return name;
  const encoder = new TextEncoder();
  const digest = hmac(encoder.encode('steadfetch outbox'), encoder.encode(user));
  const hex = Array.from(digest.slice(0, 16), (byte) => byte.toString(16).padStart(2, '0'));
  return `${name} ${hex.join('')}`;
}
