import { SpanKind, SpanStatusCode } from '@opentelemetry/api';
import {
  AggregationTemporality,
  type DataPoint,
  type Histogram,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import {
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { onTestFinished } from 'vitest';
import { settled } from '../core/fetch/observe.ts';
import { startedAt } from '../telemetry/rig.ts';

/** A span, as a test compares it; its times are in milliseconds after the test began. */
function shownSpan(span: ReadableSpan, all: readonly ReadableSpan[]) {
  const { name, kind, attributes, status, events, startTime, endTime, parentSpanContext } = span;
  const ms = ([seconds, nanos]: readonly [number, number]): number =>
    seconds * 1000 + nanos / 1e6 - startedAt;
  const parent = all.find((one) => one.spanContext().spanId === parentSpanContext?.spanId);
  return {
    name,
    kind: SpanKind[kind],
    parent: parent?.name,
    times: [ms(startTime), ms(endTime)],
    isError: status.code === SpanStatusCode.ERROR,
    attributes,
    events: events.map((event) => [ms(event.time), event.name, event.attributes]),
  };
}

/** The value of a counter or gauge; of a histogram, how many there were and their sum. */
const shownPoint = ({ attributes, value }: DataPoint<unknown>) => {
  const { count, sum } = Object(value) as Partial<Histogram>;
  return [attributes, typeof value === 'number' ? value : { count, sum }];
};

/** The SDK of OpenTelemetry, with its exporters that keep what they get in memory. */
export function openSdk() {
  const spanExporter = new InMemorySpanExporter();
  const tracers = new TracerProvider({
    spanProcessors: [new SimpleSpanProcessor({ exporter: spanExporter })],
  });
  const metricExporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter: metricExporter });
  const meters = new MeterProvider({ readers: [reader] });
  /** Its exporter answers by a timer, which is a fake one. */
  const untilDone = async (work: Promise<unknown>): Promise<void> => {
    await settled();
    await work;
  };
  onTestFinished(() => untilDone(Promise.all([tracers.shutdown(), meters.shutdown()])));
  return {
    tracer: tracers.getTracer('test'),
    meter: meters.getMeter('test'),
    /** The spans that have ended, in the order of their end. */
    spans() {
      const all = spanExporter.getFinishedSpans();
      return all.map((span) => shownSpan(span, all));
    },
    /** Each metric that has a value, by its name. */
    async metrics(): Promise<Record<string, unknown>> {
      metricExporter.reset();
      await untilDone(reader.forceFlush());
      const scopes = metricExporter.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics);
      const found = scopes.flatMap(({ metrics }) => metrics);
      return Object.fromEntries(
        found.map(({ descriptor, dataPoints }) => [
          `${descriptor.name} (${descriptor.unit})`,
          dataPoints.map(shownPoint),
        ]),
      );
    },
  };
}
