import { type ReactNode, useDeferredValue, useSyncExternalStore } from 'react';
import { type Side, sideNames, sides } from '../api/server.ts';
import { useBackground } from '../background.ts';
import { Proof } from '../proof.tsx';
import { type Code, CodePair } from './code.tsx';
import type { Recorder } from './recorder.ts';
import { Timeline } from './timeline.tsx';
import './pane.css';
import { type Verdict, Verdicts } from './verdict.tsx';

interface Props {
  readonly controls: ReactNode;
  readonly verdicts: Readonly<Record<Side, Verdict>>;
  /** What the two come to, once both are known. */
  readonly conclusion: string;
  readonly recorder: Recorder;
  /** What each side shows. */
  readonly panes: Readonly<Record<Side, ReactNode>>;
  readonly note?: ReactNode;
  readonly code: Readonly<Record<Side, Code>>;
}

/** The shape of every act: two sides under one set of controls, on one time axis, and their code. */
export function Act(props: Props) {
  const { controls, verdicts, conclusion, recorder, panes, note, code } = props;
  const recording = useSyncExternalStore(recorder.subscribe, recorder.getState);
  // One after the other, so that none of the three pictures keeps a phone busy for long.
  const arePanesShown = useDeferredValue(true, false);
  const isListed = useBackground();
  return (
    <>
      <div className="controls">{controls}</div>
      <Verdicts verdicts={verdicts} conclusion={conclusion} />
      <Timeline recording={recording} />
      {arePanesShown && (
        <div className="panes">
          {sides.map((side) => (
            <section key={side} className="pane" data-side={side} aria-label={sideNames[side]}>
              <h2>{sideNames[side]}</h2>
              {panes[side]}
            </section>
          ))}
        </div>
      )}
      {isListed && (
        <>
          {note && <div className="note">{note}</div>}
          <CodePair alone={code.alone} steady={code.steady} />
          <Proof />
        </>
      )}
    </>
  );
}
