/** What is wrong, while the rest is well. */
export const partialKinds = [
  /** Every view of a page has a widget whose endpoint never answers. */
  'widget hangs',
  /** One of the endpoints never answers. */
  'one hangs',
  /** One of the endpoints answers 429 with Retry-After: 30, or: 3600. */
  'one 429, 30 s',
  'one 429, 1 h',
  /** One of the endpoints takes 12 s by nature, which is more than the time limit. */
  'one takes 12 s',
  /** So many of the endpoints always answer 503. */
  'two broken',
  'three broken',
  'five broken',
  /** So many of all requests fail with 503: pages that load 30 queries. */
  '5 % errors',
  '10 % errors',
  /** A server in a brown-out. */
  '50 % errors',
  '70 % errors',
  /** All 30 queries go to one endpoint. */
  '50 % errors, one endpoint',
  '70 % errors, one endpoint',
  '90 % errors, one endpoint',
  /** From Wi-Fi to mobile, with 5 s of no network: 30 queries shown while there is none, or after. */
  'mobile, shown offline',
  'mobile, shown after',
] as const;

export type PartialKind = (typeof partialKinds)[number];

/** What one run showed of what is well. Shares are in [0, 1]. */
export interface PartialFigures {
  readonly asked: number;
  readonly failed: number;
  readonly paused: number;
  readonly meanMs: number;
  /** Answered within 8 s: React Query's last retry is 7 s after the first attempt. */
  readonly prompt: number;
  /** Page loads that are not complete after 5 s. */
  readonly late: number;
  /** Until all 30 queries have an answer, from when there is a network again. */
  readonly completeMs: number;
}

export const endpointCount = 20;

/** When an attempt is given up: the default. */
export const timeoutMs = 10_000;
