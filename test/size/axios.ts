// The same app, which sends with axios. axios itself is not counted.
import axios from 'axios';
import { steadyAdapter } from 'steadfetch/axios';
import { steady } from './queries.ts';

export * from './queries.ts';
export const api = axios.create({ adapter: steadyAdapter(steady, axios) });
