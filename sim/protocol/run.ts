import { mkdirSync, writeFileSync } from 'node:fs';
import { table } from '../report/table.ts';
import { drawSteps } from './chart.ts';
import { type Found, requireSpin, search } from './spin.ts';
import { type Search, searches, type Troubles, type Variant, variants } from './variants.ts';

const pages = new URL('../../docs/exactly-once/', import.meta.url);
const pictures = new URL('../../docs/img/model/', import.meta.url);
const isQuick = process.argv.includes('--quick');

/** What an assertion of the models means. */
const rules: readonly (readonly [RegExp, string])[] = [
  [/effects\[.*\]==1\)?$/, 'An order is done twice.'],
  [/told\[handlers.*!=3/, 'An order is done that was told as failed.'],
  [/3!=3.*effects.*==0/, 'An order is told as failed that is done.'],
  [/4!=4.*effects.*==1/, 'An order is told as done that is not.'],
  [/order!=0.*effects\[1\]/, 'Order B is done before order A.'],
  [/signed_in/, 'An order of Ann is sent with the credentials of Ben.'],
  [/assertion violated 0/, 'An order that was told as saved is gone.'],
  [/acceptance cycle/, 'An order waits for ever.'],
];

const faultOf = (rule: string): string =>
  rules.find(([pattern]) => pattern.test(rule))?.[1] ?? rule;

const count = (value: number): string => Math.round(value).toLocaleString('en-US');

const shownTroubles = (troubles: Troubles): string =>
  Object.entries(troubles)
    .map(([name, value]) => `${name.toLowerCase().replace(/_/g, ' ')} ${value}`)
    .join(', ') || 'none';

requireSpin();
let faults = 0;

const found = searches
  .filter(({ kind }) => !isQuick || kind === 'live')
  .map(({ model, title, kind, troubles }): readonly [Search, Found] => {
    const result = search(model, kind, troubles, []);
    if (result.fault || (kind !== 'bits' && !result.isWhole)) faults++;
    console.log(
      `${result.fault ? `broken: ${result.fault.rule}` : 'holds'}: ${model}, ${title}: ` +
        `${count(result.states)} states, ${result.seconds.toFixed(0)} s`,
    );
    return [{ model, title, kind, troubles }, result];
  });

mkdirSync(pictures, { recursive: true });
const sections = variants.map((variant) => {
  const { model, name, troubles, isLive } = variant;
  const { fault } = search(model, isLive ? 'live' : 'shortest', troubles, [name]);
  if (!fault) faults++;
  console.log(`${fault ? faultOf(fault.rule) : 'NOT BROKEN'} ${model}, ${name}`);
  return fault ? draw(variant, fault) : '';
});

function draw({ model, name, title }: Variant, fault: NonNullable<Found['fault']>): string {
  const file = `${model}-${name.toLowerCase().replace(/_/g, '-')}.svg`;
  const end = faultOf(fault.rule);
  if (!isQuick) writeFileSync(new URL(file, pictures), drawSteps(title, end, fault.steps));
  const told = fault.steps.map(({ text }) => text).join('; ');
  return `### ${title}\n\n![${title}: ${told}. ${end}](../img/model/${file})`;
}

if (!isQuick) {
  const rows = found.map(([{ title, kind, troubles }, result]) => [
    title,
    shownTroubles(troubles),
    kind === 'bits' ? 'a sample' : 'all',
    count(result.states),
    count(result.transitions),
    `${result.seconds.toFixed(0)} s`,
    result.fault ? faultOf(result.fault.rule) : '0',
  ]);
  const head = [
    'what is searched',
    'troubles, each at most so often',
    'searched',
    'states',
    'steps',
    'time',
    'violations',
  ];
  const { introduction, closing } = await import('./page.ts');
  const page = [introduction, table(head, rows), closing, ...sections].join('\n\n');
  writeFileSync(new URL('model.md', pages), `${page}\n`);
}
if (faults > 0) process.exitCode = 1;
