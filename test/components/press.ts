import { fireEvent, screen } from '@testing-library/react';

/** The user does something to a button. */
export const press =
  (name: string, event: 'click' | 'mouseEnter' = 'click') =>
  (): void => {
    fireEvent[event](screen.getByRole('button', { name }));
  };
