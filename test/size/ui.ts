// What an app with everything pays when it shows all components of steadfetch/ui, in three languages.
export * from './everything.ts';
export {
  ConnectionBanner,
  OutboxBadge,
  OutboxPanel,
  RetryStatus,
  SafeForm,
  TextsProvider,
} from 'steadfetch/ui';
