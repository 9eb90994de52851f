import { useState, useSyncExternalStore } from 'react';
import { useOutboxMutation } from 'steadfetch/react';
import { createTabState } from '../orders/tab-state.ts';
import type { ReportDraft } from '../reports/report.ts';
import type { ReportPost } from '../reports/report-post.ts';
import { describeSaving } from './describe-saving.ts';
import { PhotoField } from './photo-field.tsx';
import { ReportFields } from './report-fields.tsx';

type Draft = Omit<ReportDraft, 'photo'>;

const empty: Draft = { kite: 'heron', place: '', words: '' };

/** What is in the fields: kept over a reload, so that one need not type it again. */
const draft = createTabState('windhover.report', empty);

/** Writes a report, and hands it to the outbox. */
export function ReportForm({ post: { outbox } }: { readonly post: ReportPost }) {
  const fields = useSyncExternalStore(draft.subscribe, draft.getState);
  const [photo, setPhoto] = useState<File>();
  const [options] = useState(() => outbox.mutationOptions('flightReport'));
  const { mutate, status, entry, data } = useOutboxMutation(options);
  const { title, detail } = describeSaving(status, entry, data);
  return (
    <section className="post-form" aria-labelledby="report-title">
      <h2 id="report-title">Flight report</h2>
      <p className="post-how">How did it fly? The shop keeps a log.</p>
      <form
        aria-label="Flight report"
        onSubmit={(event) => {
          event.preventDefault();
          mutate({ ...fields, photo, id: crypto.randomUUID(), writtenAt: Date.now() });
          draft.update(({ kite }) => ({ ...empty, kite }));
          setPhoto(undefined);
        }}
      >
        <ReportFields report={fields} onChange={(next) => draft.update(() => next)} />
        <div className="post-actions">
          <button type="submit" className="button" data-primary>
            Send report
          </button>
          <PhotoField photo={photo} onChange={setPhoto} />
        </div>
        <div className="post-status">
          <p className="slip-title">{title}</p>
          <p className="slip-detail">{detail}</p>
        </div>
      </form>
    </section>
  );
}
