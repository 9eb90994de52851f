import type { Figures } from './compare.ts';
import { sharesPercent } from './disturbance.ts';
import type { ProofOptions } from './run-proof.ts';

const disturbances: Readonly<Record<keyof typeof sharesPercent, string>> = {
  'commit-reset': 'booked, then the connection is reset before the answer',
  '503': 'a gateway answers 503, and nothing is booked',
  'commit-503': 'booked, then a gateway answers 503',
  'commit-hang': 'booked, and no answer ever comes',
  hang: 'nothing is booked, and no answer ever comes',
  late: 'booked after up to 20 s, whether or not the client still waits',
  twice: 'a proxy delivers it twice at once, and passes on one of the two answers',
};

const number = (value: number): string => value.toLocaleString('en');

function row(name: string, figures: Figures): string {
  const { orders, toldSuccess, duplicated, failedButDone, failedNotDone } = figures;
  const percent = `${((100 * toldSuccess) / orders).toFixed(2)} %`;
  const cells = [
    percent,
    number(duplicated),
    number(failedButDone),
    number(figures.unknownDone),
    number(figures.unknownNotDone),
    number(failedNotDone),
    number(figures.successNotDone),
    (figures.arrivals / orders).toFixed(2),
  ];
  return `| ${name} | ${cells.join(' | ')} |`;
}

/** The page of figures. */
export function writeReport(
  results: readonly (readonly [name: string, figures: Figures])[],
  { orders, tabs, speed, seed }: ProofOptions,
): string {
  const total = Object.values(sharesPercent).reduce((sum, share) => sum + share, 0);
  return `# Exactly once: the figures

${number(orders)} orders are submitted over a network that disturbs ${total} % of the attempts, and what each user was told is compared with the ledger. Made by

\`\`\`sh
npm run proof
\`\`\`

The server is a separate process on loopback, with a SQLite ledger behind \`idempotent\` of \`steadfetch/server\`: an order that is sent with one key is never booked twice. What happens to an attempt depends on the seed (${seed}), the order and the number of the attempt, so it is the same for all contenders:

| of the attempts | what happens |
| ---: | --- |
${Object.entries(sharesPercent)
  .map(([kind, share]) => `| ${share} % | ${disturbances[kind as keyof typeof disturbances]} |`)
  .join('\n')}

${tabs} tabs submit at the same time, each one order after the other. All waits are ${speed} times shorter than in reality, time limits and delays alike: 10 s for an attempt are ${10_000 / speed} ms. The figures change a little from run to run, because the sockets and the machine are real.

Every contender sends a key, because the server requires one, has 10 s for an attempt, and retries POST three times (plain fetch: never), after its own delays. The key is created where many apps create it; further below, where it should be created. Steadfetch is \`preset: 'critical'\`, and has a third outcome: *unknown*. The others only report a failure.

| contender | told success | booked more than once | told failed, and booked | told unknown, and booked | told unknown, and not booked | told failed, and not booked | told success, and not booked | requests per order |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
${results.map(([name, figures]) => row(name, figures)).join('\n')}
`;
}
