import type { HtmlTagDescriptor, Plugin, Rolldown } from 'vite';

type Bundle = Readonly<Record<string, Rolldown.OutputAsset | Rolldown.OutputChunk>>;

/** The module of each page, by its name in the address. */
const pages: Readonly<Record<string, string>> = {
  storm: '/storm/storm-view.tsx',
  read: '/read/read.tsx',
  order: '/order/order.tsx',
  send: '/send/send.tsx',
  tabs: '/tabs/tabs.tsx',
};

/** The files that a page needs beside those of the app. */
function filesOf(module: string, bundle: Bundle): readonly string[] {
  const files = new Set<string>();
  const add = (fileName: string): void => {
    const chunk = bundle[fileName];
    if (chunk?.type !== 'chunk' || chunk.isEntry || files.has(fileName)) return;
    files.add(fileName);
    for (const css of chunk.viteMetadata?.importedCss ?? []) files.add(css);
    for (const imported of chunk.imports) add(imported);
  };
  const page = Object.values(bundle).find(
    (file) => file.type === 'chunk' && file.facadeModuleId?.endsWith(`/src${module}`),
  );
  if (!page) throw new Error(`The bundle has no page ${module}.`);
  add(page.fileName);
  return [...files];
}

/** Runs in the page, before its scripts: asks for what its address names, without waiting for the app. */
function preload(files: Readonly<Record<string, readonly string[]>>): void {
  for (const file of files[location.hash.split('/')[1] ?? 'storm'] ?? []) {
    const link = document.createElement('link');
    link.rel = file.endsWith('.css') ? 'preload' : 'modulepreload';
    if (link.rel === 'preload') link.as = 'style';
    // As Vite asks for them.
    link.crossOrigin = '';
    link.href = `./${file}`;
    // The app comes first: it draws the head of the page.
    link.fetchPriority = 'low';
    document.head.append(link);
  }
}

/** The page that the address names is loaded beside the app, and not after it. */
export const preloadPage = (): Plugin => ({
  name: 'preload-page',
  transformIndexHtml: {
    order: 'post',
    handler(_html, { bundle }): HtmlTagDescriptor[] {
      if (!bundle) return [];
      const files = Object.fromEntries(
        Object.entries(pages).map(([name, module]) => [name, filesOf(module, bundle)]),
      );
      const children = `(${preload.toString()})(${JSON.stringify(files)})`;
      return [{ tag: 'script', children, injectTo: 'head' }];
    },
  },
});
