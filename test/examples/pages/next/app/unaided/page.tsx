import { Unaided } from './unaided.tsx';

export const dynamic = 'force-dynamic';

export default function Page() {
  return <Unaided />;
}
