import { Shared } from './shared.tsx';

export const dynamic = 'force-dynamic';

export default function Page() {
  return <Shared />;
}
