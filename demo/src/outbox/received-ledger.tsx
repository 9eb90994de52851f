import { useSyncExternalStore } from 'react';
import type { TabState } from '../orders/tab-state.ts';
import type { ReceivedReport, ReportBooks } from '../reports/report-books.ts';
import { formatBytes, nameOf } from './describe-report.ts';
import '../checkout/ledger.css';

/** The other side: what the shop has in its log. */
export function ReceivedLedger({ books }: { readonly books: TabState<ReportBooks> }) {
  const { reports, requestCount } = useSyncExternalStore(books.subscribe, books.getState);
  return (
    <section
      className="ledger post-ledger"
      aria-label="Received by the shop"
      data-verdict={reports.length > 0 ? 'ok' : undefined}
    >
      <h3>Received by the shop</h3>
      <p className="ledger-count">
        <b>{reports.length}</b> {reports.length === 1 ? 'report' : 'reports'}
        <span data-arrived={requestCount}>
          {requestCount} {requestCount === 1 ? 'request' : 'requests'}
        </span>
      </p>
      {reports.length === 0 ? (
        <p className="ledger-empty">Nothing yet.</p>
      ) : (
        <ol className="ledger-orders">
          {reports.map((report) => (
            <ReceivedRow key={report.number} report={report} />
          ))}
        </ol>
      )}
    </section>
  );
}

function ReceivedRow({ report }: { readonly report: ReceivedReport }) {
  const { at, key, photoBytes } = report;
  return (
    <li>
      <time dateTime={new Date(at).toISOString()}>{new Date(at).toLocaleTimeString('en-GB')}</time>
      <span className="ledger-what">{nameOf(report)}</span>
      <span className="ledger-key">
        key <code>{key.slice(0, 8)}</code>
        {photoBytes > 0 && `, photo of ${formatBytes(photoBytes)}`}
      </span>
    </li>
  );
}
