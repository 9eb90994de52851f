import { createClient } from '@supabase/supabase-js';
import { steady } from '../recipes/steady.ts';

export const api = createClient('https://api.example', 'anon-key', { fetch: steady.rawFetch });

export async function load(signal) {
  const { data } = await api.from('products').select('name').abortSignal(signal).throwOnError();
  return data.map(({ name }) => name);
}
