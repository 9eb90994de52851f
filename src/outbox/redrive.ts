import type { Clock } from '../lib/clock.ts';
import { type Alarm, startAlarm } from '../lib/timer.ts';
import type { Codec } from './codec.ts';
import type { PageMemory } from './delivery/deliver.ts';
import type { Engine } from './delivery/engine.ts';
import { gone, toDeadLetter } from './errors.ts';
import type { HandlerDefinition } from './handler.ts';
import type { Receipts } from './enqueue.ts';
import type { EntryStorage } from './storage.ts';
import { pagesOf } from './store/row-store.ts';
import { type DeadReason, type Row, rowSchema } from './store/row.ts';

/** What this tab does with entries that another tab, or another version of the app, has ended. */
export interface Redrive {
  /** Revives those of all that are kept that this version perhaps can deliver. Never rejects. */
  readonly all: (engine: Engine) => Promise<void>;
  /**
   * Another tab has ended one: it is revived where this version perhaps can deliver it, or else whoever
   * waits for it here is told by what the disk says. Never rejects.
   */
  readonly hear: (id: string) => Promise<void>;
  /** The same for all that this page has submitted, and for all that are kept. */
  readonly hearAll: () => Promise<void>;
  /** Tells whoever waits here by what the disk says; `delivered` is what another tab has said. Never rejects. */
  readonly settle: (id: string, delivered?: { readonly data: unknown }) => Promise<void>;
  /** This tab could not deliver it, either. */
  readonly giveUp: (id: string) => void;
}

export interface RedriveContext {
  readonly clock: Clock;
  readonly handlers: ReadonlyMap<string, HandlerDefinition>;
  readonly startedAt: number;
  readonly receipts: Receipts;
  readonly codec: Codec;
  readonly memory: Pick<PageMemory, 'underWay'>;
  readonly storage: Pick<EntryStorage, 'durable'>;
  /** Is told of each that is revived. */
  readonly onDue: (entry: Row) => void;
}

/** What became of an entry is asked again after so long, where it could not be read. */
const errorPauseMs = 5000;

const redrivable: readonly DeadReason[] = ['handler-missing', 'not-migrated', 'unreadable'];

export function createRedrive({
  clock,
  handlers,
  startedAt,
  receipts,
  codec,
  memory,
  storage,
  onDue,
}: RedriveContext): Redrive {
  /** Two tabs that cannot deliver one would give it to each other for ever. */
  const buried = new Set<string>();
  const isDeliverable = ({ handler, schema, version, isGone }: Row): boolean => {
    const known = handlers.get(handler);
    if (isGone || !known || schema > rowSchema || version > known.version) return false;
    return version === known.version || !!known.handler.migrate;
  };
  /** It waits for a tab of a version that is not this page's and was here before it: nobody else decides. */
  const isOurs = ({ handler, schema, version, createdAt }: Row): boolean =>
    schema <= rowSchema &&
    version <= (handlers.get(handler)?.version ?? Infinity) &&
    createdAt <= startedAt;
  const revive = async (engine: Engine, id: string): Promise<boolean> => {
    const entry = await engine.store.find(id);
    if (!entry || buried.has(id)) return false;
    if (!isDeliverable(entry) && !(entry.waitsFor && isOurs(entry))) return false;
    const { deadReason } = entry;
    // The end that it really has could not be written yet.
    const isKnownBetter = deadReason === 'not-repeatable' && memory.underWay.has(id);
    const isRedrivable = isKnownBetter || (deadReason && redrivable.includes(deadReason));
    if (!entry.waitsFor && !isRedrivable) return false;
    const revived = await engine.revive(id);
    if (revived) onDue(revived.row);
    return !!revived;
  };
  const reviveAll = async (engine: Engine): Promise<void> => {
    const { store } = engine;
    for (const id of memory.underWay.keys()) await revive(engine, id);
    for (const key of ['other-version', ...redrivable] as const) {
      const index = key === 'other-version' ? 'waitsFor' : 'deadReason';
      const all = pagesOf((after, count) => store.list(key, after, count, index));
      for await (const { id } of all) await revive(engine, id);
    }
  };
  const all: Redrive['all'] = (engine) => reviveAll(engine).catch(engine.onError);

  const settle: Redrive['settle'] = async (id, delivered) => {
    const engine = storage.durable();
    const known = receipts.get(id);
    if (!engine || known?.savedIn === undefined) return;
    try {
      const entry = await engine.store.find(id);
      if (receipts.get(id) !== known) return;
      if (entry?.state === 'done') {
        receipts.resolve(id, await codec.decode(entry.result).catch(() => undefined));
        await engine.store.acknowledge(id);
      } else if (entry?.state === 'dead') receipts.reject(id, toDeadLetter(entry));
      else if (!entry && delivered) receipts.resolve(id, delivered.data);
      else if (!entry) receipts.reject(id, gone(known.facts));
    } catch (error) {
      engine.onError(error);
      startAlarm(clock, errorPauseMs, () => {
        // Where it was opened anew, that was asked already.
        if (storage.durable() === engine) void settle(id, delivered);
      });
    }
  };
  const hear: Redrive['hear'] = async (id) => {
    const engine = storage.durable();
    const isRevived = engine && (await revive(engine, id).catch(engine.onError));
    if (!isRevived) await settle(id);
  };

  return {
    all,
    hear,
    settle,
    giveUp: (id) => void buried.add(id),
    /** One after the other: there may be thousands. */
    async hearAll() {
      for (const [id] of receipts.all()) await hear(id);
      const engine = storage.durable();
      if (engine) await all(engine);
    },
  };
}

/** A result waits so long for the tab that submitted. */
const keepResultMs = 600_000;

/** Forgets results that nobody has asked for. */
export interface Sweeper {
  /** Does so now, and again while there are results that are not old enough. */
  readonly sweep: (engine: Engine) => Promise<unknown>;
  /** Something was done: its result is forgotten when it is old enough. */
  readonly plan: () => void;
  readonly dispose: () => void;
}

export function createSweeper(clock: Clock, engineNow: () => Engine | undefined): Sweeper {
  let setAlarm: Alarm | undefined;
  let isOver = false;
  const sweep: Sweeper['sweep'] = async ({ store }) => {
    // Those that are left are younger; or the clock was set back, and they seem to be.
    if (await store.sweep(clock.now() - keepResultMs)) plan();
  };
  const plan = (): void => {
    if (isOver) return;
    setAlarm ??= startAlarm(clock, keepResultMs + 1000, () => {
      setAlarm = undefined;
      const engine = engineNow();
      if (!engine) return;
      sweep(engine).catch((error: unknown) => {
        engine.onError(error);
        plan();
      });
    });
  };
  return {
    sweep,
    plan,
    dispose() {
      isOver = true;
      setAlarm?.(Infinity);
    },
  };
}
