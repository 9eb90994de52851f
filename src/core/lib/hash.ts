/** 128 bits. */
export type Words = readonly number[];

const start: Words = [1_779_033_703, 3_144_134_277, 1_013_904_242, 2_773_480_762];

/**
 * 128 bits that tell texts or bytes apart. It is no cryptographic hash: it hides nothing, and is not made
 * against content that is chosen to collide. Every character or byte, and then eight more rounds, go
 * through all four words, and no step loses a bit (odd factors, and shifts that can be undone).
 *
 * @param before - The hash of what comes before this piece.
 */
export function hash128(content: string | Uint8Array, before: Words = start): Words {
  const isText = typeof content === 'string';
  let [a = 0, b = 0, c = 0, d = 0] = before;
  const mix = (word: number, factor: number): number => {
    const product = Math.imul(word, factor);
    return product ^ (product >>> 15);
  };
  for (let index = 0; index < content.length + 8; index++) {
    // After the end the code is NaN or undefined, which becomes 0.
    const code = (isText ? content.charCodeAt(index) : (content[index] as number)) | 0;
    a = b ^ mix(a ^ code, 597_399_067);
    b = c ^ mix(b ^ code, 2_869_860_233);
    c = d ^ mix(c ^ code, 951_274_213);
    d = a ^ mix(d ^ code, 2_716_044_179);
  }
  return [a, b, c, d];
}

/** As 32 hexadecimal digits. */
export const toHex = (words: Words): string =>
  words.map((word) => (word >>> 0).toString(16).padStart(8, '0')).join('');
