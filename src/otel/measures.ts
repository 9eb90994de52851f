import type { Meter } from '@opentelemetry/api';
import type { Readable } from '../core/lib/store.ts';
import type { OutboxState } from '../outbox/state.ts';
import type { Outcome, PauseReason } from '../core/internal.ts';
import type { TelemetryEvent } from '../telemetry/subscribe-all.ts';
import { errorOf, methodOf, serverOf } from './attributes.ts';

interface OpenPause {
  readonly at: number;
  readonly reason: PauseReason;
}

interface Measures {
  readonly record: (event: TelemetryEvent) => void;
  readonly end: () => void;
}

/** The metrics that instrumentations of `fetch` cannot have. Durations are in seconds. */
export function createMeasures(meter: Meter, outbox: Readable<OutboxState> | undefined): Measures {
  const duration = (name: string, description: string) =>
    meter.createHistogram(name, { unit: 's', description });
  const operations = duration(
    'steadfetch.operation.duration',
    'How long operations took, with all their attempts and pauses.',
  );
  const pauses = duration('steadfetch.pause.duration', 'How long operations were paused.');
  const outages = duration(
    'steadfetch.outage.duration',
    'How long endpoints and origins were down.',
  );
  const outageCount = meter.createCounter('steadfetch.outages', {
    unit: '{outage}',
    description: 'How often an endpoint or an origin went down.',
  });
  const retries = meter.createCounter('steadfetch.retries', {
    unit: '{retry}',
    description: 'Retries that were decided on.',
  });
  const deadLetters = meter.createObservableGauge('steadfetch.outbox.dead_letters', {
    unit: '{entry}',
    description: 'Entries of the outbox that cannot be delivered.',
  });
  const observe: Parameters<typeof deadLetters.addCallback>[0] = (result) => {
    const dead = outbox?.getState().dead;
    if (dead !== undefined) result.observe(dead);
  };
  deadLetters.addCallback(observe);

  const begun = new Set<number>();
  const paused = new Map<number, OpenPause>();
  const failures = new Map<number, Outcome>();
  const endPause = (id: number, at: number, result: string): void => {
    const open = paused.get(id);
    paused.delete(id);
    if (!open) return;
    const attributes = {
      'steadfetch.pause.reason': open.reason,
      'steadfetch.pause.result': result,
    };
    pauses.record((at - open.at) / 1000, attributes);
  };

  const record = (event: TelemetryEvent): void => {
    switch (event.type) {
      case 'operation:start':
        begun.add(event.operation.id);
        return;
      case 'decision': {
        const { decision, failure, method, url } = event;
        const { id } = event.operation;
        if (begun.has(id)) failures.set(id, failure);
        if (decision.kind !== 'retry') return;
        retries.add(1, {
          'steadfetch.reason': decision.reason,
          ...(method !== undefined && methodOf(method)),
          ...(url !== undefined && serverOf(url)),
        });
        return;
      }
      case 'pause:start': {
        const { id } = event.operation;
        if (!paused.has(id)) paused.set(id, { at: event.at, reason: event.reason });
        return;
      }
      case 'pause:end':
        return endPause(event.operation.id, event.at, event.result);
      case 'operation:end': {
        const { id, kind, startedAt } = event.operation;
        endPause(id, event.at, 'dropped');
        const failure = failures.get(id);
        failures.delete(id);
        // The operation began before the measurement.
        if (!begun.delete(id)) return;
        operations.record((event.at - startedAt) / 1000, {
          'steadfetch.operation.kind': kind,
          'steadfetch.operation.result': event.result,
          ...(event.result === 'failed' && failure && errorOf(failure)),
        });
        return;
      }
      case 'outage:start':
      case 'outage:end': {
        const scope = event.endpoint === undefined ? 'origin' : 'endpoint';
        const attributes = { 'steadfetch.outage.scope': scope, ...serverOf(event.origin) };
        if (event.type === 'outage:start') outageCount.add(1, attributes);
        else outages.record(event.downMs / 1000, attributes);
        return;
      }
      default:
      // Other events are covered by their start or end.
    }
  };
  return { record, end: (): void => deadLetters.removeCallback(observe) };
}
