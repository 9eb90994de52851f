import { describe } from 'vitest';
import { testKit } from '../check/kit.ts';
import { sharedStores, startDrivers } from './shared-stores.ts';

// With clocks of their own: no test can set them forward.
const untried = ['no-key-each-runs', 'kept-for-lifetime', 'kept-though-replayed'];

describe.each(sharedStores(startDrivers()))('our kit with %s', (_, createRig) => {
  testKit(createRig, { hasOwnClock: true, untried });
});
