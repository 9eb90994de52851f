import type { Axios, Config, ParamsSerializer } from './types.ts';

/** Where a request goes, and the config that sends it there. */
export interface Target {
  readonly url: string;
  readonly config: Config;
}

/**
 * Reads where axios' own adapter will send a request. The config of an adapter is merged: no defaults count
 * any more, be they those of axios or of an instance. A serializer of the app runs once, so that one which
 * adds a time or a number says the same here and on the wire.
 *
 * @throws what a serializer throws; an AxiosError for a URL that is none.
 */
export function readTarget({ Axios }: Axios, given: Config): Target {
  const config = { ...given, paramsSerializer: serializeOnce(given.paramsSerializer) };
  const { url, baseURL, allowAbsoluteUrls, params, paramsSerializer } = config;
  const parts = { url, baseURL, allowAbsoluteUrls, params, paramsSerializer };
  const uri = new Axios({}).getUri(parts);
  return { url: uri.replace(/^([a-z][a-z\d+.-]*:)?\/\/[^/?#\\]*@/i, '$1//'), config };
}

function serializeOnce(given: ParamsSerializer | undefined): ParamsSerializer | undefined {
  const serialize = typeof given === 'function' ? given : given?.serialize;
  if (!serialize) return given;
  let text: string | undefined;
  const once = (params: unknown): string => (text ??= serialize(params, given));
  return typeof given === 'function' ? once : { serialize: once };
}
