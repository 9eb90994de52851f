import { type Meter, trace, type Tracer } from '@opentelemetry/api';
import { isBoolean } from '../core/lib/input/callback.ts';
import { checkNames, checkValue, isFunction } from '../core/lib/input/check.ts';
import { instanceOfSteady, type Steadfetch } from '../core/internal.ts';
import { subscribeAll, type TelemetrySources } from '../telemetry/subscribe-all.ts';
import { Measures } from './measures.ts';
import { Spans } from './spans.ts';
import { inDevelopment } from '../core/lib/development.ts';

/** The options of {@link traceOperations}. */
export interface TraceOptions extends TelemetrySources {
  /** Creates the spans. @default `trace.getTracer('steadfetch')` */
  readonly tracer?: Tracer | undefined;
  /** Creates the instruments of the metrics. @default `metrics.getMeter('steadfetch')` */
  readonly meter?: Meter | undefined;
  /**
   * Whether each request has a span. Turn it off if an instrumentation of `fetch` creates these spans.
   * @default true
   */
  readonly requestSpans?: boolean | undefined;
  /** Whether URLs keep their query string, which may carry tokens or personal data. @default false */
  readonly showQueryStrings?: boolean | undefined;
  /** Whether spans contain the query key, which may contain personal data. @default false */
  readonly showQueryKeys?: boolean | undefined;
}

const operation = 'traceOperations';
const names = ['tracer', 'meter', 'requestSpans', 'showQueryStrings', 'showQueryKeys', 'outbox'];

/**
 * Creates spans and metrics for an instance, following the semantic conventions of OpenTelemetry: a span for
 * each operation with its pauses and decisions, within it a client span for each request, and metrics of
 * retries, pauses, outages and dead letters. Request durations are left to instrumentations of `fetch`. Queries,
 * mutations and requests run in the context of their span, so the spans of an instrumentation, and its
 * `traceparent`, are of the same trace.
 *
 * Spans and metrics contain no bodies, headers, idempotency keys or credentials, and no query strings or
 * query keys unless you ask for them. No header is set: `traceparent` is up to the app or its instrumentation.
 *
 * @returns A function that stops it and ends the open spans.
 * @throws TypeError if the first argument is not from `createSteadfetch`, or for an invalid option.
 *
 * @example
 * ```ts
 * traceOperations(steady, { outbox });
 * ```
 */
export function traceOperations(steady: Steadfetch, options: TraceOptions = {}): () => void {
  const { wall, emitter } = instanceOfSteady(steady, operation);
  inDevelopment(() => checkNames(operation, options, names));
  const { outbox } = options;
  const isOn = (name: 'requestSpans' | 'showQueryStrings' | 'showQueryKeys'): boolean | undefined =>
    checkValue(operation, name, options[name], isBoolean, 'true or false');
  const tracer = checkValue(operation, 'tracer', options.tracer, isTracer, 'a Tracer');
  const meter = checkValue(operation, 'meter', options.meter, isMeter, 'a Meter');
  const spans = new Spans(tracer ?? trace.getTracer('steadfetch'), () => wall.now(), {
    hasRequests: isOn('requestSpans') ?? true,
    hasQuery: isOn('showQueryStrings') ?? false,
    hasKey: isOn('showQueryKeys') ?? false,
  });
  const measures = new Measures(meter, outbox);
  // Two subscriptions, so that an error in one does not cost the other its events.
  const stops = [
    emitter.subscribe(spans.record, spans.enter),
    subscribeAll(steady, measures.record),
    () => spans.end(),
    () => measures.end(),
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
