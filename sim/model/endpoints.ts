/** The address of an endpoint: the first ones may be broken. */
export const endpointUrl = (index: number): string =>
  `https://api.example/${String.fromCodePoint(97 + index)}-items`;

/** Whether a request goes to one of the first `broken` endpoints. */
export function isBroken(url: string, broken: number): boolean {
  for (let index = 0; index < broken; index++) if (url.startsWith(endpointUrl(index))) return true;
  return false;
}
