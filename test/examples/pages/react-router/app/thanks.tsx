import { useSearchParams } from 'react-router';

export default function Thanks() {
  const [params] = useSearchParams();
  return <p id="told">succeeded {params.get('article') ?? 'none'}</p>;
}
