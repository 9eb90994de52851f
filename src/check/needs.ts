import { typeOfBody } from './body.ts';
import type { Need } from './requirements/requirement.ts';
import type { Settings, Trigger } from './settings.ts';

interface Needed {
  readonly isGiven: (settings: Settings) => boolean;
  /** The option that gives it. */
  readonly option: string;
}

const trigger = (name: Trigger, what: string): Needed => ({
  isGiven: (settings) => settings.triggers[name] !== undefined,
  option: `--trigger ${name}="X-Test: ${name}" (a header or body that makes the handler ${what})`,
});

/** The option for each thing that requirements need beyond an address and a body. */
export const needs: Readonly<Record<Need, Needed>> = {
  'second-user': {
    isGiven: ({ secondUser }) => secondUser !== undefined,
    option: '--second-user "Authorization: …"',
  },
  renewed: {
    isGiven: ({ renewed }) => renewed !== undefined,
    option: '--renewed "Authorization: …" (a newer token of the same user)',
  },
  'other-url': { isGiven: ({ otherUrl }) => otherUrl !== undefined, option: '--other-url URL' },
  'other-method': {
    isGiven: ({ otherMethod }) => otherMethod !== undefined,
    option: '--other-method METHOD',
  },
  origin: {
    isGiven: ({ origin }) => origin !== undefined,
    option: '--origin https://app.example (the origin of your app in the browser)',
  },
  credentials: { isGiven: ({ hasCredentials }) => hasCredentials, option: '--credentials' },
  lifetime: {
    isGiven: ({ declared, hooks, canWait }) =>
      (declared.profile.lifetimeMs ?? Infinity) < Infinity &&
      (canWait || hooks.advanceClock !== undefined),
    option: '--lifetime 24h with --wait, or a --module with advanceClock',
  },
  count: {
    isGiven: ({ hooks }) => hooks.countEffects !== undefined,
    option: '--count-url URL, or a --module with countEffects',
  },
  restart: {
    isGiven: ({ hooks }) => hooks.restart !== undefined,
    option: 'a --module with restart',
  },
  json: {
    isGiven: ({ headers }) => typeOfBody(headers['content-type'] ?? '') === 'json',
    option: 'a JSON body',
  },
  refuse: trigger('refuse', 'answer 4xx'),
  fail: trigger('fail', 'answer 5xx'),
  failLate: trigger('failLate', 'answer 5xx after its effect'),
  slow: trigger('slow', 'take half a second'),
  crash: trigger('crash', 'die'),
};
