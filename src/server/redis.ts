export {
  type RedisClient,
  redisStore,
  type RedisStoreOptions,
  type RedisTransaction,
} from './stores/redis-store.ts';
