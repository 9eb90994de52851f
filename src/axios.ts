export { steadyAdapter } from './axios/adapter.ts';
export type { SteadyAdapterOptions, SteadyAxiosAdapter } from './axios/adapter.ts';
export type { AxiosStaticLike } from './axios/types.ts';
