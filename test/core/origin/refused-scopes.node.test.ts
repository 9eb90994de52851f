import { describe, expect, test } from 'vitest';
import { RefusedTogether } from '../../../src/core/origin/limits/rate-limits.ts';

/** Refusals of what was sent at the same time. */
function openRefusals() {
  const refused = new RefusedTogether();
  return {
    refused,
    refuse: (scope: string, now: number, sentAt = now) => refused.refuse(scope, sentAt, now),
    answer(scope: string, times: number): void {
      for (let count = 0; count < times; count++) refused.accept(scope);
    },
  };
}

describe('scopes are refused together', () => {
  test.each<[string, (readonly [scope: string, at: number])[], string[]]>([
    [
      'from three within a second on',
      [
        ['a', 0],
        ['b', 500],
        ['c', 999],
      ],
      ['a', 'b', 'c'],
    ],
    [
      'not where the first was refused a second before',
      [
        ['a', 0],
        ['b', 500],
        ['c', 1000],
      ],
      [],
    ],
    [
      'not where they are two, however often',
      [
        ['a', 0],
        ['b', 0],
        ['a', 1],
        ['b', 2],
      ],
      [],
    ],
  ])('%s', (_what, refusals, expected) => {
    const { refuse } = openRefusals();
    expect(refusals.map(([scope, at]) => refuse(scope, at)).at(-1)).toEqual(expected);
  });

  test('not with one that was answered, or told a time, since', () => {
    const { refuse, refused } = openRefusals();
    for (const scope of ['a', 'b']) refuse(scope, 0);
    refused.accept('a');
    expect(refuse('c', 1)).toEqual([]);
    refused.forget('b');
    expect(refuse('d', 2)).toEqual([]);
    expect(refuse('e', 3)).toEqual(['c', 'd', 'e']);
  });
});

describe('a scope has a limit of its own', () => {
  /** It is refused twice after ten answers to others. */
  const beAlone = (...sentAt: readonly [first: number, second: number]) => {
    const opened = openRefusals();
    opened.refuse('a', 0);
    sentAt.forEach((at, index) => {
      opened.answer('other', 10);
      opened.refuse('a', 100 * (index + 1), at);
    });
    return opened;
  };

  test('where that was sent after the refusal before, or as it came', () => {
    const again = ({ refuse }: ReturnType<typeof openRefusals>) => refuse('a', 300, 250);
    expect(again(beAlone(0, 100))).toBeUndefined();
    expect(again(beAlone(-1, 100))).toEqual([]);
    expect(again(beAlone(0, 99))).toEqual([]);
  });

  test('and is not counted with others, though it goes on being refused', () => {
    const { refuse } = beAlone(0, 100);
    expect([refuse('b', 250), refuse('c', 250)]).toEqual([[], []]);
    expect(refuse('a', 260)).toBeUndefined();
    expect(refuse('d', 270)).toEqual(['b', 'c', 'd']);
  });

  test('until it is answered', () => {
    const { refuse, refused } = beAlone(0, 100);
    refused.accept('a');
    expect(refuse('a', 300)).toEqual([]);
  });
});

test.each([
  [59_999, 0],
  [60_000, -Infinity],
])(
  'a refusal is forgotten with the first one that comes a minute later: after %d ms',
  (at, from) => {
    const { refuse, refused } = openRefusals();
    refuse('a', 0);
    refuse('b', at);
    expect(refused.behindFrom('a')).toBe(from);
  },
);
