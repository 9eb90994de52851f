import { queryOptions } from '@tanstack/react-query';
import axios from 'axios';
import { mutationOptions } from 'steadfetch';
import { steadyAdapter } from 'steadfetch/axios';
import { steady } from './steady.ts';

export const api = axios.create({ baseURL: '/api', adapter: steadyAdapter(steady, axios) });

export const products = queryOptions({
  queryKey: ['products'],
  queryFn: async ({ signal }) => (await api.get<string[]>('/products', { signal })).data,
});

export interface Order {
  readonly id: string;
  readonly article: string;
}

export const placeOrder = mutationOptions(steady, {
  mutationKey: ['order'],
  mutationFn: async (order: { article: string }, { signal }) =>
    (await api.post<Order>('/orders', order, { signal })).data,
});
