export type { PgPool, PostgresJs } from './postgres-driver.ts';
export { postgresStore, type PostgresStoreOptions, postgresTable } from './postgres-store.ts';
