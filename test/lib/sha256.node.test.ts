import { createHash, createHmac } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hmac, sha256 } from '../../src/lib/sha256.ts';

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const text = (value: string): Uint8Array => new Uint8Array(Buffer.from(value));

test.each([
  ['', 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
  ['abc', 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
  [
    'abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq',
    '248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1',
  ],
  ['a'.repeat(1_000_000), 'cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0'],
])('the digest of an example of FIPS 180-4 is what it says (%#)', (message, digest) => {
  expect(hex(sha256(text(message)))).toBe(digest);
});

test('the code of example 1 of RFC 4231 is what it says', () => {
  expect(hex(hmac(new Uint8Array(20).fill(0x0b), text('Hi There')))).toBe(
    'b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7',
  );
});

test('every digest is that of another implementation, however its message is cut', () => {
  const bytes = fc.uint8Array({ maxLength: 300 });
  fc.assert(
    fc.property(bytes, bytes, (one, other) => {
      expect(hex(sha256(one, other))).toBe(
        createHash('sha256').update(one).update(other).digest('hex'),
      );
    }),
  );
});

test('every code is that of another implementation', () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 64 }),
      fc.uint8Array({ maxLength: 200 }),
      (key, message) => {
        expect(hex(hmac(key, message))).toBe(
          createHmac('sha256', key).update(message).digest('hex'),
        );
      },
    ),
  );
});
