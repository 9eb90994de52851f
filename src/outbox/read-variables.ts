import type { HandlerDefinition } from './define-handlers.ts';
import { type DeadReason, type Row, rowSchema } from './store/schema.ts';
import type { Seal } from './seal.ts';

/** Why they cannot be read. */
export interface Unread {
  readonly reason: DeadReason | 'too-new';
  readonly error?: unknown;
}

/** The variables of a row, as its handler takes them in this version of the app. */
export async function readVariables(
  row: Row,
  definition: HandlerDefinition | undefined,
  seal: Seal,
): Promise<{ readonly variables: unknown } | Unread> {
  if (row.isGone)
    return { reason: 'unreadable', error: new Error('The browser cannot read it any more.') };
  if (row.schema > rowSchema) return { reason: 'too-new' };
  if (!definition) return { reason: 'handler-missing' };
  const { version, handler } = definition;
  if (row.version > version) return { reason: 'too-new' };
  let variables: unknown;
  try {
    variables = await seal.open(row.variables);
  } catch (error) {
    return { reason: 'unreadable', error };
  }
  if (row.version === version) return { variables };
  try {
    const migrate = (): unknown => handler.migrate?.(variables, row.version);
    if (handler.migrate) return { variables: await seal.wait('migrate', migrate) };
    return { reason: 'not-migrated' };
  } catch (error) {
    return { reason: 'not-migrated', error };
  }
}
