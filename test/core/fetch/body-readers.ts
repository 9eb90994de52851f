type Reader = (response: Response) => Promise<unknown>;

const concatenate = async (body: ReadableStream<Uint8Array> | null): Promise<string> => {
  const reader = body?.getReader();
  const decoder = new TextDecoder();
  let text = '';
  for (;;) {
    const result = await reader?.read();
    if (!result || result.done) return text;
    text += decoder.decode(result.value, { stream: true });
  }
};

/** A body that all of them can read, and its content type: one JSON object, and one form field. */
export const readableByAll = '{"id":1}';
export const contentType = 'application/x-www-form-urlencoded';

/** Every way to read a body to its end; each resolves with its text. */
const bodyReaders: Record<string, Reader> = {
  text: (response) => response.text(),
  json: async (response) => JSON.stringify(await response.json()),
  arrayBuffer: async (response) => new TextDecoder().decode(await response.arrayBuffer()),
  blob: async (response) => new TextDecoder().decode(await (await response.blob()).arrayBuffer()),
  bytes: async (response) => new TextDecoder().decode(await response.bytes()),
  formData: async (response) => [...(await response.formData()).keys()].join(),
  'a reader of body': (response) => concatenate(response.body),
  'for await over body': async (response) => {
    const decoder = new TextDecoder();
    let text = '';
    for await (const chunk of response.body ?? []) text += decoder.decode(chunk, { stream: true });
    return text;
  },
  'body.pipeTo': async (response) => {
    const decoder = new TextDecoder();
    let text = '';
    const write = (chunk: Uint8Array): void => void (text += decoder.decode(chunk));
    await response.body?.pipeTo(new WritableStream({ write }));
    return text;
  },
  clone: (response) => response.clone().text(),
  'clone of a clone': (response) => response.clone().clone().text(),
  'body of a clone': (response) => concatenate(response.clone().body),
};

/** In every engine but WebKitGTK 2.50 a stream can be iterated. */
const isIterable = Symbol.asyncIterator in ReadableStream.prototype;

export const bodyReaderEntries = Object.entries(bodyReaders).filter(
  ([name]) => isIterable || name !== 'for await over body',
);
