import { Components } from '../components.tsx';

export const dynamic = 'force-dynamic';

export default function Page() {
  return <Components />;
}
