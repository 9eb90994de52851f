import { createSteadfetch } from 'steadfetch';
import { answer, fakeServer } from '../../core/fetch/fake-server.ts';

const { fetch } = fakeServer(answer(503), answer(404, 'secret'));

export const steady = createSteadfetch({ fetch, random: () => 0.5 });
