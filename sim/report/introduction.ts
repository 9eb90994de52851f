/** What the page with the figures begins with. */
export const introduction = `# Storms: the figures

Made by \`npm run storms\`; the pages are written by it, so change what makes them.

Many tabs ask one server (1,000 tabs, 0.2 requests a second each, Poisson). It works first come, first served, at the given load; up to 4 s of work wait, beyond that it answers 503 at once. Every client gives up on an attempt after 2 s, and the server does the work all the same. The server fails for a while, and comes back. The code is the real one: Steadfetch, React Query, ky, axios-retry, cockatiel and p-retry from their packages, the others as a schedule; time and chance are simulated. The figures of Steadfetch are medians of 3 or 5 runs with different seeds, but for what takes long to run (the column *runs* says how many; [outages of 120 s](long-outages.md) have medians of 5 on a page of their own). Refused requests (503) and connections that break are the same to it: with the same seeds the figures are equal to the last digit, which a test holds (test/sim/storms.node.test.ts), and one run stands for both.

- **requests ÷ needed**: what arrived at the server, divided by what users asked for.
- **new ones end well from**: the second after recovery from which on, in every second, 99 % of what is asked ends well; **within 1 s from**: 99 % are answered within 1 s.
- **asked in the outage, end well**, and **the bound**: what any policy could bring to a good end with the capacity that new requests leave, if it holds for 60 s.
- **peak**: the most requests in 100 ms (1 s) after recovery, divided by what is usual.

![Requests per 100 ms before, during and after an outage of 30 s, for each policy](outage.svg)`;

/** What the page with the long outages begins with. */
export const longIntroduction = `# Storms: outages of 120 s

Made by \`npm run storms -- --long\`: the cells of which the [figures](figures.md) have one run each, as medians of 5 runs with different seeds.`;
