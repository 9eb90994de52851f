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

const clients: Readonly<Record<string, Request['client']>> = {
  axios: 'axios',
  got: 'got',
  ky: 'ky',
  ofetch: 'ofetch',
};

const verbs = /^(?:get|head|options|post|put|patch|delete|request)$/;

/** The client behind a name, and the options that it was made with. */
export function clientOf(node: Node | undefined): Pick<Request, 'client' | 'defaults'> | undefined {
  const name = clients[importOf(node)?.source ?? ''];
  if (name !== undefined) return { client: name, defaults: undefined };
  if (node?.type !== 'Identifier') return undefined;
  const binding = bindingOf(node);
  if (binding === undefined)
    return node.name === 'axios' ? { client: 'axios', defaults: undefined } : undefined;
  const made = binding.init;
  if (made?.type !== 'CallExpression' || !/\.(?:create|extend)$/.test(made.callee.path))
    return undefined;
  const parent = clientOf(made.callee.get('object'));
  return parent && { client: parent.client, defaults: resolve(made.list('arguments')[0]) };
}

const isText = (node: Node | undefined): boolean =>
  (node?.type === 'Literal' && typeof node.value === 'string') || node?.type === 'TemplateLiteral';

const textOf = (node: Node | undefined): string | undefined => {
  const value = resolve(node)?.value;
  return typeof value === 'string' ? value.toUpperCase() : undefined;
};

/** The method that options name; `otherwise` where they name none, and undefined where they are not seen. */
function methodIn(options: Node | undefined, otherwise: string): string | undefined {
  if (options === undefined) return otherwise;
  if (options.type !== 'ObjectExpression') return undefined;
  const method = options.option('method');
  if (method !== undefined) return textOf(method);
  return options.list('properties').some(({ type }) => type === 'SpreadElement')
    ? undefined
    : otherwise;
}

/** Of `client(…)` and `client.post(…)`. */
function byClient(call: Node): Request | undefined {
  const { callee } = call;
  const isMember = callee.type === 'MemberExpression';
  const found = clientOf(isMember ? callee.get('object') : callee);
  if (found === undefined || (isMember && !verbs.test(callee.name))) return undefined;
  const [first, second, third] = call.list('arguments');
  const verb = isMember && callee.name !== 'request' ? callee.name.toUpperCase() : undefined;
  if (found.client !== 'axios') {
    const options = resolve(second);
    return { ...found, call, options, method: verb ?? methodIn(options, 'GET') };
  }
  const takesBody = verb !== undefined && /^(?:POST|PUT|PATCH)$/.test(verb);
  const config = verb === undefined && !isText(first) ? first : takesBody ? third : second;
  const options = resolve(config);
  return { ...found, call, options, method: verb ?? methodIn(options, 'GET') };
}

/** The request that a node sends. */
export function requestOf(call: Node): Request | undefined {
  if (call.type !== 'CallExpression') return undefined;
  const { callee } = call;
  const [first, second, third] = call.list('arguments');
  if (/^(?:(?:window|globalThis|self)\.)?fetch$/.test(callee.path)) {
    const options = resolve(second);
    const method = methodIn(options, 'GET');
    return { call, client: 'fetch', method, options, defaults: undefined };
  }
  const known = byClient(call);
  if (known !== undefined) return known;
  const other = { call, client: 'other', defaults: undefined } as const;
  if (callee.type === 'MemberExpression' && verbs.test(callee.name) && callee.name !== 'request') {
    if (!isText(first) || !/\/|^\w+$/.test(first?.words ?? '')) return undefined;
    // `app.post('/orders', handler)` is a server.
    if (call.list('arguments').some(({ isFunction }) => isFunction)) return undefined;
    const method = callee.name.toUpperCase();
    return { ...other, method, options: resolve(/^P/.test(method) ? third : second) };
  }
  const options = resolve(second ?? first);
  const method =
    options?.type === 'ObjectExpression' ? textOf(options.option('method')) : undefined;
  if (method === undefined || !/fetch|request|http|api/i.test(callee.path)) return undefined;
  return { ...other, method, options };
}

const reads =
  /graph|search|\b(?:quer(?:y|ies)|filter|lookup|count|preview|validate|verify|check\b|authenticat|auth-with|login|token|refresh)/i;
/** What adds no key, by its name. */
const plain = /auth|token|cors|json|default|common|base|accept/i;

/** Whether its headers may have a key that this file does not show. */
function mayHaveKey({ options, client, call }: Request): boolean {
  if (options === undefined) return false;
  if (options.type !== 'ObjectExpression')
    return !(client === 'other' && call.list('arguments').length < 3);
  const headers = resolve(options.option('headers'));
  return [options, headers].some((object) => {
    if (object === undefined) return false;
    if (object.type !== 'ObjectExpression') return !plain.test(object.words);
    return object
      .list('properties')
      .some((one) => one.type === 'SpreadElement' && !plain.test(one.words));
  });
}

/** Whether it is one that must not be sent twice, and surely has no key. */
export function isUnkeyedWrite(request: Request): boolean {
  const { call, method } = request;
  if (method !== 'POST' && method !== 'PATCH') return false;
  if (reads.test(call.list('arguments')[0]?.words ?? '')) return false;
  let around = call;
  for (const node of call.ancestors()) if (node.isFunction) around = node;
  const names = /idempot|paypal-request-id|dedup|client_?mutation_?id/i;
  return !names.test(around.words) && !mayHaveKey(request);
}
