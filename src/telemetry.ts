export { consoleLogger } from './telemetry/console-logger.ts';
export type {
  ConsoleLoggerOptions,
  LogConsole,
  LogLevel,
  LogRecord,
} from './telemetry/console-logger.ts';
