import { codeOf } from '../lib/input/made-by.ts';
import { definePolicy } from '../policy/options.ts';
import { checkExpect } from './api.ts';
import type { ConditionalCode, KeyCode } from './codes.ts';
import { targetOf } from './endpoint.ts';
import type { FetchContext, SentFacts } from './attempt/in-flight.ts';
import {
  checkInit,
  isLocal,
  type JsonSteadyInit,
  keepReferrer,
  type Passed,
  readInit,
  readParts,
  type SteadyInit,
} from './attempt/request.ts';

/** What is known of a request before it goes anywhere. */
export function gather(
  context: FetchContext,
  input: RequestInfo | URL,
  given: SteadyInit | undefined,
  isRaw: boolean,
): readonly [Passed & { readonly init: SteadyInit }, SentFacts] {
  const members: JsonSteadyInit = readInit('steady.fetch', given);
  const parts = readParts(input, members);
  const init = keepReferrer(parts.request, members);
  const { method, url, signal } = parts;
  const callPolicy =
    init.timeout === undefined ? init.policy : { ...init.policy, timeout: init.timeout };
  if (process.env.NODE_ENV !== 'production' && !isRaw) checkInit(init);
  if (process.env.NODE_ENV !== 'production' && callPolicy)
    definePolicy('steady.fetch', context.policy, callPolicy);
  checkExpect('steady.fetch', init.expect);
  const api = context.findApi(url);
  const name = `${method} ${url}`;
  const profile = api?.idempotency;
  const own = profile && codeOf<KeyCode>(profile).read(profile, parts, init);
  const facts: SentFacts = {
    operation: context.operationFor(signal, `${name} ${own ?? init.idempotencyKey}`),
    method,
    url,
    name,
    ...targetOf(method, url, api),
    api,
    own,
    keyed: false,
    idempotent:
      init.idempotent ??
      api?.idempotent ??
      codeOf<ConditionalCode>(api?.conditional)?.isConditional(parts, init),
    apiPolicy: api?.policy,
    callPolicy,
    expect: init.expect ?? api?.expect ?? init.defaultExpect,
    isRaw,
    isLocal: isLocal(parts, init),
    toClientError: context.client?.errorMaker(init),
  };
  return [{ parts, init }, facts];
}
