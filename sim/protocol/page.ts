/** What stands before the figures. */
export const introduction = `# Exactly once: the protocol, explored whole

"Exactly once is impossible" is true of delivery: a message may always be lost, and an answer, too. What Steadfetch claims is less: an order *takes effect* once, because it is sent until it is answered, always with one key, and the server does once what has one key. Whether that holds in each order of events, with crashes at each step, is not seen by tests. So the protocol is written down as a model, and a machine looks at all that can happen in it:

\`\`\`sh
apt-get install spin gcc
npm run model
\`\`\`

[SPIN](https://spinroot.com) explores each model, in \`sim/protocol\`: \`form.pml\` (a form, its tab, reloads and copies of the tab), \`outbox.pml\` (two tabs and a service worker that deliver what is on the disk, for Ann and then, after a log-out, for Ben) and \`server.pml\` (the network and a server with keys, leases and fencing). The network loses, delays, reorders and doubles requests, and loses answers. A tab may crash before each of its steps, and be taken for dead while it lives. A handler may crash, fail, refuse, or outlive its lease. A gateway may refuse before the handler sees anything.

## What is never violated

1. No order takes effect twice.
2. What the user was told to have failed has no effect, now or later.
3. What the user was told to be done has its effect.
4. Nothing of one user goes with the credentials of another.
5. Within a scope, the entries take effect in their order.
6. Once all is well, all that was saved or pressed ends: as done, failed, or unknown (which is said).`;

/** What stands behind them. */
export const closing = `*Searched: all* is each state that can be reached; *a sample* (bitstate hashing) is as many as fit into 128 MB of bits. The models know the protocol and not the code: that the code does what the models do is the claim of the tests of \`test/outbox\`, \`test/core/form\` and \`test/server\`, and of [the proof on a lossy network](figures.md).

## What is assumed, and what happens outside of it

| assumption | outside of it |
| --- | --- |
| The API keeps a key for as long as its profile says (\`lifetimeMs\`). | An order may be done twice: [the picture](#the-server-forgets-keys-earlier-than-declared). |
| The API honours keys: effect and answer are kept together, for as long as the lease is the handler's. | Twice, or told wrong: the last three pictures. \`steadfetch/server\` does so. |
| No request is on its way for longer than its key is kept. | A request that comes later is done a second time. |
| The storage of the tab, or of the outbox, is not emptied by others. | The next press is a new order. For the outbox, \`wasErased\` says so where the browser does. |
| A proxy that sends a request twice passes both on, or neither. | Where a gateway refuses one copy and passes the other on, the user is told *failed*, and it is done. |
| A tab is not copied while its form is sending. | [The picture](#a-tab-is-copied-while-it-sends): the copy may have its order done after the first has told a failure. |
| Between the note of an entry and its request a page does not sleep: they are one task. | [The picture](#a-page-may-sleep-between-the-note-and-the-request). |
| At a log-out, \`outbox.clear()\` is awaited before somebody else signs in. | [The picture](#the-entries-stay-at-a-log-out-and-another-tab-still-sends). |

## Each part is needed

Each of these protocols lacks one thing. The machine finds the shortest way to a violation; that is the picture. Read it from the top.`;
