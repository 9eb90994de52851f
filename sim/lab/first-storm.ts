import type { Figures } from '../figures/figures.ts';
import { defaultScenario } from '../model/scenario.ts';
import { type LabStorm, runLabStorm, type StormSecond } from './lab-storm.ts';

/** A storm with a column for each figure of its seconds: a third of the text. */
export interface StoredStorm {
  readonly seconds: { readonly [Name in keyof StormSecond]: readonly number[] };
  readonly figures: Figures;
}

/** What `demo/src/storm/first-storm.json` holds. */
export type FirstStorm = Record<'react-query' | 'steadfetch', StoredStorm>;

/** The storm that the demo begins with: the one that everything is compared in, with its first seed. */
export async function runFirstStorm(): Promise<FirstStorm> {
  return {
    'react-query': store(await runLabStorm('react-query', defaultScenario)),
    steadfetch: store(await runLabStorm('steadfetch', defaultScenario)),
  };
}

const names = ['sent', 'asked', 'answered', 'failed', 'left'] as const;

function store({ seconds, figures }: LabStorm): StoredStorm {
  const column = (name: keyof StormSecond): number[] => seconds.map((second) => second[name]);
  return {
    seconds: Object.fromEntries(names.map((name) => [name, column(name)])) as never,
    figures,
  };
}
