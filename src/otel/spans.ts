import {
  type Attributes,
  type Context,
  context,
  type HrTime,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
  type Tracer,
} from '@opentelemetry/api';
import { failures, type Enter, type Outcome, type SteadfetchEvent } from '../core/internal.ts';
import { toJson } from '../core/lib/json.ts';
import { errorOf, methodOf, statusOf, urlOf } from './attributes.ts';

interface Shown {
  /** Whether each request has a span. */
  readonly hasRequests: boolean;
  readonly hasQuery: boolean;
  readonly hasKey: boolean;
}

interface OpenOperation {
  readonly span: Span;
  /** The context for the spans of its requests. */
  readonly inside: Context;
  /** How many of its requests have failed, by method and URL. */
  readonly failed: Map<string, number>;
  /** Its latest failure. */
  readonly failure?: Outcome;
}

interface OpenRequest {
  readonly span: Span;
  readonly operation: number;
}

interface Spans {
  readonly record: (event: SteadfetchEvent) => void;
  /** Runs in the span of its request, or else of its operation: spans created within are of its trace. */
  readonly enter: Enter;
  /** Ends the open spans. */
  readonly end: () => void;
}

/** Converts epoch milliseconds. A single number could be read as the time since the page began. */
const timeOf = (ms: number): HrTime => [Math.floor(ms / 1000), Math.floor((ms % 1000) * 1e6)];

/** Spans of operations and requests, with the times of their events. */
export function createSpans(
  tracer: Tracer,
  now: () => number,
  { hasRequests, hasQuery, hasKey }: Shown,
): Spans {
  const operations = new Map<number, OpenOperation>();
  const requests = new Map<number, OpenRequest>();

  const endRequest = (request: number, outcome: Outcome, at: HrTime): void => {
    const span = requests.get(request)?.span;
    requests.delete(request);
    if (!span) return;
    span.setAttributes({ ...statusOf(outcome), ...errorOf(outcome) });
    endSpan(span, outcome, at);
  };
  const endOperation = (id: number, at: HrTime, result: string, attempt?: number): void => {
    // Requests that are still in flight emit nothing more.
    for (const [request, { operation }] of requests)
      if (operation === id) endRequest(request, failures.aborted, at);
    const open = operations.get(id);
    operations.delete(id);
    if (!open) return;
    const { span, failure } = open;
    span.setAttributes({ 'steadfetch.operation.result': result });
    if (attempt !== undefined) span.setAttribute('steadfetch.operation.attempts', attempt);
    if (result !== 'failed' || !failure) return span.end(at);
    span.setAttributes(errorOf(failure));
    endSpan(span, failure, at);
  };

  const record = (event: SteadfetchEvent): void => {
    const { id, kind, attempt, queryKey } = event.operation;
    const at = timeOf(event.at);
    const open = operations.get(id);
    const addEvent = (name: string, attributes: Attributes): void =>
      void open?.span.addEvent(`steadfetch.${name}`, attributes, at);

    switch (event.type) {
      case 'operation:start': {
        const around = context.active();
        const attributes: Attributes = {
          'steadfetch.operation.id': id,
          'steadfetch.operation.kind': kind,
          ...(hasKey && queryKey && { 'steadfetch.query.key': JSON.stringify(queryKey, toJson) }),
        };
        const span = tracer.startSpan(kind, { startTime: at, attributes }, around);
        operations.set(id, { span, inside: trace.setSpan(around, span), failed: new Map() });
        return;
      }
      case 'request:start': {
        if (!hasRequests) return;
        const { request, method, url } = event;
        // Plain mutations and lone requests emit no start.
        const resends = open ? open.failed.get(`${method} ${url}`) : attempt - 1;
        const attributes: Attributes = {
          ...methodOf(method),
          ...urlOf(url, hasQuery),
          ...(resends && { 'http.request.resend_count': resends }),
        };
        const name = attributes['http.request.method'] === method ? method : 'HTTP';
        const options = { kind: SpanKind.CLIENT, startTime: at, attributes };
        const span = tracer.startSpan(name, options, open?.inside ?? context.active());
        requests.set(request, { span, operation: id });
        return;
      }
      case 'request:end': {
        const { request, method, url, outcome } = event;
        const target = `${method} ${url}`;
        if (outcome.kind !== 'ok') open?.failed.set(target, (open.failed.get(target) ?? 0) + 1);
        return endRequest(request, outcome, at);
      }
      case 'pause:start':
        return addEvent('pause', { 'steadfetch.pause.reason': event.reason });
      case 'pause:end':
        return addEvent('pause.end', { 'steadfetch.pause.result': event.result });
      case 'decision': {
        const { decision, failure } = event;
        if (open) operations.set(id, { ...open, failure });
        const delayMs = decision.kind === 'retry' ? decision.delayMs : undefined;
        return addEvent(decision.kind, {
          'steadfetch.reason': decision.reason,
          ...(delayMs !== undefined && { 'steadfetch.retry.delay_ms': delayMs }),
          ...errorOf(failure),
        });
      }
      case 'operation:end':
        return endOperation(id, at, event.result, attempt);
      default:
      // Attempts are covered by their requests.
    }
  };
  return {
    record,
    enter(operation, request, run) {
      const inside = operations.get(operation)?.inside;
      const span = request === undefined ? undefined : requests.get(request)?.span;
      const own = span ? trace.setSpan(inside ?? context.active(), span) : inside;
      return own ? context.with(own, run) : run();
    },
    end() {
      const at = timeOf(now());
      for (const id of operations.keys()) endOperation(id, at, 'unknown');
      for (const request of requests.keys()) endRequest(request, failures.aborted, at);
    },
  };
}

/** An abort by the caller is not an error. */
function endSpan(span: Span, { kind }: Outcome, at: HrTime): void {
  if (kind !== 'ok' && kind !== 'aborted') span.setStatus({ code: SpanStatusCode.ERROR });
  span.end(at);
}
