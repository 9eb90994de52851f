import { kiteOf } from '../shop/kite-of.ts';
import { KiteArt } from '../shop/kite-art.tsx';
import { Countdown } from '../status/countdown.tsx';
import type { ItemText } from './describe-item.ts';
import { nameOf } from './describe-report.ts';
import { ItemActions } from './item-actions.tsx';
import type { Item } from './items.ts';
import { Photo } from './photo.tsx';
import './entries.css';

interface Props {
  readonly item: Item;
  readonly text: ItemText;
  readonly isOffline: boolean;
  /** A button of it that has the keyboard goes away. */
  readonly onLeave: () => void;
}

/** A report: what it is, where it is, and what one can do about it. */
export function ItemRow({ item, text, isOffline, onLeave }: Props) {
  const { report, entry } = item;
  const { mark, title, detail } = text;
  const kite = kiteOf(report);
  const retryAt = entry?.pause ? entry.pause.retryAt : entry?.nextRetryAt;
  const isWaiting = mark === 'kept' && !isOffline && (entry?.attempts ?? 0) > 0;
  const photo = entry?.variables?.photo;
  return (
    <li className="entry" data-mark={mark}>
      <div
        className="kite-sky entry-kite"
        style={{ '--kite-sky': kite.sky } as React.CSSProperties}
      >
        {photo ? <Photo photo={photo} /> : <KiteArt kite={kite} />}
      </div>
      <div className="entry-text">
        <h3>{nameOf(report)}</h3>
        <p className="entry-words">{report.words}</p>
      </div>
      <div className="entry-state">
        <p className="entry-title">{title}</p>
        {mark !== 'delivered' && <p className="entry-detail">{detail}</p>}
        <p className="entry-since">
          Written <time>{new Date(report.writtenAt).toLocaleTimeString('en-GB')}</time>
          {entry && entry.attempts > 0 && `, ${countOf(entry.attempts)}`}
        </p>
      </div>
      {isWaiting && <Countdown retryAt={retryAt} />}
      {entry && mark !== 'delivered' && (
        <ItemActions
          item={item}
          entry={entry}
          mark={mark}
          isOffline={isOffline}
          onLeave={onLeave}
        />
      )}
    </li>
  );
}

const countOf = (attempts: number): string =>
  attempts === 1 ? '1 attempt' : `${attempts} attempts`;
