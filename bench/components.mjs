import { JSDOM } from 'jsdom';

/** Shows components that all watch a failing query of their own, until all have failed: renders of one. */
export async function showAll(client, timers, components, queryFn, isSteady) {
  const { window } = new JSDOM('<main></main>');
  Object.assign(globalThis, { window, document: window.document });
  const { createElement } = await import('react');
  const { createRoot } = await import('react-dom/client');
  const { flushSync } = await import('react-dom');
  const { QueryClientProvider, useQuery } = await import('@tanstack/react-query');
  const { useRetryStatus } = await import('../dist/react.js');
  let renders = 0;
  let failed = 0;

  function Plain({ id }) {
    const { failureCount, isError } = useQuery({ queryKey: [id], queryFn });
    renders++;
    if (isError) failed++;
    return failureCount;
  }
  function Steady({ id }) {
    const { isError } = useQuery({ queryKey: [id], queryFn });
    const { status } = useRetryStatus({ queryKey: [id] });
    renders++;
    if (isError) failed++;
    return status;
  }
  const items = Array.from({ length: components }, (_, id) =>
    createElement(isSteady ? Steady : Plain, { key: id, id }),
  );
  const root = createRoot(window.document.querySelector('main'));
  flushSync(() => root.render(createElement(QueryClientProvider, { client }, items)));
  while (failed < components) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    timers.ring();
  }
  return renders / components;
}
