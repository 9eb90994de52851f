import { afterEach, describe, expect, test, vi } from 'vitest';
import {
  insertBodyText,
  readBodyText,
  removeBodyText,
} from '../../../src/core/idempotency/json-body.ts';

afterEach(() => void vi.unstubAllEnvs());

describe('a text is read from a JSON body', () => {
  test.each<[unknown, string, string | undefined]>([
    ['{"key":"k"}', 'key', 'k'],
    [' {"a":{"b":{"key":"k"}}}', 'a.b.key', 'k'],
    ['{"key":""}', 'key', undefined],
    ['{"key":7}', 'key', undefined],
    ['{"key":["k"]}', 'key.0', undefined],
    ['{"key":null}', 'key.length', undefined],
    ['{"key":"k"}', 'key.length', undefined],
    ['[{"key":"k"}]', '0.key', undefined],
    ['{', 'key', undefined],
    ['null', 'key', undefined],
    [null, 'key', undefined],
    [undefined, 'key', undefined],
    [new URLSearchParams({ key: 'k' }), 'key', undefined],
  ])('%s at %s: %s', (body, path, text) => {
    expect(readBodyText(body, path)).toBe(text);
  });
});

describe('a text is inserted, and every other byte stays', () => {
  test.each<[string, string, string]>([
    ['{}', 'a.b.c', '{"a":{"b":{"c":"k"}}}'],
    ['{"a":{}}', 'a.b.c', '{"a":{"b":{"c":"k"}}}'],
    ['{"a":{"b":{}}}', 'a.b.c', '{"a":{"b":{"c":"k"}}}'],
    ['{"b":{"c":{}},"a":{"b":{"x":1}}}', 'a.b.c', '{"b":{"c":{}},"a":{"b":{"c":"k","x":1}}}'],
    ['{"a":[{"b":{}}],"x":{"a":{}}}', 'x.a.b', '{"a":[{"b":{}}],"x":{"a":{"b":"k"}}}'],
    // The last of two members with one name counts.
    ['{"a":1,"a":{}}', 'a.b', '{"a":1,"a":{"b":"k"}}'],
    ['{"a":"x","a":{}}', 'a.b', '{"a":"x","a":{"b":"k"}}'],
    ['{"a":["x"],"a":{}}', 'a.b', '{"a":["x"],"a":{"b":"k"}}'],
  ])('%s at %s: %s', (body, path, text) => {
    expect(insertBodyText(body, path, 'k')).toBe(text);
  });

  test.each<[string, string]>([
    ['{"key":{}}', 'key'],
    ['{"key":[]}', 'key'],
    ['{"a":[]}', 'a.key'],
    ['{"a":{"key":null}}', 'a.key'],
    ['[]', 'key'],
    ['"text"', 'key'],
  ])('%s has no place for it at %s', (body, path) => {
    const message =
      `steady.fetch: body must be a JSON object given as text, because this API takes its idempotency key in its field ` +
      `${path}, and a key that is there must be text.`;
    expect(() => insertBodyText(body, path, 'k')).toThrow(new TypeError(message));
    vi.stubEnv('NODE_ENV', 'production');
    expect(() => insertBodyText(body, path, 'k')).toThrow(
      new TypeError('steady.fetch: body must be a JSON object given as text.'),
    );
  });
});

describe('a text is removed with its comma, and every other byte stays', () => {
  test.each<[string, string, string]>([
    ['{"t":"x"}', 't', '{}'],
    ['{ "t" : "x" }', 't', '{  }'],
    ['{"t":"x"  ,  "b":[1,2]}', 't', '{"b":[1,2]}'],
    ['{"b":[1,2]  ,  "t":"x"}', 't', '{"b":[1,2]}'],
    ['{"a":1,"t":"x","b":2}', 't', '{"a":1,"b":2}'],
    ['{"a":1,"o":{"t":"x"},"b":2}', 'o.t', '{"a":1,"o":{},"b":2}'],
    ['{"a":1,"o":{"z":1,"t":"x"},"b":2}', 'o.t', '{"a":1,"o":{"z":1},"b":2}'],
    ['{"a":1,"o":{"z":1,"t":"x" },"b":2}', 'o.t', '{"a":1,"o":{"z":1 },"b":2}'],
    ['{"o":{"p":{"t":"x"},"t":"y"},"t":"z"}', 'o.t', '{"o":{"p":{"t":"x"}},"t":"z"}'],
    ['{"a":"t","t":"\\"},{"}', 't', '{"a":"t"}'],
  ])('%s at %s: %s', (body, path, text) => {
    expect(removeBodyText(body, path)).toBe(text);
  });
});
