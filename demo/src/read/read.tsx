import { type QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { memo, useSyncExternalStore } from 'react';
import { Act } from '../act/act.tsx';
import { PlugButton, troubleNow, TroubleSwitch, troubleOf } from '../act/controls.tsx';
import type { Lane } from '../act/recording.ts';
import { createRecorder, watchAlone, watchSteady } from '../act/recorder.ts';
import { createSession, useRun } from '../act/session.ts';
import { countOf, endVerdict, type Verdict } from '../act/verdict.tsx';
import { createTabState } from '../api/kept-state.ts';
import { createServer, type Desk, emptyDesk, type Side, urlOf } from '../api/server.ts';
import { serve, useServing } from '../api/serving.ts';
import { kites } from '../shop/kites.ts';
import { Shelf } from '../shop/shop.tsx';
import * as alone from './alone.tsx';
import aloneSource from './alone.tsx?raw';
import * as steady from './steady.tsx';
import steadySource from './steady.tsx?raw';
import { troubles } from './troubles.ts';

const deskOf = (side: Side) => createTabState<Desk>(`steadfetch.read.${side}`, emptyDesk);
const desks = { alone: deskOf('alone'), steady: deskOf('steady') };
const serverOf = (side: Side) =>
  createServer({
    side,
    path: 'kites',
    method: 'get',
    desk: desks[side],
    body: JSON.stringify(kites),
    answer: async () => Response.json(kites),
  });
const servers = { alone: serverOf('alone'), steady: serverOf('steady') };
const recorder = createRecorder('read');
watchAlone(recorder, alone.queryClient, servers.alone);
watchSteady(recorder, steady.steady, steady.queryClient);
const session = createSession({ desks, servers, recorder, empty: emptyDesk });
session.play(troubleNow(troubles));

const serving = serve(servers.alone.route, servers.steady.route);
/** @public The app waits for it. */
export const { started } = serving;

const code = {
  alone: { file: 'catalogue.tsx', source: aloneSource },
  steady: { file: 'catalogue.tsx', source: steadySource },
};

/** Read it: one page is asked for while its server is in trouble. */
export default function Read({ place }: { readonly place: string | undefined }) {
  const trouble = troubleOf(troubles, place);
  const run = useRun(session, trouble);
  const recording = useSyncExternalStore(recorder.subscribe, recorder.getState);
  const requests = { alone: useRequests('alone'), steady: useRequests('steady') };
  const verdicts = {
    alone: verdictOf(recording.alone, requests.alone),
    steady: verdictOf(recording.steady, requests.steady),
  };
  return (
    <Act
      controls={
        <>
          <TroubleSwitch act="read" troubles={troubles} chosen={trouble} />
          <div className="actions">
            {trouble.isOffline && <PlugButton />}
            <button type="button" className="button" data-primary onClick={session.startOver}>
              Ask again
            </button>
          </div>
        </>
      }
      verdicts={verdicts}
      conclusion={conclude(verdicts, requests)}
      recorder={recorder}
      panes={{
        alone: (
          <Stage
            run={run}
            side="alone"
            Catalogue={alone.Catalogue}
            queryClient={alone.queryClient}
          />
        ),
        steady: (
          <Stage
            run={run}
            side="steady"
            Catalogue={steady.Catalogue}
            queryClient={steady.queryClient}
          />
        ),
      }}
      code={code}
    />
  );
}

interface StageProps {
  readonly run: number | undefined;
  readonly side: Side;
  readonly Catalogue: typeof alone.Catalogue;
  readonly queryClient: QueryClient;
}

/** The page of one side; its empty shelf until there is a server to ask. */
const Stage = memo(function Stage({ run, side, Catalogue, queryClient }: StageProps) {
  // The first requests take code that has never run: of both at once, a phone would stand still.
  const isServing = useServing(serving, side === 'steady');
  return (
    <QueryClientProvider client={queryClient}>
      <div className="stage">
        {isServing && run !== undefined ? (
          <Catalogue key={run} url={urlOf(run, side, 'kites')} />
        ) : (
          <Shelf kites={undefined} />
        )}
      </div>
    </QueryClientProvider>
  );
});

/** How many the server has got. */
const useRequests = (side: Side): number =>
  useSyncExternalStore(desks[side].subscribe, desks[side].getState).requests;

const verdictOf = (lanes: readonly Lane[], requests: number): Verdict => ({
  ...endVerdict(lanes, 'Failed', 'Answered'),
  detail: countOf(requests, 'request'),
});

function conclude(
  { alone: one, steady: other }: Readonly<Record<Side, Verdict>>,
  requests: Readonly<Record<Side, number>>,
): string {
  if (one.tone === 'open' || other.tone === 'open') return '';
  if (one.tone === 'ok' && other.tone === 'ok') {
    const hadTrouble = requests.alone + requests.steady > 2;
    return hadTrouble ? 'Both recovered by themselves.' : 'Nothing went wrong.';
  }
  if (one.tone === other.tone) {
    return `No request could help here. Steadfetch sent ${requests.steady}, React Query alone ${requests.alone}.`;
  }
  return other.tone === 'ok'
    ? `React Query alone sent ${requests.alone} and gave up. Steadfetch sent ${requests.steady} and got its answer.`
    : 'Here React Query alone did better.';
}
