import { experimental_streamedQuery, queryOptions } from '@tanstack/react-query';
import { steady } from './steady.ts';
import { readText } from './stream.ts';

interface Message {
  readonly id: string;
  readonly data: string;
}

/** Reads messages as EventSource does, without their `event` and `retry`. */
async function* readMessages(response: Response, lastId: string): AsyncGenerator<Message> {
  let rest = '';
  let id = lastId;
  for await (const text of readText(response)) {
    const blocks = (rest + text).split(/\r?\n\r?\n/);
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const values = (field: string) =>
        [...block.matchAll(/^(\w+): ?(.*)$/gm)].filter(([, name]) => name === field);
      id = values('id').at(-1)?.[2] ?? id;
      const data = values('data').map(([, , value]) => value);
      if (data.length > 0) yield { id, data: data.join('\n') };
    }
  }
}

export const prices = queryOptions({
  queryKey: ['prices'],
  queryFn: experimental_streamedQuery<Message, readonly Message[]>({
    refetchMode: 'append',
    initialValue: [],
    reducer: (messages, message) => [...messages, message].slice(-100),
    async *streamFn({ client, queryKey, signal }) {
      const { id = '' } = client.getQueryData<readonly Message[]>(queryKey)?.at(-1) ?? {};
      const response = await steady.fetch('/api/prices', {
        signal,
        headers: { accept: 'text/event-stream', ...(id && { 'last-event-id': id }) },
        // This server sends a comment every 15 s.
        timeout: { headersMs: 10_000, bodyIdleMs: 45_000 },
      });
      let hasMessage = false;
      try {
        for await (const message of readMessages(response, id)) {
          hasMessage = true;
          yield message;
        }
      } catch (error) {
        // A stream that breaks off after a message has ended: the next one goes on from there.
        if (!hasMessage) throw error;
      }
    },
  }),
  // Does nothing while a stream is open.
  refetchInterval: 3000,
});
