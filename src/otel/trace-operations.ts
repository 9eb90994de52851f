import { type Meter, metrics, trace, type Tracer } from '@opentelemetry/api';
import { isBoolean } from '../lib/input/callback.ts';
import { checkNames, checkValue, isFunction } from '../lib/input/check.ts';
import { instanceOfSteady } from '../react-query/instance.ts';
import type { Steadfetch } from '../react-query/steadfetch.ts';
import { subscribeAll, type TelemetrySources } from '../telemetry/subscribe-all.ts';
import { createMeasures } from './measures.ts';
import { createSpans } from './spans.ts';

/** What is traced and measured, and where that goes. */
export interface TraceOptions extends TelemetrySources {
  /** Makes the spans. @default `trace.getTracer('steadfetch')` */
  readonly tracer?: Tracer | undefined;
  /** Makes the instruments of the metrics. @default `metrics.getMeter('steadfetch')` */
  readonly meter?: Meter | undefined;
  /**
   * Whether each request is a span. Turn it off where an instrumentation of `fetch` makes these spans
   * already. @default true
   */
  readonly requestSpans?: boolean | undefined;
  /** Whether URLs keep their query string, which may carry tokens or personal data. @default false */
  readonly showQueryStrings?: boolean | undefined;
  /** Whether spans have the key of the query, which may contain personal data. @default false */
  readonly showQueryKeys?: boolean | undefined;
}

const operation = 'traceOperations';
const names = ['tracer', 'meter', 'requestSpans', 'showQueryStrings', 'showQueryKeys', 'outbox'];

/**
 * Makes spans and metrics of what an instance does, by the semantic conventions of OpenTelemetry: a span
 * for each operation with its pauses and decisions, within it a client span for each request, and metrics of
 * retries, pauses, outages and dead letters. The duration of requests is not measured: instrumentations of
 * `fetch` do that. Queries, mutations and requests run in the context of their span, so what an instrumentation
 * makes of them, with its `traceparent`, is of the same trace.
 *
 * Spans and metrics have no bodies, no headers, no idempotency keys, no credentials, and neither query
 * strings nor query keys unless you ask for them. No header is set: `traceparent` is that of the app or its
 * instrumentation.
 *
 * @returns A function that ends it, and the spans that are open.
 * @throws TypeError when the first argument is not what `createSteadfetch` returns, or an option is not as
 *   it must be.
 *
 * @example
 * ```ts
 * traceOperations(steady, { outbox });
 * ```
 */
export function traceOperations(steady: Steadfetch, options: TraceOptions = {}): () => void {
  const { wall, emitter } = instanceOfSteady(steady, operation);
  if (process.env.NODE_ENV !== 'production') checkNames(operation, options, names);
  const { outbox } = options;
  const isOn = (name: 'requestSpans' | 'showQueryStrings' | 'showQueryKeys'): boolean | undefined =>
    checkValue(operation, name, options[name], isBoolean, 'true or false');
  const tracer = checkValue(operation, 'tracer', options.tracer, isTracer, 'a Tracer');
  const meter = checkValue(operation, 'meter', options.meter, isMeter, 'a Meter');
  const spans = createSpans(tracer ?? trace.getTracer('steadfetch'), () => wall.now(), {
    hasRequests: isOn('requestSpans') ?? true,
    hasQuery: isOn('showQueryStrings') ?? false,
    hasKey: isOn('showQueryKeys') ?? false,
  });
  const measures = createMeasures(meter ?? metrics.getMeter('steadfetch'), outbox);
  // Each by itself, so that an error of the one leaves the other its events.
  const stops = [
    emitter.subscribe(spans.record, spans.enter),
    subscribeAll(steady, measures.record),
    spans.end,
    measures.end,
  ];
  return () => {
    for (const stop of stops) stop();
  };
}

const hasFunction =
  (name: string) =>
  (value: unknown): boolean =>
    isFunction((value as Record<string, unknown> | null)?.[name]);
const isTracer = hasFunction('startSpan');
const isMeter = hasFunction('createCounter');
