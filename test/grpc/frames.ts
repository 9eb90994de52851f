const encoder = new TextEncoder();

/** A frame of gRPC-web or Connect: a flag, four bytes of length, and what is in it. */
export function frame(flag: number, content: string): Uint8Array<ArrayBuffer> {
  const bytes = encoder.encode(content);
  const whole = new Uint8Array(5 + bytes.length);
  whole[0] = flag;
  new DataView(whole.buffer).setUint32(1, bytes.length);
  whole.set(bytes, 5);
  return whole;
}

/** The frame of gRPC-web that ends a call. */
export const trailers = (fields: Readonly<Record<string, string | number>>) =>
  frame(
    0x80,
    Object.entries(fields)
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join(''),
  );

/** A message, whatever is in it. */
export const message = (content = 'kite') => frame(0, content);

export const join = (...parts: readonly Uint8Array[]) => Buffer.concat(parts);
