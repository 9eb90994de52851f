import { tellApp } from '../lib/callback.ts';
import { originOf } from '../lib/url.ts';
import type { Origins } from '../origin/origins.ts';

/** The beginning of an outage, or its end. */
interface Outage {
  readonly origin: string;
  /** The declared partition of the origin; undefined without one. */
  readonly partition: string | undefined;
  /** Undefined for the origin itself. */
  readonly endpoint: string | undefined;
  /** How long it was, at its end, in milliseconds; undefined at its beginning. */
  readonly downMs: number | undefined;
}

/** Calls the listener once at each beginning and each end of an outage, until the returned function is called. */
export function onOutage(
  { outages }: Pick<Origins, 'outages'>,
  listener: (outage: Outage) => void,
): () => void {
  const tell = (key: string, scope: string, downMs?: number): void => {
    const [origin = ''] = key.split(' ');
    const partition = key.slice(origin.length + 1) || undefined;
    // The origin itself has the empty scope.
    tellApp(listener, { origin, partition, endpoint: scope || undefined, downMs });
  };
  outages.add(tell);
  return () => void outages.delete(tell);
}

/** Nothing of one origin, or of any, is taken for down any more. */
export function endOutages({ admissions }: Pick<Origins, 'admissions'>, url?: string): void {
  for (const [key, { health, recover, reconsider }] of admissions) {
    if (url !== undefined && key.split(' ')[0] !== originOf(url)) continue;
    for (const { scope } of health.down()) recover(health.recover(scope));
    reconsider();
  }
}
