import axios from 'axios';
import { mutationOptions } from 'steadfetch';
import { steadyAdapter } from 'steadfetch/axios';
import { steady } from './steady.ts';

const api = axios.create({ adapter: steadyAdapter(steady, axios), timeout: 0 });

export const upload = mutationOptions(steady, {
  async mutationFn(
    { file, onProgress }: { file: Blob; onProgress: (share: number) => void },
    { idempotencyKey, signal },
  ) {
    const { data } = await api.put<{ id: string }>(`/api/files/${idempotencyKey}`, file, {
      signal,
      onUploadProgress: ({ progress = 0 }) => onProgress(progress),
    });
    return data;
  },
});
