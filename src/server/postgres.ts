export type { PgPool, PostgresJs } from './stores/postgres-driver.ts';
export {
  postgresStore,
  type PostgresStoreOptions,
  postgresTable,
} from './stores/postgres-store.ts';
