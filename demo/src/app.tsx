import { useSyncExternalStore } from 'react';
import type { MockApi } from './api/mock-api.ts';
import { CatalogueView } from './catalogue-view.tsx';
import { CheckoutView } from './checkout/checkout-view.tsx';
import { isCheckout, parseCheckoutHash } from './checkout/hash.ts';
import { isOutbox, parseOutboxHash } from './outbox/hash.ts';
import { OutboxView } from './outbox/outbox-view.tsx';
import { Navigation } from './navigation.tsx';
import type { Recorder } from './recorder/recorder.ts';
import type { ReportPost } from './reports/report-post.ts';
import { Wordmark } from './shop/wordmark.tsx';
import { useHash } from './use-hash.ts';
import type { Visits } from './visits/visits.ts';

interface Props {
  readonly api: MockApi;
  readonly post: ReportPost;
  readonly visits: Visits;
  readonly recorder: Recorder;
}

export function App({ api, post, visits, recorder }: Props) {
  const hash = useHash();
  const visit = useSyncExternalStore(visits.subscribe, visits.getState);
  return (
    <div className="page">
      <header className="head">
        <Wordmark />
        <Navigation hash={hash} visit={visit} />
        <p className="head-note">
          A demonstration of <b>Steadfetch</b>: this shop’s API fails on purpose.
        </p>
      </header>
      {isCheckout(hash) ? (
        <CheckoutView
          checkout={api.checkout}
          trouble={parseCheckoutHash(hash)}
          recorder={recorder}
        />
      ) : isOutbox(hash) ? (
        <OutboxView
          desk={api.reports}
          post={post}
          trouble={parseOutboxHash(hash)}
          recorder={recorder}
        />
      ) : (
        <CatalogueView api={api} visits={visits} visit={visit} recorder={recorder} />
      )}
    </div>
  );
}
