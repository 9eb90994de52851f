import { memo, useState } from 'react';
import { type Side, sideNames } from '../api/server.ts';
import { diffLines } from './diff.ts';
import './code.css';

/** The source of a side, as it runs. */
export interface Code {
  readonly file: string;
  readonly source: string;
}

interface Pair {
  readonly alone: Code;
  readonly steady: Code;
}

/** Both sources, with the lines marked in which they differ: it stays as it is while an act is played. */
export const CodePair = memo(function CodePair({ alone, steady }: Pair) {
  const { removed, added } = diffLines(alone.source, steady.source);
  return (
    <section className="code-pair" aria-labelledby="code-title">
      <h2 id="code-title">The code that runs above</h2>
      <div className="codes">
        <Listing side="alone" code={alone} marked={removed} mark="−" />
        <Listing side="steady" code={steady} marked={added} mark="+" />
      </div>
    </section>
  );
});

interface Props {
  readonly side: Side;
  readonly code: Code;
  readonly marked: ReadonlySet<number>;
  readonly mark: string;
}

function Listing({ side, code: { file, source }, marked, mark }: Props) {
  const [copied, setCopied] = useState('');
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(source);
    setCopied('Copied');
  };
  return (
    <figure className="code" data-side={side}>
      <figcaption>
        <span>
          {sideNames[side]} <code>{file}</code>
        </span>
        <button type="button" className="button" onClick={() => void copy()}>
          Copy<span className="visually-hidden"> the code of {sideNames[side]}</span>
        </button>
        <span className="copied" role="status">
          {copied}
        </span>
      </figcaption>
      {/* With the keyboard, too, it can be scrolled. */}
      <pre tabIndex={0} role="group" aria-label={`${file} of ${sideNames[side]}`}>
        <span className="lines">
          {partsOf(source, marked).map(({ text, from, isMarked }) => (
            <code key={from} data-mark={isMarked ? mark : undefined}>
              {text}
            </code>
          ))}
        </span>
      </pre>
    </figure>
  );
}

interface Part {
  readonly text: string;
  /** Its first line. */
  readonly from: number;
  readonly isMarked: boolean;
}

/** Each marked line, and what is between them: a box for each line takes a phone long to lay out. */
function partsOf(source: string, marked: ReadonlySet<number>): readonly Part[] {
  const parts: Part[] = [];
  for (const [index, line] of source.trimEnd().split('\n').entries()) {
    const isMarked = marked.has(index + 1);
    const last = parts.at(-1);
    if (last && !isMarked && !last.isMarked) {
      parts[parts.length - 1] = { ...last, text: `${last.text}${line}\n` };
    } else {
      parts.push({ text: `${line}\n`, from: index + 1, isMarked });
    }
  }
  return parts;
}
