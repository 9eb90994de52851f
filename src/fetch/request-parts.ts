export * from './request.ts';
export * from '../lib/url.ts';
