import type { Engine } from './engine.ts';
import type { HandlerDefinition } from './handler.ts';
import { pagesOf } from './store/row-store.ts';
import { type DeadReason, type Row, rowSchema } from './store/schema.ts';

/** Revives rows that another version of the app could not deliver, and this one perhaps can. */
export interface Redrive {
  /** Of all that are kept. */
  readonly all: (engine: Engine) => Promise<void>;
  /** Of one that another tab could not deliver. @returns whether there is hope for it. */
  readonly hear: (engine: Engine, id: string) => Promise<boolean>;
  /** This tab could not deliver it, either. */
  readonly giveUp: (id: string) => void;
}

const redrivable: readonly DeadReason[] = ['handler-missing', 'not-migrated', 'unreadable'];

/** `onDue` is told of each that is revived. */
export function createRedrive(
  handlers: ReadonlyMap<string, HandlerDefinition>,
  startedAt: number,
  onDue: (row: Row) => void,
): Redrive {
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
  const redrive = async (engine: Engine, id: string): Promise<boolean> => {
    const row = await engine.store.find(id);
    if (!row || buried.has(id)) return false;
    if (!isDeliverable(row) && !(row.waitsFor && isOurs(row))) return false;
    if (!row.waitsFor && !(row.deadReason && redrivable.includes(row.deadReason))) return false;
    const redriven = await engine.revive(id);
    if (redriven) onDue(redriven.row);
    return !!redriven;
  };
  return {
    hear: redrive,
    giveUp: (id) => void buried.add(id),
    async all(engine) {
      const { store } = engine;
      const redriveAll = async (load: Parameters<typeof pagesOf>[0]): Promise<void> => {
        for await (const { id } of pagesOf(load)) await redrive(engine, id);
      };
      await redriveAll((after, count) => store.list('other-version', after, count, 'waitsFor'));
      for (const reason of redrivable)
        await redriveAll((after, count) => store.list(reason, after, count, 'deadReason'));
    },
  };
}
