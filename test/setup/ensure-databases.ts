import { ensurePrograms } from './apt.ts';
import { findPostgres, findRedis } from './databases.ts';

ensurePrograms([
  {
    name: 'PostgreSQL',
    find: findPostgres,
    packages: ['postgresql'],
    remedy:
      'Install it (for example `sudo apt-get install postgresql`), or set POSTGRES_BIN to the folder ' +
      'with `postgres` and `initdb`.',
  },
  {
    name: 'Redis',
    find: findRedis,
    packages: ['redis-server'],
    remedy:
      'Install it (for example `sudo apt-get install redis-server`), or set REDIS_PATH to the executable.',
  },
]);
