// stream.ts
import { experimental_streamedQuery, queryOptions } from '@tanstack/react-query';
import { steady } from './steady.ts';

/** What comes of a body, as text. Not every browser can iterate over a body itself. */
export async function* readText({ body }: Response): AsyncGenerator<string> {
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
  try {
    let piece = await reader?.read();
    for (; piece?.value !== undefined; piece = await reader?.read()) yield piece.value;
  } finally {
    // Nobody may be reading any more: this ends the request.
    await reader?.cancel();
  }
}

export const answer = (question: string) =>
  queryOptions({
    queryKey: ['answer', question],
    queryFn: experimental_streamedQuery({
      refetchMode: 'replace',
      async streamFn({ signal }) {
        const response = await steady.fetch(`/api/answer?q=${encodeURIComponent(question)}`, {
          signal,
          // However long it is: it fails if nothing comes for so long.
          timeout: { headersMs: 10_000, bodyIdleMs: 15_000 },
        });
        return readText(response);
      },
    }),
  });
