import { type Attributes, type Meter, metrics, type ObservableCallback } from '@opentelemetry/api';
import type { Readable } from '../core/lib/store.ts';
import type { OutboxState } from '../outbox/state.ts';
import type { Outcome, PauseReason } from '../core/internal.ts';
import { byType, type TelemetryEvent } from '../telemetry/subscribe-all.ts';
import { errorOf, methodOf, serverOf } from './attributes.ts';

interface OpenPause {
  readonly at: number;
  readonly reason: PauseReason;
}

/** Durations are in seconds. */
function createInstruments(meter: Meter) {
  const duration = (name: string, description: string) =>
    meter.createHistogram(name, { unit: 's', description });
  return {
    operations: duration(
      'steadfetch.operation.duration',
      'How long operations took, with all their attempts and pauses.',
    ),
    pauses: duration('steadfetch.pause.duration', 'How long operations were paused.'),
    outages: duration('steadfetch.outage.duration', 'How long endpoints and origins were down.'),
    outageCount: meter.createCounter('steadfetch.outages', {
      unit: '{outage}',
      description: 'How often an endpoint or an origin went down.',
    }),
    retries: meter.createCounter('steadfetch.retries', {
      unit: '{retry}',
      description: 'Retries that were decided on.',
    }),
    deadLetters: meter.createObservableGauge('steadfetch.outbox.dead_letters', {
      unit: '{entry}',
      description: 'Entries of the outbox that cannot be delivered.',
    }),
  };
}

type Instruments = ReturnType<typeof createInstruments>;

/** The metrics that instrumentations of `fetch` cannot have. */
export class Measures {
  readonly #meter: Meter | undefined;
  #provider: object | undefined;
  #current: Instruments | undefined;
  readonly #observe: ObservableCallback;
  readonly #begun = new Set<number>();
  readonly #paused = new Map<number, OpenPause>();
  readonly #failures = new Map<number, Outcome>();

  constructor(meter: Meter | undefined, outbox: Readable<OutboxState> | undefined) {
    this.#meter = meter;
    this.#observe = (result) => {
      const dead = outbox?.getState().dead;
      if (dead !== undefined) result.observe(dead);
    };
    void this.#instruments();
  }

  /**
   * The instruments of the app's meter, or of the global one. Unlike a tracer, a meter that was created before the SDK
   * is set up measures nothing for ever.
   */
  #instruments(): Instruments {
    const provider = this.#meter ?? metrics.getMeterProvider();
    if (this.#current && provider === this.#provider) return this.#current;
    this.end();
    this.#provider = provider;
    this.#current = createInstruments(this.#meter ?? metrics.getMeter('steadfetch'));
    this.#current.deadLetters.addCallback(this.#observe);
    return this.#current;
  }

  /** Measures an event. Those without a function here are covered by their start or end. */
  readonly record: (event: TelemetryEvent) => void = byType({
    'operation:start': ({ operation: { id } }) => void this.#begun.add(id),
    decision: ({ operation: { id }, decision, failure, method, url }) => {
      if (this.#begun.has(id)) this.#failures.set(id, failure);
      if (decision.kind !== 'retry') return;
      this.#instruments().retries.add(1, {
        'steadfetch.reason': decision.reason,
        ...(method !== undefined && methodOf(method)),
        ...(url !== undefined && serverOf(url)),
      });
    },
    'pause:start': ({ operation: { id }, at, reason }) => {
      if (!this.#paused.has(id)) this.#paused.set(id, { at, reason });
    },
    'pause:end': ({ operation: { id }, at, result }) => this.#endPause(id, at, result),
    'operation:end': ({ operation: { id, kind, startedAt }, at, result }) => {
      this.#endPause(id, at, 'dropped');
      const failure = this.#failures.get(id);
      this.#failures.delete(id);
      // The operation began before the measurement.
      if (!this.#begun.delete(id)) return;
      this.#instruments().operations.record((at - startedAt) / 1000, {
        'steadfetch.operation.kind': kind,
        'steadfetch.operation.result': result,
        ...(result === 'failed' && failure && errorOf(failure)),
      });
    },
    'outage:start': (event) => this.#instruments().outageCount.add(1, outageOf(event)),
    'outage:end': (event) =>
      this.#instruments().outages.record(event.downMs / 1000, outageOf(event)),
  });

  #endPause(id: number, at: number, result: string): void {
    const open = this.#paused.get(id);
    this.#paused.delete(id);
    if (!open) return;
    this.#instruments().pauses.record((at - open.at) / 1000, {
      'steadfetch.pause.reason': open.reason,
      'steadfetch.pause.result': result,
    });
  }

  end(): void {
    this.#current?.deadLetters.removeCallback(this.#observe);
  }
}

type Outage = Extract<TelemetryEvent, { readonly type: 'outage:start' | 'outage:end' }>;

const outageOf = ({ origin, endpoint }: Outage): Attributes => ({
  'steadfetch.outage.scope': endpoint === undefined ? 'origin' : 'endpoint',
  ...serverOf(origin),
});
