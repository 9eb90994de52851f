export * from '../operation/events.ts';
