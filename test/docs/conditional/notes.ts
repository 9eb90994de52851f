// notes.ts
import { conditionalWrites, createSteadfetch, mutationOptions } from 'steadfetch';

export interface Note {
  readonly text: string;
  readonly version: number;
  readonly editId: string;
}

export const steadyNotes = createSteadfetch({
  apis: [
    {
      match: 'https://notes.example',
      conditional: conditionalWrites({
        async wasOurs({ request, signal }) {
          const response = await steadyNotes.fetch(request.url, { signal, cache: 'no-store' });
          const { editId } = (await response.clone().json()) as Note;
          const own = request.headers.get('edit-id');
          return own !== null && editId === own && response;
        },
      }),
    },
  ],
});

export const saveNote = mutationOptions(steadyNotes, {
  mutationFn: ({ text, version }: Note, { json, idempotencyKey }) =>
    json<Note>('https://notes.example/', {
      method: 'PUT',
      json: { text },
      headers: { 'if-match': `"${version}"`, 'edit-id': idempotencyKey },
    }),
});
