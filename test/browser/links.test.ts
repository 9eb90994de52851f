import { beforeEach, inject, vi } from 'vitest';
import { describeLinks } from '../clients/links.ts';

const origin = inject('otherShop');

// What it hints at about CORS is another test's subject.
beforeEach(() => void vi.spyOn(console, 'warn').mockReturnValue());

describeLinks(() => origin);
