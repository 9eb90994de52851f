// notes-server.ts
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';

const note = { text: '', version: 1, editId: '' };

/** Keeps one note. Each write names the version that it changes. */
async function answer(request: IncomingMessage, response: ServerResponse): Promise<unknown> {
  const etag = (): string => `"${note.version}"`;
  if (request.method === 'PUT') {
    const { text } = (await json(request)) as { text: string };
    // Compared and changed in one step: with a database, in the WHERE of its UPDATE.
    if (request.headers['if-match'] !== etag()) return response.writeHead(412).end();
    Object.assign(note, { text, version: note.version + 1, editId: request.headers['edit-id'] });
  }
  return response.setHeader('etag', etag()).end(JSON.stringify(note));
}

export const notesServer = createServer((request, response) => void answer(request, response));
