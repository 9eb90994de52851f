import { PlainForm } from './plain-form.tsx';

export const dynamic = 'force-dynamic';

export default function Page() {
  return <PlainForm />;
}
