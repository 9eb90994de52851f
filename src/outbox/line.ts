import { type Message, read, write } from './messages.ts';
import type { TabPorts } from './tab-ports.ts';

/** What is done at each message of another tab. */
export type Ears = {
  readonly [K in Message['kind']]: (message: Extract<Message, { readonly kind: K }>) => void;
};

/** The line to the other tabs of an outbox. */
export interface Line {
  /** Whether the other tabs can be told anything. */
  readonly isOpen: boolean;
  readonly post: (message: Message) => void;
  readonly close: () => void;
}

export function createLine(ports: TabPorts, name: string, ears: Ears): Line {
  let isOver = false;
  const channel = ports.open(`steadfetch outbox ${name}`, (posted) => {
    const message = read(posted);
    if (!message || isOver) return;
    if (message.kind !== 'up') ears.changed({ kind: 'changed' });
    (ears[message.kind] as (message: Message) => void)(message);
  });
  const post = (message: Message): void => {
    if (isOver) return;
    try {
      channel?.post(write(message));
    } catch {
      // Its variables or its data cannot be posted: then without.
      if (message.kind !== 'done' || !('data' in message)) return;
      const { id, handler } = message;
      post({ kind: 'done', id, handler });
    }
  };
  return {
    isOpen: !!channel,
    post,
    close() {
      isOver = true;
      channel?.close();
    },
  };
}
