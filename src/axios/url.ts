import type { Axios, Config, ParamsSerializer } from './types.ts';

/** The URL of a request, and the config that sends it there. */
export interface Target {
  readonly url: string;
  readonly config: Config;
}

/**
 * Finds the URL that axios's own adapter will send a request to. The config of an adapter is already merged,
 * so neither axios's nor an instance's defaults apply. The app's serializer runs once, so that one which adds
 * a time or a number gives the same URL here and on the wire.
 *
 * @throws the serializer's error; an AxiosError for an invalid URL.
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
