import { reportPolicy } from '../reports/report-policy.ts';
import { formatOptions } from '../scenarios/format-options.ts';

/** What the page is made of. */
export function OutboxNote() {
  return (
    <section className="policy" aria-labelledby="policy-title">
      <h2 id="policy-title">The outbox</h2>
      <p>
        A report is written to the disk with its photo before its first byte is sent. Any open tab
        sends it, always with the same key: after a reload, a crash, or tomorrow. Reports are sent
        in the order in which they were written. One that needs your attention does not block the
        others.
      </p>
      <dl>
        <dt>App</dt>
        <dd>
          <code>{'createOutbox({ steady, queryClient, handlers })'}</code>
        </dd>
        <dt>Form</dt>
        <dd>
          <code>{'useOutboxMutation(flightReport)'}</code>
        </dd>
        <dt>List</dt>
        <dd>
          <code>{'useOutbox(), useOutboxEntries()'}</code>
        </dd>
        <dt>Policy</dt>
        <dd>
          <code>{formatOptions(reportPolicy)}</code>
        </dd>
      </dl>
    </section>
  );
}
