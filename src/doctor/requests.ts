import type { Node } from './node.ts';
import { bindingOf, importOf, resolve } from './scope.ts';

/** A call that sends a request. */
export interface Request {
  readonly call: Node;
  /** `other` is a client that this file does not show: `api.post('/orders')`. */
  readonly client: 'axios' | 'fetch' | 'got' | 'ky' | 'ofetch' | 'other';
  /** In upper case; undefined where the file does not show it. */
  readonly method: string | undefined;
  /** The options that the call has; undefined where it has none. */
  readonly options: Node | undefined;
  /** The options that the client was made with: `axios.create({…})`. */
  readonly defaults: Node | undefined;
}

const clients = new Set<string | undefined>(['axios', 'got', 'ky', 'ofetch']);
const verbs = /^(?:get|head|options|post|put|patch|delete)$/;

/** The client behind a name, and the options that it was made with. */
export function clientOf(node: Node | undefined): Pick<Request, 'client' | 'defaults'> | undefined {
  const source = importOf(node)?.source;
  if (clients.has(source)) return { client: source as Request['client'], defaults: undefined };
  const binding = bindingOf(node);
  if (binding === undefined)
    return node?.path === 'axios' ? { client: 'axios', defaults: undefined } : undefined;
  const made = binding.init?.calls(/\.(?:create|extend)$/) ? binding.init : undefined;
  const parent = clientOf(made?.callee.get('object'));
  return parent && { client: parent.client, defaults: resolve(made?.args[0]) };
}

/** The method that options name, in upper case; undefined where they are not seen. */
function methodIn(options: Node | undefined): string | undefined {
  if (options === undefined) return 'GET';
  const method = options.option('method');
  if (method === undefined) return options.isOpen ? undefined : 'GET';
  const value = resolve(method)?.value;
  return typeof value === 'string' ? value.toUpperCase() : undefined;
}

const isText = (node: Node | undefined): boolean =>
  typeof node?.value === 'string' || node?.type === 'TemplateLiteral';

/** Which argument of axios has the options: those of `post` and the like come after a body. */
function axiosOptionsAt(verb: string | undefined, first: Node | undefined): number {
  if (verb === undefined) return isText(first) ? 1 : 0;
  return verb.startsWith('p') ? 2 : 1;
}

/** Of `client(…)` and `client.post(…)`. */
function byClient(call: Node): Request | undefined {
  const { callee, args } = call;
  const isMember = callee.type === 'MemberExpression';
  const found = clientOf(isMember ? callee.get('object') : callee);
  const verb = isMember && verbs.test(callee.name) ? callee.name : undefined;
  if (found === undefined || (isMember && (verb ?? callee.name) !== (verb ?? 'request')))
    return undefined;
  const options = resolve(args[found.client === 'axios' ? axiosOptionsAt(verb, args[0]) : 1]);
  return { ...found, call, options, method: verb?.toUpperCase() ?? methodIn(options) };
}

/** Of a client that this file does not show. */
function byShape(call: Node): Request | undefined {
  const { callee, args } = call;
  const other = { call, client: 'other', defaults: undefined } as const;
  if (callee.type === 'MemberExpression' && verbs.test(callee.name)) {
    // `app.post('/orders', handler)` is a server.
    const isPath = isText(args[0]) && /\/|^\w+$/.test(args[0]?.words ?? '');
    if (!isPath || args.some(({ isFunction }) => isFunction)) return undefined;
    const options = resolve(args[callee.name.startsWith('p') ? 2 : 1]);
    return { ...other, method: callee.name.toUpperCase(), options };
  }
  const options = resolve(args[1] ?? args[0]);
  const isSent = options?.property('method') !== undefined && call.calls(/fetch|request|http|api/i);
  return isSent ? { ...other, method: methodIn(options), options } : undefined;
}

/** The request that a node sends. */
export function requestOf(call: Node): Request | undefined {
  if (!call.isCall) return undefined;
  if (!call.calls(/^(?:(?:window|globalThis|self)\.)?fetch$/))
    return byClient(call) ?? byShape(call);
  const options = resolve(call.args[1]);
  return { call, client: 'fetch', method: methodIn(options), options, defaults: undefined };
}

const reads =
  /graph|search|\b(?:quer(?:y|ies)|filter|lookup|count|preview|validate|verify|check\b|authenticat|auth-with|login|token|refresh)/i;
/** Names of headers and options that add no key. */
const plain = /auth|token|cors|json|default|common|base|accept/i;

/** Whether its headers may have a key that this file does not show. */
const mayHaveKey = ({ options }: Request): boolean =>
  [options, resolve(options?.option('headers'))].some((object) => {
    if (object === undefined) return false;
    if (!object.isObject) return !plain.test(object.words);
    return object
      .list('properties')
      .some((one) => one.type === 'SpreadElement' && !plain.test(one.words));
  });

/** Whether it is one that must not be sent twice, and surely has no key. */
export function isUnkeyedWrite(request: Request): boolean {
  const { call, method } = request;
  if ((method !== 'POST' && method !== 'PATCH') || reads.test(call.args[0]?.words ?? ''))
    return false;
  const around = [...call.ancestors()].findLast(({ isFunction }) => isFunction) ?? call;
  const names = /idempot|paypal-request-id|dedup|client_?mutation_?id/i;
  return !names.test(around.words) && !mayHaveKey(request);
}
