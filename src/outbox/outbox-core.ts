import type { Network } from '../lib/network.ts';
import type { Readable } from '../lib/store.ts';
import type { HandlerDefinition } from './handler.ts';
import type { Entries } from './entries.ts';
import type { Enqueuer } from './enqueue.ts';
import type { Display, OutboxState } from './state.ts';
import type { OutboxCipher } from './codec.ts';
import type { SenderContext } from './attempt.ts';
import type { StorageContext } from './storage.ts';
import type { TabPorts } from '../tabs/lock.ts';

/** An entry was delivered, by this tab or another. */
export interface Delivered {
  readonly idempotencyKey: string;
  readonly handler: string;
  readonly variables: unknown;
  readonly data: unknown;
}

/** An outbox, whatever is built on it: what is submitted to it goes from here, or from another tab. */
export interface OutboxCore
  extends Readable<OutboxState>, Pick<Display, 'onChange'>, Pick<Enqueuer, 'submit'>, Entries {
  /** Forgets all entries, in all tabs. */
  readonly clear: () => Promise<void>;
  /**
   * Sends what nobody else sends, as far as that can be done now. @returns whether something of it is
   * left for later.
   */
  readonly drain: () => Promise<boolean>;
  /** Nothing more is sent from here; what is kept stays. */
  readonly dispose: () => void;
}

export interface OutboxCoreContext extends Pick<StorageContext, 'open'> {
  readonly sender: SenderContext;
  readonly network: Network;
  readonly ports: TabPorts;
  readonly name: string;
  readonly handlers: ReadonlyMap<string, HandlerDefinition>;
  readonly cipher: OutboxCipher | undefined;
  readonly parallel: number;
  /** Something is to be sent, and this page may not be there to do it. */
  readonly onLeft: () => void;
  readonly onDelivered: (delivered: Delivered) => void;
}
