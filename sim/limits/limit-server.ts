/** How a server counts what it allows: about ten requests a second, each. */
export const shapes = [
  /** Ten at once, and ten more a second. */
  'token bucket',
  /** Ten in each second of its clock. */
  'fixed window',
  /** Forty within any four seconds. */
  'sliding window',
  /** Four under way, each of which takes 400 ms. */
  'concurrency',
] as const;

export type Shape = (typeof shapes)[number];

/** How it says that a request is refused. */
const refusals = [
  /** 429, and nothing else. */
  'bare 429',
  /** 429 with a Retry-After, in whole seconds. */
  'Retry-After',
  /** 429 with RateLimit, which its other answers have, too. */
  'RateLimit',
  /** 429 that the page may not read: a rejection. */
  'hidden',
  /** 503, and nothing else. */
  '503',
] as const;

export type Refusal = (typeof refusals)[number];

/** What a limit says of a request that has arrived. */
interface Verdict {
  readonly isAllowed: boolean;
  /** How many more it takes now, and when it takes another one, or all of them again. */
  readonly remaining: number;
  readonly resetInMs: number;
}

/** Is asked in the order of time. */
export type Limit = (atMs: number) => Verdict;

const perSecond = 10;
const sliding = { requests: 40, windowMs: 4000 };
const atOnce = 4;
const workMs = 20;
const longWorkMs = 400;

export const workOf = (shape: Shape): number => (shape === 'concurrency' ? longWorkMs : workMs);

const limits: Readonly<Record<Shape, () => Limit>> = {
  'token bucket'() {
    let [tokens, filledAt] = [perSecond, 0];
    return (atMs) => {
      tokens = Math.min(perSecond, tokens + ((atMs - filledAt) * perSecond) / 1000);
      filledAt = atMs;
      const isAllowed = tokens >= 1;
      if (isAllowed) tokens--;
      const resetInMs = ((1 - (tokens % 1)) * 1000) / perSecond;
      return { isAllowed, remaining: Math.floor(tokens), resetInMs };
    };
  },
  'fixed window'() {
    // The windows of its clock began before the page did.
    const windowOf = (atMs: number): number => Math.floor((atMs + 300) / 1000);
    let [current, used] = [-1, 0];
    return (atMs) => {
      if (windowOf(atMs) !== current) [current, used] = [windowOf(atMs), 0];
      const isAllowed = used < perSecond;
      if (isAllowed) used++;
      return {
        isAllowed,
        remaining: perSecond - used,
        resetInMs: (current + 1) * 1000 - 300 - atMs,
      };
    };
  },
  'sliding window'() {
    let log: number[] = [];
    return (atMs) => {
      log = log.filter((at) => at > atMs - sliding.windowMs);
      const isAllowed = log.length < sliding.requests;
      if (isAllowed) log.push(atMs);
      const resetInMs = (log[0] ?? atMs) + sliding.windowMs - atMs;
      return { isAllowed, remaining: sliding.requests - log.length, resetInMs };
    };
  },
  concurrency() {
    let ends: number[] = [];
    return (atMs) => {
      ends = ends.filter((at) => at > atMs);
      const isAllowed = ends.length < atOnce;
      if (isAllowed) ends.push(atMs + longWorkMs);
      const resetInMs = (ends[0] ?? atMs) - atMs;
      return { isAllowed, remaining: atOnce - ends.length, resetInMs };
    };
  },
};

export const createLimit = (shape: Shape): Limit => limits[shape]();

/** When the last of so many is allowed, where a client knows the limit, and sends each as soon as it may. */
export function oracleMs(shape: Shape, requests: number): number {
  const limit = createLimit(shape);
  let atMs = 0;
  for (let left = requests; left > 0; left--) while (!limit(atMs).isAllowed) atMs++;
  return atMs;
}
