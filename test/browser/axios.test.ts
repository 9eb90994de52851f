import axios from 'axios';
import { createSteadfetch } from 'steadfetch';
import { steadyAdapter } from 'steadfetch/axios';
import { beforeEach, expect, inject, onTestFinished, test, vi } from 'vitest';
import { describeAdapter } from '../axios/contract.ts';
import { openTalk } from './talk.ts';

const [origin] = inject('origins');

// What it hints at about CORS is another test's subject.
beforeEach(() => void vi.spyOn(console, 'warn').mockReturnValue());

describeAdapter(() => origin);

test.each([
  ['text/plain', 0],
  ['application/json', 1],
])(
  'where the policy limits a request, its progress makes the browser ask no server that it would not ask: %s, %i preflights',
  async (type, preflights) => {
    const steady = createSteadfetch();
    onTestFinished(() => steady.dispose());
    const api = axios.create({ adapter: steadyAdapter(steady, axios, { timeout: 'policy' }) });
    const talk = openTalk(origin, 'ok');
    await api.post(talk.url, '{}', { headers: { 'content-type': type } });
    expect(await talk.log()).toMatchObject({ preflights, requests: [{ body: '{}' }] });
  },
);
