export { consoleLogger } from './telemetry/console-logger.ts';
export type {
  ConsoleLoggerOptions,
  LogConsole,
  LogLevel,
  LogRecord,
} from './telemetry/console-logger.ts';
export { metrics } from './telemetry/metrics.ts';
export type { Metrics, MetricsCounters, MetricsSnapshot } from './telemetry/metrics.ts';
export { subscribeAll } from './telemetry/subscribe-all.ts';
export type { StateEvent, TelemetryEvent, TelemetrySources } from './telemetry/subscribe-all.ts';
export { describeReason } from './telemetry/words.ts';
export { watchHealth } from './telemetry/watch-health.ts';
export type {
  EndpointHealth,
  HealthState,
  OriginTotals,
  RequestTotals,
  OriginHealthState,
  WatchedHealth,
} from './telemetry/watch-health.ts';
