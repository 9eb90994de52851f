import { Client, fetchExchange } from '@urql/core';
import { rawFetchFor } from 'steadfetch';
import { Products } from '../recipes/documents.ts';
import { steady } from '../recipes/steady.ts';

const url = 'https://api.example/graphql';
export const api = new Client({ url, exchanges: [fetchExchange], preferGetMethod: true });

export async function load(signal) {
  const { data, error } = await api.query(Products, {}, { fetch: rawFetchFor(steady, signal) });
  if (!data) throw error ?? new Error('No products.');
  return data.products;
}
