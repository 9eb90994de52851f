/**
 * A form as multipart/form-data (RFC 7578), in the form that browsers give it (HTML, "Multipart form
 * data"): so that its bytes are the same each time, which those of fetch itself are not, because it
 * draws a new boundary. A Blob of its parts: no file is read before it is sent.
 */
export function toMultipart(form: FormData, boundary: string): Blob {
  const parts: BlobPart[] = [];
  for (const [name, value] of form) {
    const field = `--${boundary}\r\nContent-Disposition: form-data; name="${escape(toCrlf(name))}"`;
    if (typeof value === 'string') parts.push(`${field}\r\n\r\n${toCrlf(value)}\r\n`);
    else {
      const file = `; filename="${escape(value.name)}"\r\nContent-Type: ${value.type || 'application/octet-stream'}`;
      parts.push(`${field}${file}\r\n\r\n`, value, '\r\n');
    }
  }
  return new Blob([...parts, `--${boundary}--\r\n`], {
    // A Blob lowers the case of its type, and so must the boundary be.
    type: `multipart/form-data; boundary=${boundary}`,
  });
}

/** The boundary of what {@link toMultipart} has made. */
export function boundaryOf(body: unknown): string | undefined {
  return body instanceof Blob ? body.type.split('; boundary=')[1] : undefined;
}

const toCrlf = (text: string): string => text.replaceAll(/\r\n?|\n/g, '\r\n');

const escape = (text: string): string =>
  text.replaceAll(/["\r\n]/g, (character) => encodeURIComponent(character));
