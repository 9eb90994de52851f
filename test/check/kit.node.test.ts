import { describe } from 'vitest';
import { defineIdempotency, profiles } from '../../src/core/idempotency/profiles.ts';
import { stores } from '../server/rig.ts';
import { lifetimeMs } from './faulty-server.ts';
import { testKit } from './kit.ts';

describe.each(stores)('our kit with %s', (_, createRig) => {
  testKit(createRig, { hasOwnClock: false, untried: ['no-key-each-runs'] });
});

describe.each(stores)('our kit with %s and bare keys', (_, createRig) => {
  testKit(createRig, {
    hasOwnClock: false,
    untried: [
      'no-key-each-runs',
      'key-unquoted',
      'key-not-string',
      'key-parameters',
      'key-escapes',
      'key-not-ascii',
      'key-space',
    ],
    options: { acceptRaw: true },
    settings: {
      profile: defineIdempotency({
        ...profiles.draft,
        format: 'raw',
        maxLength: 255,
        lifetimeMs,
      }),
    },
  });
});
