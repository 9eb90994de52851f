import * as React from 'react';

/** That of React 19. It is not imported by its name, which React 18 does not have. */
export const useActionState: typeof React.useActionState =
  (React as Partial<typeof React>).useActionState ??
  (() => {
    throw new Error('useSafeAction needs the useActionState of React 19.');
  });
