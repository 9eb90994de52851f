export { steadyAdapter } from './axios/adapter.ts';
export type { AxiosStaticLike, SteadyAxiosAdapter } from './axios/adapter.ts';
