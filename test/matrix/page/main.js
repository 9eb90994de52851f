// An app with every entry of the package that a page may import; built by each bundler of ../bundlers.ts.
import { QueryClient, QueryClientProvider, useQuery } from '@tanstack/react-query';
import { createElement } from 'react';
import { createRoot } from 'react-dom/client';
import * as core from 'steadfetch';
import * as axios from 'steadfetch/axios';
import * as devtools from 'steadfetch/devtools';
import * as grpc from 'steadfetch/grpc';
import * as otel from 'steadfetch/otel';
import * as outbox from 'steadfetch/outbox';
import * as policy from 'steadfetch/policy';
import * as hooks from 'steadfetch/react';
import * as telemetry from 'steadfetch/telemetry';
import * as testing from 'steadfetch/testing';
import * as ui from 'steadfetch/ui';
import 'steadfetch/ui.css';

const entries = [core, axios, devtools, grpc, otel, outbox, policy, hooks, telemetry, testing, ui];
const steady = core.createSteadfetch({
  connectivity: core.watchConnectivity(),
  tabs: core.shareAcrossTabs(),
});
const client = new QueryClient({ defaultOptions: steady.defaultOptions });
const queryKey = ['lamp'];

function Lamp() {
  const { data } = useQuery({ queryKey, queryFn: () => steady.json('/api/lamp') });
  const { status } = hooks.useRetryStatus({ queryKey });
  return createElement('p', { id: 'lamp' }, data ? `${data.name}, ${status}` : 'none');
}

/** What the entry says of an option that is none: a check that is for development only. */
function wordsOnMistake() {
  try {
    policy.retryPolicy({ maxRetries: -1 });
    return 'none';
  } catch ({ message }) {
    return message;
  }
}

const app = createElement(
  QueryClientProvider,
  { client },
  createElement('div', { id: 'styled', className: 'steadfetch' }),
  createElement(ui.ConnectionBanner),
  createElement(Lamp),
  createElement(devtools.SteadfetchDevtools),
);
globalThis.built = { empty: entries.filter((one) => Object.keys(one).length === 0).length };
globalThis.built.wordsOnMistake = wordsOnMistake();
createRoot(document.getElementById('root')).render(app);
