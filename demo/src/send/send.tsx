import { onlineManager, type QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { useEffect, useId, useRef, useState, useSyncExternalStore } from 'react';
import { useOutbox, useOutboxEntries } from 'steadfetch/react';
import { idempotent } from 'steadfetch/server';
import { OutboxBadge } from 'steadfetch/ui';
import { Act } from '../act/act.tsx';
import { PlugButton, troubleNow, TroubleSwitch, troubleOf } from '../act/controls.tsx';
import { Ledger } from '../act/ledger.tsx';
import { recordEntries, watchOutbox } from '../act/outbox-recorder.ts';
import type { Lane } from '../act/recording.ts';
import { createRecorder, watchAlone } from '../act/recorder.ts';
import { createSession, useRun } from '../act/session.ts';
import { countOf, type Verdict } from '../act/verdict.tsx';
import { type Books, booksStore, emptyBooks, settle } from '../api/books.ts';
import { createBrowserState, createTabState } from '../api/kept-state.ts';
import { createServer, type Side, sides, urlOf } from '../api/server.ts';
import { serve } from '../api/serving.ts';
import type { Trouble } from '../api/troubles.ts';
import * as alone from './alone.tsx';
import aloneSource from './alone.tsx?raw';
import type { Note, Receipt } from './note.tsx';
import steadySource from './steady.tsx?raw';
import { troubles } from './troubles.ts';
import './send.css';

type Words = Pick<Note, 'words'>;
const isSame = (one: Words, other: Words): boolean => one.words === other.words;

// For all tabs, as the outbox is.
const deskOf = (side: Side) =>
  createBrowserState<Books<Words>>(`steadfetch.send.${side}`, emptyBooks);
const desks = { alone: deskOf('alone'), steady: deskOf('steady') };

function serverOf(side: Side) {
  const desk = desks[side];
  const take = idempotent(
    async (request, { tx }) => {
      const { words } = (await request.json()) as Words;
      if (troubleNow(troubles).isStrict && !/\d/.test(words)) {
        return Response.json({ title: 'A note needs a number.' }, { status: 422 });
      }
      const receipt: Receipt = { number: tx.book({ words }) };
      return Response.json(receipt, { status: 201 });
    },
    { store: booksStore(desk, isSame) },
  );
  return createServer({
    side,
    path: 'notes',
    method: 'post',
    desk,
    answer: take,
    async onArrived(response) {
      const { number = 0 } = (await response.json()) as Partial<Receipt>;
      desk.update((state) => settle(state, number, isSame));
    },
  });
}

const servers = { alone: serverOf('alone'), steady: serverOf('steady') };
const recorder = createRecorder('send');
watchAlone(recorder, alone.queryClient, servers.alone);
watchOutbox(recorder, servers.steady);
const session = createSession({ desks, servers, recorder, empty: emptyBooks, keepsRun: true });
const draft = createTabState<Words>('steadfetch.send', { words: 'A steady pull at the pier.' });

// The outbox sends what an earlier page has left as soon as it is there: not before it is answered, nor before the plug is pulled.
await serve(servers.alone.route, servers.steady.route).started;
session.play(troubleNow(troubles));
const steady = await import('./steady.tsx');

const code = {
  alone: { file: 'note-form.tsx', source: aloneSource },
  steady: { file: 'note-form.tsx', source: steadySource },
};

/** Send it: notes that are written offline, and a page that is left. */
export default function SendAct({ place }: { readonly place: string | undefined }) {
  const trouble = troubleOf(troubles, place);
  const run = useRun(session, trouble);
  return (
    <QueryClientProvider client={steady.queryClient}>
      <Stage key={run} run={run ?? 0} trouble={trouble} />
    </QueryClientProvider>
  );
}

function Stage({ run, trouble }: { readonly run: number; readonly trouble: Trouble }) {
  const recording = useSyncExternalStore(recorder.subscribe, recorder.getState);
  const { words } = useSyncExternalStore(draft.subscribe, draft.getState);
  const isOnline = useSyncExternalStore(
    (listener) => onlineManager.subscribe(listener),
    () => onlineManager.isOnline(),
  );
  const books = {
    alone: useSyncExternalStore(desks.alone.subscribe, desks.alone.getState),
    steady: useSyncExternalStore(desks.steady.subscribe, desks.steady.getState),
  };
  const entries = useOutboxEntries({ handler: 'note' }, steady.outbox);
  const { clear } = useOutbox();
  useEffect(() => {
    if (entries) recordEntries(recorder, entries, isOnline);
  }, [entries, isOnline]);
  const panes = useRef<Partial<Record<Side, HTMLDivElement | null>>>({});
  const press = (): void => {
    for (const side of sides) panes.current[side]?.querySelector('form')?.requestSubmit();
  };
  // Otherwise a note that is sent meanwhile is forgotten with the run before.
  const [isClearing, setIsClearing] = useState(false);
  const startOver = async (): Promise<void> => {
    setIsClearing(true);
    await clear().finally(() => setIsClearing(false));
    session.startOver();
  };
  const pane = (side: Side, NoteForm: typeof alone.NoteForm, queryClient: QueryClient) => (
    <div
      ref={(element) => {
        panes.current[side] = element;
      }}
    >
      {run > 0 && (
        <QueryClientProvider client={queryClient}>
          <NoteForm note={{ words, url: urlOf(run, side, 'notes') }} />
        </QueryClientProvider>
      )}
      <Ledger
        books={desks[side]}
        title="Received by the shop"
        describe={({ words: text }) => `“${text}”`}
      />
    </div>
  );
  return (
    <Act
      controls={
        <>
          <TroubleSwitch act="send" troubles={troubles} chosen={trouble} />
          <div className="actions">
            <WordsField words={words} />
            <button
              type="button"
              className="button"
              data-primary
              disabled={isClearing}
              onClick={press}
            >
              Send on both sides
            </button>
            <button type="button" className="button" onClick={() => location.reload()}>
              Reload the page
            </button>
            {trouble.isOffline && <PlugButton />}
            <button type="button" className="button" onClick={() => void startOver()}>
              Start over
            </button>
            <OutboxBadge />
          </div>
        </>
      }
      verdicts={{
        alone: verdictOf(books.alone, recording.alone),
        steady: verdictOf(books.steady, recording.steady),
      }}
      conclusion={conclude(books, recording)}
      recorder={recorder}
      panes={{
        alone: pane('alone', alone.NoteForm, alone.queryClient),
        steady: pane('steady', steady.NoteForm, steady.queryClient),
      }}
      note={
        <p>
          <b>Kept on the disk:</b> over a reload, a crash, and a week offline; any open tab sends
          it. <b>Not kept:</b> what the browser deletes with the data of the site.
        </p>
      }
      code={code}
    />
  );
}

function WordsField({ words }: Words) {
  const id = useId();
  return (
    <>
      <label className="visually-hidden" htmlFor={id}>
        Note
      </label>
      <input
        id={id}
        className="field"
        value={words}
        maxLength={60}
        onChange={({ target }) => draft.update(() => ({ words: target.value }))}
      />
    </>
  );
}

/** Without those that were taken back. */
const countSent = (lanes: readonly Lane[]): number =>
  lanes.filter(({ end }) => end?.how !== 'cancelled').length;

function verdictOf({ booked, requests, keysSeen }: Books<Words>, lanes: readonly Lane[]): Verdict {
  const sent = countSent(lanes);
  const detail = `${countOf(requests, 'request')}, ${countOf(keysSeen.length, 'key')}`;
  if (sent === 0) return { text: 'Nothing sent yet', detail, tone: 'open' };
  const text = `${booked.length} of ${sent} arrived`;
  if (booked.length > sent)
    return { text: `${sent} sent, ${booked.length} arrived`, detail, tone: 'bad' };
  if (booked.length === sent) return { text, detail, tone: 'ok' };
  const isOver = lanes.every(({ end }) => end !== undefined);
  return { text, detail, tone: isOver ? 'bad' : 'open' };
}

function conclude(
  books: Readonly<Record<Side, Books<Words>>>,
  lanes: Readonly<Record<Side, readonly Lane[]>>,
): string {
  const isOver = sides.every(
    (side) => lanes[side].length > 0 && lanes[side].every(({ end }) => end),
  );
  if (!isOver) return '';
  const arrived = (side: Side): boolean => books[side].booked.length === countSent(lanes[side]);
  if (books.alone.booked.some(({ isDuplicate }) => isDuplicate)) {
    return 'A new key is a new note. The same key is the same note.';
  }
  if (arrived('alone') && arrived('steady')) return 'Both arrived.';
  if (!arrived('steady'))
    return 'Refused on both sides. Steadfetch keeps it, with the reason, for you to edit.';
  return lanes.alone.some(({ end }) => end?.how === 'left')
    ? 'With its page, one was lost. The other was on the disk.'
    : `React Query alone sent ${books.alone.requests} and gave up. Steadfetch kept it, and sent it later.`;
}
