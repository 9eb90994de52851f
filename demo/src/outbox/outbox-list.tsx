import { useRef, useSyncExternalStore } from 'react';
import { useConnectivity, useOutbox, useOutboxEntries } from 'steadfetch/react';
import type { ReportPost } from '../reports/report-post.ts';
import { describeItem } from './describe-item.ts';
import { nameOf } from './describe-report.ts';
import { ItemRow } from './item-row.tsx';
import { itemsOf } from './items.ts';
import { News } from './news.tsx';

/** What this device keeps, and what it has delivered lately. */
export function OutboxList({ post }: { readonly post: ReportPost }) {
  const entries = useOutboxEntries({ handler: 'flightReport' }, post.outbox);
  const delivered = useSyncExternalStore(post.delivered.subscribe, post.delivered.getState);
  const isOffline = useConnectivity().status === 'offline';
  const heading = useRef<HTMLHeadingElement>(null);
  const items = itemsOf(entries ?? [], delivered);
  const rows = items.map((item) => ({ item, text: describeItem(item, isOffline) }));
  return (
    <section className="post-outbox" aria-labelledby="outbox-title">
      <h2 id="outbox-title" ref={heading} tabIndex={-1}>
        Outbox
      </h2>
      <p className="post-how">On this device, until the shop has it</p>
      <div className="outbox">
        <Summary />
        {rows.length === 0 ? (
          <p className="ledger-empty">Nothing here. Reports are kept until they have arrived.</p>
        ) : (
          <ul className="entries">
            {rows.map(({ item, text }) => (
              <ItemRow
                key={item.id}
                item={item}
                text={text}
                isOffline={isOffline}
                onLeave={() => heading.current?.focus()}
              />
            ))}
          </ul>
        )}
      </div>
      {entries && (
        <News
          reports={rows.map(({ item: { id, report }, text }) => ({
            ...text,
            id,
            name: nameOf(report),
          }))}
        />
      )}
    </section>
  );
}

function Summary() {
  const { due, waiting, sending, paused, dead } = useOutbox();
  const open = due + waiting + sending + paused;
  return (
    <p className="ledger-count" data-open={open} data-dead={dead}>
      <b>{open}</b> to be sent
      {dead > 0 && (
        <span className="outbox-dead">
          {dead} {dead === 1 ? 'needs' : 'need'} you
        </span>
      )}
    </p>
  );
}
