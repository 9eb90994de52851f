import type { HandlerDefinition } from './define-handlers.ts';
import type { Engine } from './engine.ts';
import { pagesOf } from './pages.ts';
import { type DeadReason, type Row, rowSchema } from './row.ts';

/** Revives dead rows that another version of the app could not deliver, and this one perhaps can. */
export interface Cure {
  /** Of all that are kept. */
  readonly all: (engine: Engine) => Promise<void>;
  /** Of one that another tab could not deliver. @returns whether there is hope for it. */
  readonly hear: (engine: Engine, id: string) => Promise<boolean>;
  /** This tab could not deliver it, either. */
  readonly giveUp: (id: string) => void;
}

const curable: readonly DeadReason[] = [
  'handler-missing',
  'schema-too-new',
  'not-migrated',
  'unreadable',
];

/** `onDue` is told of each that is revived. */
export function createCure(
  handlers: ReadonlyMap<string, HandlerDefinition>,
  onDue: (row: Row) => void,
): Cure {
  /** Two tabs that cannot deliver one would give it to each other for ever. */
  const buried = new Set<string>();
  const isDeliverable = ({ handler, schema, version }: Row): boolean => {
    const known = handlers.get(handler);
    if (!known || schema > rowSchema || version > known.version) return false;
    return version === known.version || !!known.handler.migrate;
  };
  const cure = async (engine: Engine, id: string): Promise<boolean> => {
    const row = await engine.store.find(id);
    if (!row?.deadReason || !curable.includes(row.deadReason) || !isDeliverable(row)) return false;
    const cured = await engine.revive(id);
    if (cured) onDue(cured);
    return !!cured;
  };
  return {
    hear: async (engine, id) => !buried.has(id) && cure(engine, id),
    giveUp: (id) => void buried.add(id),
    async all(engine) {
      for (const reason of curable) {
        const dead = pagesOf((after, count) => engine.store.dead(reason, after, count));
        for await (const row of dead) if (isDeliverable(row)) await cure(engine, row.id);
      }
    },
  };
}
