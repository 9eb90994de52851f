import { readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Plugin } from 'vite';
import { install } from '../matrix/app.ts';

/** The major before the one that package.json pins; of what has no major yet, the minor before. */
const versions = {
  '@apollo/client': '3.14.1',
  '@bufbuild/protobuf': '1.10.1',
  '@connectrpc/connect': '1.7.0',
  '@connectrpc/connect-web': '1.7.0',
  '@supabase/supabase-js': '1.35.7',
  '@trpc/client': '10.45.4',
  '@urql/core': '5.2.0',
  'graphql-request': '6.1.0',
  ky: '1.14.3',
  ofetch: '0.4.21',
  'openapi-fetch': '0.16.0',
  wretch: '2.11.1',
};

/** What some of them import beside that. */
const peers = { '@trpc/server': '10.45.4', graphql: '16.15.0', react: '19.3.1' };

const own = resolve(import.meta.dirname, 'previous');

/** Puts the major before in the place of each client and, where it is used in another way, of its recipe. */
export function previous(): Plugin {
  const folder = install('clients', { ...versions, ...peers });
  const names = new RegExp(`^(${Object.keys(versions).join('|')})(/|$)`);
  const recipes = new Map(
    readdirSync(own).map((file) => [`./recipes/${file.replace('.js', '.ts')}`, resolve(own, file)]),
  );
  return {
    name: 'previous',
    enforce: 'pre',
    resolveId(id, importer, options) {
      if (!names.test(id) || importer?.startsWith(folder)) return recipes.get(id);
      return this.resolve(id, `${folder}/package.json`, { ...options, skipSelf: true });
    },
  };
}
