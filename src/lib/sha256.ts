type Words = Int32Array<ArrayBuffer>;

/** The first 32 bits of the fractional parts of the square (2) or cube (3) roots of the first primes. */
function rootsOfPrimes(count: number, root: 2 | 3): Words {
  const words = new Int32Array(count);
  for (let prime = 2, found = 0; found < count; prime++) {
    let divisor = 2;
    while (prime % divisor !== 0) divisor++;
    // Exact: none of these roots is within 100 units in the last place of other 32 bits.
    if (divisor === prime)
      words[found++] = ((root === 2 ? Math.sqrt : Math.cbrt)(prime) % 1) * 2 ** 32;
  }
  return words;
}

let tables: { readonly start: Words; readonly rounds: Words } | undefined;

/** SHA-256 (FIPS 180-4), for pages that are not secure: those have no `crypto.subtle`. */
export function sha256(...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const { start, rounds } = (tables ??= {
    start: rootsOfPrimes(8, 2),
    rounds: rootsOfPrimes(64, 3),
  });
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  const padded = new Uint8Array(Math.ceil((length + 9) / 64) * 64);
  let at = 0;
  for (const part of parts) {
    padded.set(part, at);
    at += part.length;
  }
  padded[at] = 0x80;
  const view = new DataView(padded.buffer);
  view.setBigUint64(padded.length - 8, BigInt(length) * 8n);

  const state = start.slice();
  const schedule = new Int32Array(64);
  for (let block = 0; block < padded.length; block += 64) {
    for (let index = 0; index < 64; index++) {
      schedule[index] = index < 16 ? view.getInt32(block + index * 4) : expand(schedule, index);
    }
    compress(state, schedule, rounds);
  }
  const digest = new DataView(new ArrayBuffer(32));
  state.forEach((word, index) => digest.setInt32(index * 4, word));
  return new Uint8Array(digest.buffer);
}

/** HMAC (RFC 2104) with SHA-256, for keys of at most 64 bytes. */
export function hmac(key: Uint8Array, ...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const pad = (byte: number): Uint8Array =>
    Uint8Array.from({ length: 64 }, (_, index) => (key[index] ?? 0) ^ byte);
  return sha256(pad(0x5c), sha256(pad(0x36), ...parts));
}

const rotate = (word: number, by: number): number => (word >>> by) | (word << (32 - by));

// Every index is within its array: the zeros are for the compiler.
function expand(words: Words, index: number): number {
  const early = words[index - 15] ?? 0;
  const late = words[index - 2] ?? 0;
  const s0 = rotate(early, 7) ^ rotate(early, 18) ^ (early >>> 3);
  const s1 = rotate(late, 17) ^ rotate(late, 19) ^ (late >>> 10);
  return (words[index - 16] ?? 0) + s0 + (words[index - 7] ?? 0) + s1;
}

function compress(state: Words, schedule: Words, rounds: Words): void {
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state;
  for (let index = 0; index < 64; index++) {
    const s1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
    const choice = (e & f) ^ (~e & g);
    const t1 = (h + s1 + choice + (rounds[index] ?? 0) + (schedule[index] ?? 0)) | 0;
    const s0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
    const majority = (a & b) ^ (a & c) ^ (b & c);
    h = g;
    g = f;
    f = e;
    e = (d + t1) | 0;
    d = c;
    c = b;
    b = a;
    a = (t1 + s0 + majority) | 0;
  }
  [a, b, c, d, e, f, g, h].forEach((word, index) => {
    state[index] = (state[index] ?? 0) + word;
  });
}
