export { StreamPage as default } from '../stream-page.tsx';

export const dynamic = 'force-dynamic';
