/**
 * The whole body of a request, as far as it is allowed to go; undefined when it is longer. What is
 * too long is not read to its end.
 */
export async function readBody(
  request: Request,
  maxBytes: number,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  if (request.bodyUsed) {
    throw new TypeError(
      'idempotent: the body of the request has been read already. Nothing may read it before, because its bytes are what the key is compared by.',
    );
  }
  if (Number(request.headers.get('content-length')) > maxBytes) return undefined;
  // Firefox has no `Request.body`: there, a length that was told is all there is to stop at.
  const stream = request.body as Request['body'] | undefined;
  if (stream === undefined) return withinLimit(await request.arrayBuffer(), maxBytes);
  const chunks: Uint8Array[] = [];
  let length = 0;
  const reader = stream?.getReader();
  for (let result = await reader?.read(); result?.value; result = await reader?.read()) {
    length += result.value.length;
    if (length > maxBytes) {
      // Not awaited: a sender that does not hear of it must not keep its answer waiting.
      reader?.cancel().catch(() => {});
      return undefined;
    }
    chunks.push(result.value);
  }
  const bytes = new Uint8Array(length);
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.length;
  }
  return bytes;
}

const withinLimit = (buffer: ArrayBuffer, maxBytes: number): Uint8Array<ArrayBuffer> | undefined =>
  buffer.byteLength > maxBytes ? undefined : new Uint8Array(buffer);
