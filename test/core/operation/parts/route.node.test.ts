import { expect, test, vi } from 'vitest';
import { type Destination, Route } from '../../../../src/core/operation/parts/route.ts';
import { failures } from '../../../../src/core/policy/outcome.ts';

const sent = {
  name: 'GET /prices',
  endpoint: 'GET /prices',
  resource: 'GET /prices',
  limitScope: 'GET /prices',
  method: 'GET',
  keyed: false,
  isNew: true,
  risk: 0 as const,
};

/** An admission that says of its origin what is given. */
const admissionThat = ({
  isBroken = false,
  isAlone = false,
  until = -Infinity,
  recoveredAt = -Infinity,
  isDown = false,
  isUnreadable = false,
}) =>
  ({
    outcomes: { recoveredAt, unreadable: { has: () => isUnreadable } },
    origin: {
      health: {
        isDown: () => isDown,
        isBroken: () => isBroken,
        isUrlBroken: () => false,
        isAlone: () => isAlone,
        downFor: () => (isDown ? {} : undefined),
      },
      limits: { until: () => until },
    },
  }) as unknown as Destination['admission'];

const timeout = { kind: 'timeout', phase: 'headers', processed: 'unknown' } as const;

test('what has sent nothing is nowhere', () => {
  const route = new Route(undefined);
  expect([route.at, route.down()]).toEqual([undefined, undefined]);
  expect(route.fail(failures.network, 1000)).toEqual({});
});

test('a permit is for the target that it was given for, and goes back where that is not asked', () => {
  const [admission, elsewhere] = [admissionThat({}), admissionThat({})];
  const end = vi.fn<() => void>();
  const permit = { isProbe: true, isTrial: true, free() {}, end };
  const at = { ...sent, admission };
  const route = new Route(at);
  route.keep(permit, at);
  expect(route.goTo({ ...sent, admission: elsewhere })).toBeUndefined();
  expect(route.goTo({ ...at, endpoint: 'GET /stock' })).toBeUndefined();
  expect(route.goTo({ ...at, limitScope: 'GET /stock' })).toBeUndefined();
  expect(route.goTo(at)).toBe(permit);
  expect(route.goTo(at)).toBeUndefined();
  route.returnPermit();
  expect(end).not.toHaveBeenCalled();
  route.keep(permit, at);
  route.returnPermit();
  route.returnPermit();
  expect(end.mock.calls).toEqual([[undefined, undefined, true]]);
});

test('a probe that fails is a trial once, and finds out what its origin says', () => {
  const admission = admissionThat({ isDown: true, until: 1500.2, isAlone: true });
  const route = new Route({ ...sent, admission });
  route.recordTrial(900);
  const found = { isLate: false, isDown: true, limitedMs: 501, isUnpaused: false };
  expect(route.fail(failures.network, 1000)).toEqual({ isTrial: true, isAlone: false, ...found });
  expect(route.fail(failures.network, 1000)).toEqual({ isTrial: false, isAlone: true, ...found });
  expect(route.down()).toEqual({ ...sent, admission });
});

test.each([true, false])(
  'nothing is paused where the answers may not be read: %s',
  (isUnreadable) => {
    const route = new Route({ ...sent, admission: admissionThat({ isUnreadable }) });
    expect(route.fail(failures.network, 1000).isUnpaused).toBe(isUnreadable);
  },
);

test('a probe that is slow where the rest of its origin answers is no trial', () => {
  const route = new Route({ ...sent, admission: admissionThat({ isBroken: true }) });
  route.recordTrial(900);
  expect(route.fail(timeout, 1000).isTrial).toBe(false);
  route.recordTrial(900);
  expect(route.fail(failures.network, 1000).isTrial).toBe(true);
});

test('an origin that has answered others since the probe was sent is back', () => {
  const route = new Route({ ...sent, admission: admissionThat({ recoveredAt: 900 }) });
  route.recordTrial(900);
  expect(route.fail(timeout, 1000).isLate).toBe(true);
  route.recordTrial(901);
  expect(route.fail(timeout, 1000).isLate).toBe(false);
});
