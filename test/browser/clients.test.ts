import { beforeEach, inject, vi } from 'vitest';
import { describeClients } from '../clients/contract.ts';

const origin = inject('shop');

// What it hints at about CORS is another test's subject.
beforeEach(() => void vi.spyOn(console, 'warn').mockReturnValue());

describeClients(() => origin);
