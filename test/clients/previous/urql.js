import { Client, fetchExchange } from '@urql/core';
import { Products } from '../recipes/documents.ts';
import { steady } from '../recipes/steady.ts';

const url = 'https://api.example/graphql';
const options = { exchanges: [fetchExchange], fetch: steady.rawFetch, preferGetMethod: true };
export const api = new Client({ url, ...options });

export async function load() {
  const { data, error } = await api.query(Products, {});
  if (!data) throw error ?? new Error('No products.');
  return data.products;
}
