/**
 * Reads init once, as fetch does: inherited members and getters count, also those of a class or of
 * a Request, and `null` is no init. What comes back is a plain object of ours.
 *
 * @throws TypeError for an init that is no object; whatever a getter throws.
 */
export function readInit<T extends object>(operation: string, init: T | null | undefined): T {
  const members: Record<string, unknown> = {};
  if (init === undefined || init === null) return members as T;
  if (typeof init !== 'object' && typeof init !== 'function') {
    throw new TypeError(`${operation}: init is a ${typeof init}, and must be an object.`);
  }
  // The objects that everything inherits from have no member of fetch's.
  for (let owner: object | null = init; owner; owner = Object.getPrototypeOf(owner)) {
    if (owner === Object.prototype || owner === Function.prototype) break;
    for (const name of Object.getOwnPropertyNames(owner)) {
      if (!(name in members)) members[name] = (init as Record<string, unknown>)[name];
    }
  }
  return members as T;
}

/** The members of fetch's init that replace something of a Request. */
const replacing = [
  'method',
  'headers',
  'body',
  'mode',
  'credentials',
  'cache',
  'redirect',
  'referrer',
  'referrerPolicy',
  'integrity',
  'keepalive',
  'signal',
  'duplex',
  'priority',
  'window',
];

/**
 * What is sent of a Request with an init of ours. Any member at all makes fetch forget the
 * Request's referrer (Fetch, "new Request", step 13): so it is named where the caller's init had none.
 */
export function keepReferrer<T extends RequestInit>(request: Request | undefined, init: T): T {
  if (!request || replacing.some((name) => (init as Record<string, unknown>)[name] !== undefined))
    return init;
  const { referrer, referrerPolicy } = request;
  return { ...init, referrer, referrerPolicy };
}
