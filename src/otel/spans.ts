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
import { byType } from '../telemetry/subscribe-all.ts';
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
  /** The latest failure. */
  readonly failure?: Outcome;
}

interface OpenRequest {
  readonly span: Span;
  readonly operation: number;
}

/** Converts epoch milliseconds. A single number could be read as the time since the page began. */
const timeOf = (ms: number): HrTime => [Math.floor(ms / 1000), Math.floor((ms % 1000) * 1e6)];

/** Spans of operations and requests, with the times of their events. */
export class Spans {
  readonly #tracer: Tracer;
  readonly #now: () => number;
  readonly #shown: Shown;
  readonly #operations = new Map<number, OpenOperation>();
  readonly #requests = new Map<number, OpenRequest>();

  constructor(tracer: Tracer, now: () => number, shown: Shown) {
    this.#tracer = tracer;
    this.#now = now;
    this.#shown = shown;
  }

  /** Records an event. Attempts are covered by their requests. */
  readonly record: (event: SteadfetchEvent) => void = byType({
    'operation:start': ({ operation: { id, kind, queryKey }, at }) => {
      const around = context.active();
      const key = this.#shown.hasKey && queryKey;
      const attributes: Attributes = {
        'steadfetch.operation.id': id,
        'steadfetch.operation.kind': kind,
        ...(key && { 'steadfetch.query.key': JSON.stringify(key, toJson) }),
      };
      const span = this.#tracer.startSpan(kind, { startTime: timeOf(at), attributes }, around);
      this.#operations.set(id, { span, inside: trace.setSpan(around, span), failed: new Map() });
    },
    'request:start': ({ operation: { id, attempt }, at, request, method, url }) => {
      if (!this.#shown.hasRequests) return;
      const open = this.#operations.get(id);
      // Plain mutations and lone requests emit no start.
      const resends = open ? open.failed.get(`${method} ${url}`) : attempt - 1;
      const attributes: Attributes = {
        ...methodOf(method),
        ...urlOf(url, this.#shown.hasQuery),
        ...(resends && { 'http.request.resend_count': resends }),
      };
      const name = attributes['http.request.method'] === method ? method : 'HTTP';
      const options = { kind: SpanKind.CLIENT, startTime: timeOf(at), attributes };
      const span = this.#tracer.startSpan(name, options, open?.inside ?? context.active());
      this.#requests.set(request, { span, operation: id });
    },
    'request:end': ({ operation: { id }, at, request, method, url, outcome }) => {
      const target = `${method} ${url}`;
      const failed = this.#operations.get(id)?.failed;
      if (outcome.kind !== 'ok') failed?.set(target, (failed.get(target) ?? 0) + 1);
      this.#endRequest(request, outcome, timeOf(at));
    },
    'pause:start': (event) =>
      this.#addEvent(event, 'pause', { 'steadfetch.pause.reason': event.reason }),
    'pause:end': (event) =>
      this.#addEvent(event, 'pause.end', { 'steadfetch.pause.result': event.result }),
    decision: (event) => {
      const { decision, failure, operation } = event;
      const open = this.#operations.get(operation.id);
      if (open) this.#operations.set(operation.id, { ...open, failure });
      this.#addEvent(event, decision.kind, {
        'steadfetch.reason': decision.reason,
        ...(decision.kind === 'retry' && { 'steadfetch.retry.delay_ms': decision.delayMs }),
        ...errorOf(failure),
      });
    },
    'operation:end': ({ operation: { id, attempt }, at, result }) =>
      this.#endOperation(id, timeOf(at), result, attempt),
  });

  #addEvent({ operation, at }: SteadfetchEvent, name: string, attributes: Attributes): void {
    const span = this.#operations.get(operation.id)?.span;
    span?.addEvent(`steadfetch.${name}`, attributes, timeOf(at));
  }

  #endRequest(request: number, outcome: Outcome, at: HrTime): void {
    const span = this.#requests.get(request)?.span;
    this.#requests.delete(request);
    if (!span) return;
    span.setAttributes({ ...statusOf(outcome), ...errorOf(outcome) });
    endSpan(span, outcome, at);
  }

  #endOperation(id: number, at: HrTime, result: string, attempt?: number): void {
    // Requests that are still in flight emit nothing more.
    for (const [request, { operation }] of this.#requests)
      if (operation === id) this.#endRequest(request, failures.aborted, at);
    const open = this.#operations.get(id);
    this.#operations.delete(id);
    if (!open) return;
    const { span, failure } = open;
    span.setAttributes({ 'steadfetch.operation.result': result });
    if (attempt !== undefined) span.setAttribute('steadfetch.operation.attempts', attempt);
    if (result !== 'failed' || !failure) return span.end(at);
    span.setAttributes(errorOf(failure));
    endSpan(span, failure, at);
  }

  /** Runs in the span of its request, or else of its operation: spans created within are of its trace. */
  readonly enter: Enter = (operation, request, run) => {
    const inside = this.#operations.get(operation)?.inside;
    const span = request === undefined ? undefined : this.#requests.get(request)?.span;
    const own = span ? trace.setSpan(inside ?? context.active(), span) : inside;
    return own ? context.with(own, run) : run();
  };

  /** Ends the open spans. */
  end(): void {
    const at = timeOf(this.#now());
    for (const id of this.#operations.keys()) this.#endOperation(id, at, 'unknown');
    for (const request of this.#requests.keys()) this.#endRequest(request, failures.aborted, at);
  }
}

/** An abort by the caller is not an error. */
function endSpan(span: Span, { kind }: Outcome, at: HrTime): void {
  if (kind !== 'ok' && kind !== 'aborted') span.setStatus({ code: SpanStatusCode.ERROR });
  span.end(at);
}
