import { expect, test } from 'vitest';
import { OtherTabs, type Listeners, type Message, write } from '../../src/outbox/messages.ts';

const messages: readonly Message[] = [
  { kind: 'owner' },
  { kind: 'changed' },
  { kind: 'cleared', token: 't' },
  { kind: 'due', owner: 'a', seq: 3, isUrged: false },
  { kind: 'done', id: '1', handler: 'order', variables: { sku: 'lamp' }, data: 7 },
  { kind: 'done', id: '1', handler: 'order' },
  { kind: 'up', origin: 'https://api.example' },
  { kind: 'ended', id: '1' },
  { kind: 'discarded', id: '1', isInDoubt: true },
  { kind: 'renamed', id: '1', next: '2' },
  { kind: 'paused', id: '1', claims: 2, pause: { reason: 'server-down', retryAt: undefined } },
  { kind: 'paused', id: '1', claims: 2, pause: undefined },
  { kind: 'here' },
];

/** Listeners that remember what they have heard. */
function listen(): { readonly listeners: Listeners; readonly heard: Message[] } {
  const heard: Message[] = [];
  const note = (message: Message): void => void heard.push(message);
  return {
    heard,
    listeners: {
      owner: note,
      changed: note,
      due: note,
      up: note,
      done: note,
      ended: note,
      discarded: note,
      renamed: note,
      cleared: note,
      paused: note,
      here: note,
    },
  };
}

/** A line to the other tabs. @returns what comes in on it. */
function connect(listeners: Listeners): (message: unknown) => void {
  let receive: (message: unknown) => void = () => {};
  const ports = {
    open(_: string, listener: (message: unknown) => void) {
      receive = listener;
      return { post: () => {}, close: () => {} };
    },
    lock: undefined,
    watch: () => () => {},
  };
  expect(new OtherTabs(ports, 'db', listeners).isOpen).toBe(true);
  return receive;
}

test.each(messages)('a message is heard as it was written: $kind', (message) => {
  const { listeners, heard } = listen();
  connect(listeners)(structuredClone(write(message)));
  expect(heard.at(-1)).toEqual({ ...message, version: 1 });
});

test.each([undefined, null, 'owner', 7, [], {}, { kind: 'owner' }, { kind: 'owner', version: 2 }])(
  'what this version of the package has not written is not heard: %j',
  (posted) => {
    const { listeners, heard } = listen();
    connect(listeners)(posted);
    expect(heard).toEqual([]);
  },
);

test('what is done is told without its data where those cannot be posted', () => {
  const posted: unknown[] = [];
  const ports = {
    open: () => ({
      post: (message: unknown) => void posted.push(structuredClone(message)),
      close: () => {},
    }),
    lock: undefined,
    watch: () => () => {},
  };
  const others = new OtherTabs(ports, 'db', listen().listeners);
  others.post({ kind: 'done', id: '1', handler: 'order', variables: 1, data: () => {} });
  expect(posted).toEqual([{ kind: 'done', id: '1', handler: 'order', version: 1 }]);
});

test('a line that is broken or closed disturbs nobody', () => {
  let receive: (message: unknown) => void = () => {};
  const ports = {
    open(_: string, listener: (message: unknown) => void) {
      receive = listener;
      const post = (): void => {
        throw new DOMException('closed', 'InvalidStateError');
      };
      return { post, close: () => {} };
    },
    lock: undefined,
    watch: () => () => {},
  };
  const { listeners, heard } = listen();
  const others = new OtherTabs(ports, 'db', listeners);
  others.post({ kind: 'owner' });
  others.post({ kind: 'done', id: '1', handler: 'order', data: 1 });
  receive(write({ kind: 'ended', id: '1' }));
  expect(heard).toEqual([{ kind: 'changed' }, { kind: 'ended', id: '1', version: 1 }]);
  others.close();
  receive(write({ kind: 'ended', id: '1' }));
  others.post({ kind: 'owner' });
  expect(heard).toHaveLength(2);
});
