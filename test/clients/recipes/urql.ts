import { Client, fetchExchange } from '@urql/core';
import { rawFetchFor } from 'steadfetch';
import { Products } from './documents.ts';
import { steady } from './steady.ts';

export const api = new Client({ url: 'https://api.example/graphql', exchanges: [fetchExchange] });

export async function load(signal: AbortSignal): Promise<string[]> {
  const { data, error } = await api.query(Products, {}, { fetch: rawFetchFor(steady, signal) });
  if (!data) throw error ?? new Error('No products.');
  return data.products;
}
