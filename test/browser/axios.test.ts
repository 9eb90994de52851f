import { beforeEach, inject, vi } from 'vitest';
import { describeAdapter } from '../axios/contract.ts';

const [origin] = inject('origins');

// What it hints at about CORS is another test's subject.
beforeEach(() => void vi.spyOn(console, 'warn').mockReturnValue());

describeAdapter(() => origin);
