/** What a user orders. */
export interface Order {
  /** Unique: the ledger is compared by it. */
  readonly no: number;
  readonly article: string;
}

/** What the user was told at the end. */
export type Told = 'success' | 'failed' | 'unknown';

/** Submits an order, and comes back when the user has been told something. Never rejects. */
type Submit = (order: Order) => Promise<Told>;

/** The line between a contender and the server. */
export interface Line {
  /** Where orders are posted to. */
  readonly url: string;
  /** How many times faster than life everything is: time limits and delays are divided by it. */
  readonly speed: number;
}

/** One tab of a browser: what it is made of lives as long as the tab. */
export type Contender = (line: Line) => Submit;

/** The time limit of one attempt, in life, for all of them. */
export const timeoutMs = 10_000;

/** For those that have no third end: a user is told success, or failure. */
export async function tell(send: Promise<unknown>): Promise<Told> {
  try {
    await send;
    return 'success';
  } catch {
    return 'failed';
  }
}

/** A key as the draft wants it, new at every call. */
export const createKey = (): string => `"${crypto.randomUUID()}"`;

/** One bare request, as a user writes it into a mutationFn. */
export async function postOrder(
  { url, speed }: Line,
  order: Order,
  key: string,
  signal = AbortSignal.timeout(timeoutMs / speed),
): Promise<unknown> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': key },
    body: JSON.stringify(order),
    signal,
  });
  if (!response.ok) throw new Error(`${response.status}`);
  return response.json();
}
