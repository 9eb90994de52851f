import { formatCount, formatShare } from './format.ts';
import type { Counts } from './storm.ts';

/** The three figures of one side. */
export function Counters({ counts }: { readonly counts: Counts }) {
  const { sent, asked, answered, promptAfterS } = counts;
  return (
    <dl className="counters">
      <div>
        <dt>sent while down</dt>
        <dd>{formatCount(sent)}</dd>
      </div>
      <div>
        <dt>got an answer</dt>
        <dd>{formatShare(answered, asked)}</dd>
      </div>
      <div>
        <dt>until fast again</dt>
        <dd>
          {promptAfterS === undefined
            ? '–'
            : promptAfterS === null
              ? 'longer'
              : `${promptAfterS} s`}
        </dd>
      </div>
    </dl>
  );
}
