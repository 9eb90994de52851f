import { expect, test } from 'vitest';
import type { Network } from '../../../src/core/origin/origin.ts';
import { Origins } from '../../../src/core/origin/origins.ts';
import type { SharePorts } from '../../../src/core/tabs/ports.ts';
import { shareAcrossTabs } from '../../../src/core/tabs/share-across-tabs.ts';
import { openNetwork } from '../origin/open-network.ts';
import { createVirtualClock } from '../origin/virtual-clock.ts';

const down = {
  kind: 'http',
  status: 503,
  processed: 'no',
  retryAfterMs: undefined,
  inProgress: false,
} as const;
const ok = { kind: 'ok', status: 200, processed: 'yes' } as const;

/** A tab whose origins hear of an outage at one of them by `say`. */
function openTab(network: Network = openNetwork) {
  let receive: (word: unknown) => void = () => {};
  const ports: SharePorts = {
    open(_, hear) {
      receive = hear;
      return { post() {}, close() {} };
    },
    watch(listener) {
      listener('visible');
      return () => {};
    },
  };
  const clock = createVirtualClock();
  const origins = new Origins({
    clock,
    random: () => 0.5,
    network,
    origin: { tabs: shareAcrossTabs(ports) },
  });
  const word = { version: 2, from: 0.1, kind: 'down', scope: '', isProbed: false };
  return { clock, origins, say: (url: string) => receive({ ...word, key: `${url} ` }) };
}

/** A tab that asks 4,000 origins for something, one after the other, in `everyMs` each. */
function askMany(outcome: typeof down | typeof ok, everyMs: number) {
  let listening = 0;
  const network = {
    ...openNetwork,
    subscribe() {
      listening++;
      return () => void listening--;
    },
  };
  const { clock, origins, say } = openTab(network);
  const urls = Array.from({ length: 4000 }, (_, index) => `https://${index}.example`);
  for (const url of urls) {
    const admission = origins.admissionOf(`${url}/a`);
    const target = {
      endpoint: 'GET /a',
      resource: 'GET /a',
      limitScope: 'GET /a',
      isNew: true,
      risk: 0,
    } as const;
    for (let times = 0; times < 2; times++) {
      admission.enter(target)?.end(outcome);
    }
    clock.advance(everyMs);
  }
  const heard = new Set<string>();
  origins.outages.add((key) => void heard.add(key));
  for (const url of urls) say(url);
  return { known: origins.known().length, listening, heard: heard.size };
}

test('of 4,000 origins that a tab has seen, other tabs reach the last fifty, and no others are kept', () => {
  expect(askMany(ok, 1)).toEqual({ known: 50, listening: 50, heard: 50 });
});

test('so it is of origins that were down when they were asked last, a minute later', () => {
  expect(askMany(down, 2000)).toEqual({ known: 50, listening: 50, heard: 50 });
});

test('an origin that comes back after it was forgotten hears the other tabs again', () => {
  const { origins, say } = openTab();
  origins.admissionOf('https://a.example');
  for (let index = 0; index < 60; index++) origins.admissionOf(`https://${index}.example`);
  const again = origins.admissionOf('https://a.example');
  say('https://a.example');
  expect(again.origin.health.isDown('GET /a')).toBe(true);
});
