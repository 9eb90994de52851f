import { toUrl } from '../core/lib/input/url.ts';
import type { Config, ProgressHandler } from './types.ts';

/**
 * Progress handlers that record progress and then call the app's. `added`: whether to add one if the app has
 * none.
 */
export function watchProgress(
  { onUploadProgress, onDownloadProgress, data }: Config,
  record: () => void,
  added: { readonly upload: boolean; readonly download: boolean },
): Pick<Config, 'onUploadProgress' | 'onDownloadProgress'> {
  const around = (own: ProgressHandler | undefined): ProgressHandler => {
    return (event) => {
      record();
      own?.(event);
    };
  };
  const hasBody = data !== undefined && data !== null;
  return {
    ...((onUploadProgress || (added.upload && hasBody)) && {
      onUploadProgress: around(onUploadProgress),
    }),
    ...((onDownloadProgress || added.download) && {
      onDownloadProgress: around(onDownloadProgress),
    }),
  };
}

/** Whether the browser sends the request without a CORS preflight. A listener on the upload would cause one. */
export function isSimple(method: string, url: string, headers: Headers): boolean {
  const target = toUrl(url);
  if (!globalThis.origin || !target || target.origin === globalThis.origin) return false;
  if (!/^(get|head|post)$/i.test(method)) return false;
  const type = (headers.get('content-type') ?? '').replace(/;.*/s, '').trim().toLowerCase();
  const isOther = [...headers.keys()].some(
    (name) => !/^(accept|accept-language|content-language|content-type)$/.test(name),
  );
  return !isOther && ['', ...simpleTypes].includes(type);
}

/** Fetch, "CORS-safelisted request-header". */
const simpleTypes = ['application/x-www-form-urlencoded', 'multipart/form-data', 'text/plain'];
