/** What the page with the figures begins with. */
export const introduction = `# Storms: the figures

Made by \`npm run storms\`; the pages are written by it, so change what makes them.

Many tabs ask one server (Poisson): 1,000 tabs that ask 0.2 times a second each, 2,000 at 0.05, 2,500 at 0.01, or fresh pages that ask for 100 things a second in all, 6 at once, and whose users leave after 20 s on average. So the busy tabs ask for 200 things a second in all, and the others for 100 or 25, of a server that is so much smaller: ten seeds of four times as many would take hours. The fewer requests there are in a second, the stricter is *new ones end well from*. The server works first come, first served, at the given load; up to 4 s of work wait, beyond that it answers 503 at once. It fails for 30 s, and comes back. Clients give up on an attempt after 10 s, which is Steadfetch's default; the section *Stress* has 2 s, where much of the work that waits is done in vain, and a little too much asked is a collapse. The code is the real one: Steadfetch, React Query, ky, axios-retry, cockatiel and p-retry from their packages, the others as a schedule; time and chance are simulated. The figures of Steadfetch are medians over so many runs as the column says, with different seeds; those of the others are of one run. Requests that are refused (503) and connections that break are the same to it, to the last digit, which a test holds: one run stands for both. What the fleet costs the user, and the other way round: [trades](trades.md).

- **requests ÷ needed**: what arrived at the server, divided by what users asked for.
- **new ones end well from**: the second after recovery from which on, in every second, 99 % of what is asked ends well; **within 1 s from**: 99 % are answered within 1 s.
- **asked in the outage, end well**: of those who stayed; and **the bound**: what any policy could bring to a good end with the capacity that new requests leave, if nobody waits longer than 60 s.
- **never**: the server has not come back at the end of the run, 60 s after the outage (110 s at load 0.85).
- **peak**: the most requests in 100 ms (1 s) after recovery, divided by what is usual.`;

/** What the page shows where it has run what the picture is made of. */
export const picture =
  '![Requests per 100 ms before, during and after an outage of 30 s, for each policy](outage.svg)';
