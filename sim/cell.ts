import { parseArgs } from 'node:util';
import { runAsProduction } from './engine/production.ts';
import { readFigures } from './figures/figures.ts';
import { defaultScenario, type OutageKind, type Scenario } from './model/scenario.ts';
import { policies, type PolicyName } from './policies/by-name.ts';
import { runCell } from './run/run-cell.ts';

// One cell, as a line of JSON: `node sim/cell.ts --policy steadfetch --kind hang --load 0.85`.
// Every property of a Scenario is an option; so are --policy, --config '<json>' and --outage.
const numbers = Object.keys(defaultScenario).filter((name) => name !== 'kind');
const { values } = parseArgs({
  options: Object.fromEntries(
    ['policy', 'config', 'kind', 'outage', ...numbers].map((name) => [name, { type: 'string' }]),
  ),
});
const given = (name: string): string | undefined => values[name];

const scenario = {
  ...defaultScenario,
  ...(given('kind') !== undefined && { kind: given('kind') as OutageKind }),
  ...(given('outage') !== undefined && { outageS: Number(given('outage')) }),
  ...Object.fromEntries(
    numbers.filter((name) => given(name) !== undefined).map((name) => [name, Number(given(name))]),
  ),
} as Scenario;
const policy = given('policy') ?? 'steadfetch';
const openTab = policies[policy as PolicyName];
if (!(policy in policies))
  throw new Error(`--policy must be one of ${Object.keys(policies).join(', ')}`);

runAsProduction();
const startMs = performance.now();
const record = await runCell(scenario, openTab, JSON.parse(given('config') ?? '{}'));
const tookMs = Math.round(performance.now() - startMs);
const figures = Object.entries(readFigures(scenario, record)).map(([name, value]) => [
  name,
  typeof value === 'number' ? Number(value.toFixed(4)) : value,
]);
console.log(JSON.stringify({ policy, ...Object.fromEntries(figures), tookMs }));
