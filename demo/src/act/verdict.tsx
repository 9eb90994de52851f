import { useEffect, useRef } from 'react';
import { type Side, sideNames, sides } from '../api/server.ts';
import { formatSeconds, type Lane } from './recording.ts';

/** How a side has done, in words and numbers. */
export interface Verdict {
  readonly text: string;
  readonly detail: string;
  readonly tone: 'ok' | 'bad' | 'open';
}

export const countOf = (count: number, one: string): string =>
  `${count} ${count === 1 ? one : `${one}s`}`;

/** How the first try of a run has ended, or the next one if that was broken off. */
export function endVerdict(
  lanes: readonly Lane[],
  failed: string,
  answered = '',
): Omit<Verdict, 'detail'> {
  const [first] = lanes;
  if (!first) return { text: 'Nothing sent yet', tone: 'open' };
  const end = lanes.map((lane) => lane.end).find((one) => one && /answered|failed/.test(one.how));
  if (!end) {
    const isOver = lanes.at(-1)?.end !== undefined;
    return { text: isOver ? 'Cancelled' : 'No answer yet', tone: 'open' };
  }
  const after = `after ${formatSeconds(end.at - first.from)}`;
  return end.how === 'answered'
    ? { text: `${answered} ${after}`, tone: 'ok' }
    : { text: `${failed} ${after}`, tone: 'bad' };
}

/** The two side by side; told to a screen reader once, when both are known. */
export function Verdicts({
  verdicts,
  conclusion,
}: {
  readonly verdicts: Readonly<Record<Side, Verdict>>;
  readonly conclusion: string;
}) {
  const spoken = sides.map((side) => `${sideNames[side]}: ${verdicts[side].text}.`).join(' ');
  return (
    <div className="verdicts">
      {sides.map((side) => {
        const { text, detail, tone } = verdicts[side];
        return (
          <div key={side} className="verdict" data-side={side} data-tone={tone}>
            <p className="verdict-side">{sideNames[side]}</p>
            <p className="verdict-text">{text}</p>
            <p className="verdict-detail">{detail}</p>
          </div>
        );
      })}
      <p className="conclusion">{conclusion || ' '}</p>
      <Told text={conclusion && `${spoken} ${conclusion}`} />
    </div>
  );
}

/** A live region tells of what changes in it: so it is empty at first, also after a reload. */
function Told({ text }: { readonly text: string }) {
  const region = useRef<HTMLParagraphElement>(null);
  useEffect(() => {
    if (region.current) region.current.textContent = text;
  }, [text]);
  return <p ref={region} className="visually-hidden" role="status" />;
}
