import type { AxiosHeaderBag } from './headers.ts';

/** The parts of axios itself, from 0.27 on, that the adapter needs: its defaults and its errors. */
export interface AxiosStaticLike {
  readonly defaults: object;
  /** Instances from `axios.create` do not have it. */
  readonly CancelToken: unknown;
}

/** The parts of a request config that the adapter reads. */
export interface Config {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly baseURL?: string | undefined;
  readonly allowAbsoluteUrls?: boolean | undefined;
  readonly params?: unknown;
  readonly paramsSerializer?: ParamsSerializer | undefined;
  readonly data?: unknown;
  readonly headers?: AxiosHeaderBag | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly cancelToken?: CancelToken | undefined;
  readonly timeout?: number | undefined;
  readonly responseType?: string | undefined;
  readonly transitional?: { readonly clarifyTimeoutError?: boolean } | undefined;
  readonly beforeRedirect?:
    | ((
        options: { readonly href?: string; readonly headers?: object },
        ...others: readonly unknown[]
      ) => void)
    | undefined;
  readonly onUploadProgress?: ProgressHandler | undefined;
  readonly onDownloadProgress?: ProgressHandler | undefined;
}

type Serialize = (...args: unknown[]) => string;

/** A function before axios has normalised it, and an object after. */
export type ParamsSerializer = Serialize | { readonly serialize?: Serialize | undefined };

export type ProgressHandler = (event: unknown) => void;

interface CancelToken {
  readonly reason?: unknown;
  readonly subscribe: (listener: () => void) => void;
  readonly unsubscribe: (listener: () => void) => void;
}

/** The response of axios's own adapter, which its errors carry too. */
export interface Answer {
  readonly status: number;
  readonly statusText: string;
  readonly headers: AxiosHeaderBag;
  data?: unknown;
  config: object;
  readonly request?: Sender | undefined;
}

/** The object that sent a request: an XMLHttpRequest, or a ClientRequest of Node. */
export interface Sender {
  readonly responseURL?: string | undefined;
  readonly res?: IncomingAnswer | undefined;
  readonly destroy?: (() => void) | undefined;
}

/** An answer as Node has received it. */
interface IncomingAnswer {
  readonly statusCode: number;
  readonly statusMessage: string;
  readonly headers: AxiosHeaderBag;
  readonly responseUrl?: string | undefined;
}

export type AxiosFailure = Error & {
  readonly code?: string;
  readonly response?: Answer;
  readonly request?: Answer['request'];
  config?: object;
};

/** axios itself. */
export interface Axios {
  readonly defaults: { readonly adapter?: unknown };
  readonly Axios: new (defaults: object) => { readonly getUri: (config: object) => string };
  readonly getAdapter?: (adapter: unknown, config: object) => InnerAdapter;
  readonly AxiosError: new (
    message: string,
    code: string,
    config: object,
    request?: unknown,
    response?: Answer,
  ) => Error;
  readonly CanceledError: new (message: string | undefined, config: object) => Error;
}

export type InnerAdapter = (config: object) => Promise<Answer>;
