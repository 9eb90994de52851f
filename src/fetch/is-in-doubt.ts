export * from '../operation/effects.ts';
