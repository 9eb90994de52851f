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
export class FrameCheck implements BodyCheck {
  readonly #endFlag: number;
  /** Decodes base64; undefined for a body of plain bytes. */
  readonly #decode: ((part: Uint8Array) => Uint8Array) | undefined;
  #head: number[] = [];
  /** How many bytes of the current frame are still to come. */
  #left = 0;
  #isEnding = false;
  #isWhole = false;

  constructor(endFlag: number, isBase64: boolean) {
    this.#endFlag = endFlag;
    this.#decode = isBase64 ? createBase64() : undefined;
  }

  take(part: Uint8Array): void {
    const bytes = this.#decode?.(part) ?? part;
    for (let at = 0; at < bytes.length;) {
      // All but the last byte of a frame at once: messages may be large.
      const skipped = Math.min(Math.max(0, this.#left - 1), bytes.length - at);
      this.#left -= skipped;
      at += skipped;
      const byte = bytes[at++];
      if (byte !== undefined) this.#takeByte(byte);
    }
  }

  end(): void {
    if (!this.#isWhole)
      throw new TypeError('the body ended before the frame that says what came of the call');
  }

  #takeByte(byte: number): void {
    if (this.#left > 0) this.#left--;
    else this.#head.push(byte);
    if (this.#head.length === headBytes) {
      const [flag = 0, ...length] = this.#head;
      this.#isEnding = (flag & this.#endFlag) !== 0;
      this.#left = length.reduce((sum, one) => sum * 256 + one, 0);
      this.#head = [];
    }
    this.#isWhole = this.#isEnding && this.#left === 0 && this.#head.length === 0;
  }
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
