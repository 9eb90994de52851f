import { experimental_streamedQuery, queryOptions } from '@tanstack/react-query';
import { steady } from './steady.ts';

export const answer = (question: string) =>
  queryOptions({
    queryKey: ['answer', question],
    queryFn: experimental_streamedQuery({
      async streamFn({ signal }) {
        const { body } = await steady.fetch(`/api/answer?q=${encodeURIComponent(question)}`, {
          signal,
          // However long it is: it fails if nothing comes for so long.
          timeout: { headersMs: 10_000, bodyIdleMs: 15_000 },
        });
        return (body ?? new ReadableStream<never>()).pipeThrough(new TextDecoderStream());
      },
    }),
  });
