/** Whether a value has a shape. Values that JSON omits may also be null. */
type Shape = (value: unknown) => boolean;

const text: Shape = (value) => typeof value === 'string';
const number: Shape = (value) => typeof value === 'number' && Number.isFinite(value);
const flag: Shape = (value) => typeof value === 'boolean';
const anything: Shape = () => true;
const maybe =
  (shape: Shape): Shape =>
  (value) =>
    value === undefined || value === null || shape(value);
const oneOf =
  (...allowed: readonly string[]): Shape =>
  (value) =>
    allowed.includes(value as string);
const list =
  (of: Shape): Shape =>
  (value) =>
    // `Array.from` fills gaps, which `every` would skip.
    Array.isArray(value) && Array.from(value).every((part) => of(part));
const record =
  (fields: Readonly<Record<string, Shape>>): Shape =>
  (value) =>
    typeof value === 'object' &&
    value !== null &&
    Object.entries(fields).every(([name, shape]) =>
      shape((value as Readonly<Record<string, unknown>>)[name]),
    );

const error = maybe(record({ name: text, message: text }));
const failure = record({
  kind: text,
  processed: oneOf('no', 'yes', 'unknown'),
  status: maybe(number),
  retryAfterMs: maybe(number),
});
const outcome: Shape = (value) =>
  failure(value) &&
  // The status of these is shown.
  (!/^(?:ok|http|body)$/.test((value as { readonly kind: string }).kind) ||
    record({ status: number })(value));

const request = {
  request: number,
  method: (value: unknown) => /^[\w-]+$/.test(String(value)),
  url: text,
  place: maybe(record({ origin: text, endpoint: text })),
};
const decision: Shape = (value) =>
  record({ kind: oneOf('retry', 'stop'), reason: text, retryAt: maybe(number) })(value) &&
  ((value as { readonly kind: string }).kind === 'stop' || record({ delayMs: number })(value));

const ofOperation: Readonly<Record<string, Readonly<Record<string, Shape>>>> = {
  'operation:start': {},
  'attempt:start': {},
  'pause:start': { reason: text, retryAt: maybe(number), probedBy: maybe(text) },
  'pause:end': { result: oneOf('sent', 'probe', 'expired', 'dropped') },
  'request:start': request,
  'request:end': { ...request, outcome },
  'attempt:end': { error },
  decision: {
    failure,
    decision,
    // Infinity is null in JSON.
    maxRetries: maybe(number),
    error,
    method: maybe(text),
    url: maybe(text),
    options: maybe(list(record({ name: text, value: text, level: text }))),
  },
  'operation:end': { result: oneOf('succeeded', 'failed', 'cancelled', 'superseded') },
};

const operation = record({
  id: number,
  kind: oneOf('query', 'mutation', 'call'),
  startedAt: number,
  attempt: number,
  queryKey: maybe(list(anything)),
});

const known = {
  status: oneOf('up', 'recovering', 'down', 'rate-limited'),
  downSince: maybe(number),
  retryAt: maybe(number),
  probedBy: maybe(text),
  waiting: number,
};
const inspection = record({
  at: maybe(number),
  isOffline: flag,
  origins: list(
    record({
      ...known,
      origin: text,
      inFlight: number,
      maxInFlight: maybe(number),
      endpoints: list(
        record({
          ...known,
          endpoint: text,
          failures: number,
          failuresUntilDown: maybe(number),
          usualFailureRatio: maybe(number),
          usualLatencyMs: maybe(number),
        }),
      ),
      limits: list(
        record({
          scope: text,
          pausedUntil: maybe(number),
          remaining: maybe(number),
          resetAt: maybe(number),
        }),
      ),
    }),
  ),
  tabs: record({
    areShared: flag,
    isHidden: flag,
    probes: list(record({ origin: text, endpoint: maybe(text), by: text })),
  }),
});

const place = { origin: text, endpoint: maybe(text) };
const ofState: Readonly<Record<string, Readonly<Record<string, Shape>>>> = {
  inspection: { inspection },
  'outage:start': place,
  'outage:end': { ...place, downMs: number },
  'leader:start': place,
  'leader:end': place,
  connectivity: { status: text },
  outbox: { due: number, waiting: number, sending: number, paused: number, dead: number },
};

/** Whether a value is an event that can be shown, from any source. */
export function isEvent(value: unknown): boolean {
  const { type } = Object(value) as { readonly type?: unknown };
  const name = String(type);
  if (Object.keys(ofState).includes(name)) return record({ at: number, ...ofState[name] })(value);
  return (
    Object.keys(ofOperation).includes(name) &&
    record({ at: number, operation, ...ofOperation[name] })(value)
  );
}
