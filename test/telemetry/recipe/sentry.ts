import { addBreadcrumb, type SeverityLevel } from '@sentry/browser';
import { consoleLogger, type LogRecord } from 'steadfetch/telemetry';
import { steady } from './steady.ts';

const write =
  (level: SeverityLevel) =>
  (message: string, record: LogRecord): void =>
    addBreadcrumb({ category: 'steadfetch', level, message, data: { ...record } });

steady.subscribe(
  consoleLogger({
    console: {
      debug: write('debug'),
      info: write('info'),
      warn: write('warning'),
      error: write('error'),
    },
  }),
);
