import type { BodyCheck } from '../core/internal.ts';

/** A flag, and a length of four bytes. */
export const headBytes = 5;

/** The flag of the frame that ends a call, by content type; undefined for a content type without frames. */
export function endFlagOf(contentType: string): number | undefined {
  if (/^application\/grpc-web/i.test(contentType)) return 0x80;
  return /^application\/connect\+/i.test(contentType) ? 2 : undefined;
}

/** Whether the frames are written as base64. */
export const isText = (contentType: string): boolean =>
  /^application\/grpc-web-text/i.test(contentType);

/** Follows the frames of a body across its chunks. The body is complete once the frame that ends the call is. */
export function checkFrames(endFlag: number, isBase64: boolean): BodyCheck {
  const bits = createBase64();
  let head: number[] = [];
  let left = 0;
  let isEnding = false;
  let isWhole = false;
  const takeByte = (byte: number): void => {
    if (left > 0) left--;
    else head.push(byte);
    if (head.length === headBytes) {
      const [flag = 0, ...length] = head;
      isEnding = (flag & endFlag) !== 0;
      left = length.reduce((sum, one) => sum * 256 + one, 0);
      head = [];
    }
    isWhole = isEnding && left === 0 && head.length === 0;
  };
  const takeBytes = (bytes: Uint8Array): void => {
    for (let at = 0; at < bytes.length;) {
      // All but the last byte of a frame at once: messages may be large.
      const skipped = Math.min(Math.max(0, left - 1), bytes.length - at);
      left -= skipped;
      at += skipped;
      const byte = bytes[at++];
      if (byte !== undefined) takeByte(byte);
    }
  };
  return {
    take: (part) => takeBytes(isBase64 ? bits(part) : part),
    end() {
      if (!isWhole)
        throw new TypeError('the body ended before the frame that says what came of the call');
    },
  };
}

/** Decodes base64 chunk by chunk. Each message may have its own padding. */
export function createBase64(): (part: Uint8Array) => Uint8Array<ArrayBuffer> {
  let bits = 0;
  let count = 0;
  return (part) => {
    const bytes: number[] = [];
    for (const character of part) {
      const value = valueOf(character);
      if (value < 0) {
        // Padding ends a group, and the bits left over are filler.
        count = 0;
        continue;
      }
      bits = ((bits << 6) | value) & 0xfff;
      count += 6;
      if (count >= 8) bytes.push((bits >> (count -= 8)) & 0xff);
    }
    return Uint8Array.from(bytes);
  };
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const valueOf = (character: number): number => alphabet.indexOf(String.fromCharCode(character));
