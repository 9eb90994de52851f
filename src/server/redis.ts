export {
  type RedisClient,
  redisStore,
  type RedisStoreOptions,
  type RedisTransaction,
} from './redis-store.ts';
