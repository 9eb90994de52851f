import { useEffect, useRef } from 'react';

/** A live region tells of what changes in it: so it is empty at first, also after a reload. */
export function Told({ text }: { readonly text: string }) {
  const region = useRef<HTMLParagraphElement>(null);
  useEffect(() => {
    if (region.current) region.current.textContent = text;
  }, [text]);
  return <p ref={region} className="visually-hidden" role="status" />;
}
