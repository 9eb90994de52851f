import { extensionsOf } from '../../extension.ts';
import type { Attempt } from '../attempt.ts';
import { type BodyCheck, joinParts, type Part, type PartReader } from './body-source.ts';

type Bytes = Uint8Array<ArrayBuffer>;

/** How much longer than its content a compressed body may be. Another origin hides that a body was compressed. */
const mostOverhead = (got: number): number => 64 + got / 100;

/**
 * Checks that a body is as long as its answer has declared, because in some engines a body that was cut off resolves.
 *
 * @throws TypeError for a shorter one.
 */
function checkLength({ headers, status, type }: Response, method: string, got: number): void {
  const length = headers.get('content-length') ?? '';
  const isShort = /^\d+$/.test(length) && got + (type === 'cors' ? mostOverhead(got) : 0) < +length;
  const isComparable = !headers.get('content-encoding') && !headers.get('transfer-encoding');
  if (isShort && isComparable && method !== 'HEAD' && status !== 304)
    throw new TypeError(`the body ended after ${got} of ${length} bytes`);
}

/** Counts the bytes that it reads, and checks that the body ends where it should. */
export class CheckedReader implements PartReader {
  readonly #attempt: Attempt;
  readonly #response: Response;
  readonly #source: PartReader;
  #check: BodyCheck | undefined;
  #bytes = 0;
  #isBroken = false;

  constructor(attempt: Attempt, response: Response, source: PartReader) {
    this.#attempt = attempt;
    this.#response = response;
    this.#source = source;
    for (const { checkBody } of extensionsOf(attempt.request))
      this.#check ??= checkBody?.(response);
  }

  /** @throws TypeError if the body has ended too early; the error of a broken body. */
  async read(): Promise<Part> {
    try {
      const part = await this.#source.read();
      if (part.done) this.#end();
      else this.#take(part.value);
      return part;
    } catch (error) {
      this.#isBroken = true;
      throw error;
    }
  }

  /** Cancels the body. Unless it is broken, which its readers report, the attempt ends. */
  cancel(reason?: unknown): Promise<unknown> {
    if (!this.#isBroken) this.#attempt.closeBody();
    return this.#source.cancel(reason);
  }

  #take(bytes: Bytes): void {
    this.#bytes += bytes.byteLength;
    this.#attempt.recordBytes(this.#bytes);
    this.#check?.take(bytes);
  }

  #end(): void {
    const { context, request } = this.#attempt;
    // Another client checks its bodies itself.
    if (!context.client) checkLength(this.#response, request.method, this.#bytes);
    this.#check?.end();
  }
}

/** A body that is kept as it arrives, so that several readers can each read it from the start. */
export class KeptBody {
  readonly #source: PartReader;
  readonly #parts: Bytes[] = [];
  /** The read under way. The last one, with the end or an error, stays. */
  #reading: Promise<Part> | undefined;
  #open = 1;

  constructor(source: PartReader) {
    this.#source = source;
  }

  /** Adds a reader that may cancel. The last one cancels the source. */
  share(): void {
    this.#open++;
  }

  openBody(): PartReader {
    let at = 0;
    return {
      read: async () => {
        const known = this.#parts[at++];
        return known ? { value: known } : this.#readNext();
      },
      cancel: async (reason) => --this.#open || this.#source.cancel(reason),
    };
  }

  /** Reads until there are more than `mostBytes`, the body ends, or `isEnough` accepts a part. @returns whether it has ended. */
  async readAhead(mostBytes: number, isEnough?: (part: Bytes) => boolean): Promise<boolean> {
    let left = mostBytes;
    while (left >= 0) {
      const { done, value } = await this.#readNext();
      if (done) return true;
      if (isEnough?.(value)) return false;
      left -= value.byteLength;
    }
    return false;
  }

  #readNext(): Promise<Part> {
    return (this.#reading ??= this.#source.read().then((part) => {
      if (!part.done) {
        this.#parts.push(part.value);
        this.#reading = undefined;
      }
      return part;
    }));
  }
}

/** Reads all of a body. */
export async function readAll(reader: PartReader): Promise<Bytes> {
  const parts: Bytes[] = [];
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return joinParts(parts);
    parts.push(value);
  }
}
