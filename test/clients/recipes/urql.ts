import { Client, fetchExchange } from '@urql/core';
import { Products } from './documents.ts';
import { steady } from './steady.ts';

const url = 'https://api.example/graphql';
export const api = new Client({ url, exchanges: [fetchExchange], fetch: steady.rawFetch });

export async function load(): Promise<string[]> {
  const { data, error } = await api.query(Products, {});
  if (!data) throw error ?? new Error('No products.');
  return data.products;
}
