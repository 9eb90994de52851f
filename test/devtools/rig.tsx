import { act, type BoundFunctions, fireEvent, type queries, within } from '@testing-library/react';

/** What is in the shadow tree of the devtools. */
export function devtools(): BoundFunctions<typeof queries> & { readonly root: ShadowRoot } {
  const root = document.querySelector('[data-steadfetch-devtools]')?.shadowRoot;
  if (!root) throw new Error('The devtools are not there.');
  return { ...within(root as unknown as HTMLElement), root };
}

export const press = (element: HTMLElement): void => {
  act(() => void fireEvent.click(element));
};

export const open = (): void =>
  press(devtools().getByRole('button', { name: /^Steadfetch devtools/ }));

export const openTab = (name: string): void => {
  open();
  press(devtools().getByRole('tab', { name: new RegExp(`^${name}`) }));
};
