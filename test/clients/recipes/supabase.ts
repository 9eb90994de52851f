import { createClient } from '@supabase/supabase-js';
import { steady } from './steady.ts';

export const api = createClient('https://api.example', 'anon-key', {
  global: { fetch: steady.rawFetch },
  db: { retry: false },
});

export async function load(signal: AbortSignal): Promise<string[]> {
  const { data } = await api.from('products').select('name').abortSignal(signal).throwOnError();
  return data.map(({ name }) => name as string);
}
