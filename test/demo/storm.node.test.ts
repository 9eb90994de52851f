import { describe, expect, test } from 'vitest';
import {
  describeConditions,
  describeMoment,
  describePrice,
} from '../../demo/src/storm/describe.ts';
import { firstStorm } from '../../demo/src/storm/first-storm.ts';
import { formatShare } from '../../demo/src/storm/format.ts';
import { band, ceilNicely, namePlace, type Plot, stepArea } from '../../demo/src/storm/geometry.ts';
import { parseHash } from '../../demo/src/shell.tsx';
import { countsAt, type Run, spanOf, type Storm } from '../../demo/src/storm/storm.ts';

const span = { fromS: 0, outageS: 1, recoveryS: 3, toS: 4 };
const plot: Plot = { width: 100, height: 50, span, max: 10 };

test('the home is where no hash, or an empty one, leads', () => {
  expect(
    ['', '#', '#/', '#/read', '#checkout', '#404'].map((hash) => parseHash(hash).name === 'storm'),
  ).toEqual([true, true, true, false, false, false]);
});

describe('in words', () => {
  test.each([
    [20, '1,000 open tabs, each asks for something every 5 s. The server keeps up.'],
    [32, 'The server goes down. Every tab that gets no answer asks again.'],
    [
      50,
      'React Query: 14,087 requests, and 2,658 errors shown. Steadfetch: 8,105 requests, and 0 errors.',
    ],
    [
      70,
      'The server is back. React Query: 24% answered, 76% an error. Steadfetch: 36% answered, 64% waiting.',
    ],
    [
      140,
      'React Query: 21,971 requests while the server was down, 24% of what people asked for answered. Steadfetch: 9,477 requests, 100% answered.',
    ],
  ])('at %i s of the first storm', (atS, words) => {
    expect(describeMoment(firstStorm, atS)).toBe(words);
  });

  test('the price is named where the rival is fast again sooner', () => {
    expect(describePrice(firstStorm)).toBe(
      'The price: Steadfetch leaves the server more people to answer. It is fast for everybody again 62 s after the outage, with React Query 15 s after the outage.',
    );
  });

  test.each([
    [3, 3, 'With both, the server is fast for everybody again 3 s after the outage.'],
    [null, null, 'With neither is the server fast for everybody again in the time shown.'],
    [
      null,
      9,
      'With Steadfetch the server is fast for everybody again 9 s after the outage, with React Query not in the time shown.',
    ],
  ])('with a rival fast again after %s s and Steadfetch after %s s', (theirs, ours, words) => {
    const withPrompt = (run: Run, promptFromS: number | null): Run => ({
      ...run,
      figures: run.figures && { ...run.figures, promptFromS },
    });
    const [rival, own] = firstStorm.runs;
    const storm: Storm = {
      ...firstStorm,
      runs: [withPrompt(rival, theirs), withPrompt(own, ours)],
    };
    expect(describePrice(storm)).toBe(words);
  });

  test('the conditions are those of the scenario', () => {
    expect(describeConditions(firstStorm)).toBe(
      '1,000 open tabs, each asks for something every 5 s. 30 s of a server that answers 503, which has 30% of its capacity to spare when all is well. Each attempt may take 10 s. Both libraries run as they are, on a simulated clock; seed 1.',
    );
    const { scenario } = firstStorm;
    const loads = { ...scenario, pageSize: 6, leaveS: 20, kind: 'hang' as const };
    expect(describeConditions({ ...firstStorm, scenario: loads })).toBe(
      '33.33 people a second open a page that asks for 6 things, and wait 20 s on average. 30 s of a server that does not answer, which has 30% of its capacity to spare when all is well. Each attempt may take 10 s. Both libraries run as they are, on a simulated clock; seed 1.',
    );
  });
});

describe('the counters', () => {
  const first = spanOf(firstStorm.scenario);
  const [reactQuery, steadfetch] = firstStorm.runs;

  test('count up while the storm passes, and in the end say what the figures say', () => {
    for (const run of [reactQuery, steadfetch]) {
      const end = countsAt(run, first, first.toS);
      expect(end.sent).toBe(run.figures?.outageRequests);
      expect(end.answered / end.asked).toBe(run.figures?.askedInOutageOk);
      expect(end.promptAfterS).toBe(run.figures?.promptFromS);
    }
    expect(countsAt(steadfetch, first, first.outageS + 5)).toEqual({
      sent: 2699,
      asked: 1022,
      answered: 0,
      waiting: 1022,
      failed: 0,
      left: 0,
      promptAfterS: undefined,
    });
  });

  test('say that a server is fast again when it is, and not before', () => {
    const after = (seconds: number) =>
      countsAt(reactQuery, first, first.recoveryS + seconds).promptAfterS;
    expect([14.9, 15, 80].map(after)).toEqual([undefined, 15, 15]);
  });

  test('know nothing of a run that has not begun', () => {
    expect(countsAt({ policy: 'ky', seconds: [] }, first, first.toS)).toEqual({
      sent: 0,
      asked: 0,
      answered: 0,
      waiting: 0,
      failed: 0,
      left: 0,
      promptAfterS: undefined,
    });
  });

  test('only nobody is 0 %, and only everybody 100 %', () => {
    expect([
      formatShare(0, 9),
      formatShare(1, 900),
      formatShare(1, 4),
      formatShare(899, 900),
      formatShare(9, 9),
      formatShare(0, 0),
    ]).toEqual(['0%', 'under 1%', '25%', 'over 99%', '100%', '–']);
  });
});

describe('the shapes', () => {
  test('a second is a step as wide as all others', () => {
    expect(stepArea([10, 5, 0, 20], plot)).toBe('M0 50V0H25V25H50V50H75V0H100V50Z');
  });

  test('a second that has not been run is not drawn', () => {
    expect(stepArea([10], plot)).toBe('M0 50V0H25V50Z');
  });

  test('a band begins with the outage, on the ground', () => {
    expect(band([0, 0, 0, 5], [0, 2, 4, 10], plot)).toBe(
      'M25 50L50 40L75 30L100 0L100 25L75 50L50 50Z',
    );
  });

  test('a band is named where it is thick, and not at all where it is too thin for a name', () => {
    expect(namePlace([0, 0, 0, 0], [0, 2, 10, 10], plot)).toEqual({ atS: 4, x: 100, y: 25 });
    expect(namePlace([0, 0, 0, 0], [0, 2, 3, 3], plot)).toBeUndefined();
  });

  test('an axis ends at a round number that is not below its highest value', () => {
    expect([0, 7, 860, 1001].map(ceilNicely)).toEqual([1, 8, 1000, 1500]);
  });
});
