import { useCallback } from 'react';

/** A photo as it lies on the disk. */
export function Photo({ photo }: { readonly photo: File }) {
  const show = useCallback(
    (image: HTMLImageElement) => {
      const url = URL.createObjectURL(photo);
      image.src = url;
      return () => URL.revokeObjectURL(url);
    },
    [photo],
  );
  return <img ref={show} alt={`Photo: ${photo.name}`} />;
}
