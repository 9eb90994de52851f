// What an app with everything pays when it shows all components of steadfetch/ui, in English.
export * from './everything.ts';
export {
  ConnectionBanner,
  OutboxBadge,
  OutboxPanel,
  RetryStatus,
  SafeForm,
  TextsProvider,
} from 'steadfetch/ui';
