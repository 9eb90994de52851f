import { type QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { HttpResponse } from 'msw';
import { useSyncExternalStore } from 'react';
import { Act } from '../act/act.tsx';
import { PlugButton, TroubleSwitch, troubleOf } from '../act/controls.tsx';
import type { Lane } from '../act/recording.ts';
import { createRecorder, watchAlone, watchSteady } from '../act/recorder.ts';
import { createSession, useRun } from '../act/session.ts';
import { countOf, endVerdict, type Verdict } from '../act/verdict.tsx';
import { createTabState } from '../api/kept-state.ts';
import {
  createServer,
  type Desk,
  emptyDesk,
  type Side,
  startWorker,
  urlOf,
} from '../api/server.ts';
import { kites } from '../shop/kites.ts';
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
    answer: async () => HttpResponse.json(kites),
  });
const servers = { alone: serverOf('alone'), steady: serverOf('steady') };
const recorder = createRecorder('read');
watchAlone(recorder, alone.queryClient, servers.alone);
watchSteady(recorder, steady.steady, steady.queryClient);
const session = createSession({ desks, servers, recorder, empty: emptyDesk });

const worker = await startWorker();
worker.use(servers.alone.handler, servers.steady.handler);

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
  const pane = (side: Side, Catalogue: typeof alone.Catalogue, queryClient: QueryClient) =>
    run !== undefined && (
      <QueryClientProvider client={queryClient}>
        <div className="stage">
          <Catalogue key={run} url={urlOf(run, side, 'kites')} />
        </div>
      </QueryClientProvider>
    );
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
        alone: pane('alone', alone.Catalogue, alone.queryClient),
        steady: pane('steady', steady.Catalogue, steady.queryClient),
      }}
      code={code}
    />
  );
}

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
