import { type ReactElement, type ReactNode, useCallback, useState } from 'react';
import { createPortal } from 'react-dom';
import { style } from './panel/style.ts';

/** The colour scheme of the devtools. */
export type DevtoolsTheme = 'light' | 'dark' | 'system';

let shared: CSSStyleSheet | undefined;

/** Every Content-Security-Policy allows a constructed sheet, few a style element. */
function adopt(root: ShadowRoot): void {
  try {
    if (!shared) {
      shared = new CSSStyleSheet();
      shared.replaceSync(style);
    }
    root.adoptedStyleSheets = [shared];
  } catch {
    const element = root.ownerDocument.createElement('style');
    element.textContent = style;
    root.prepend(element);
  }
}

/** A key typed in a field here must be no shortcut of the app, which sees the host of this tree, and no field. */
const keepTyped = (event: Event): void => {
  if ((event.target as Partial<Element>).matches?.('input, select, textarea'))
    event.stopPropagation();
};

/** A shadow tree: its content has its own styles, and none of the page's. */
export function Shadow({
  theme,
  isFull = false,
  children,
}: {
  readonly theme: DevtoolsTheme;
  /** Whether it is as high as its container. */
  readonly isFull?: boolean;
  readonly children: ReactNode;
}): ReactElement {
  const [root, setRoot] = useState<ShadowRoot>();
  const attach = useCallback((host: HTMLElement | null) => {
    if (!host) return;
    const own = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
    adopt(own);
    for (const type of ['keydown', 'keypress', 'keyup']) own.addEventListener(type, keepTyped);
    setRoot(own);
  }, []);
  return (
    <div
      ref={attach}
      data-steadfetch-devtools=""
      // Overrides the page's styles for its elements.
      style={{ all: 'initial', display: 'block', height: isFull ? '100%' : 'auto' }}
    >
      {root &&
        createPortal(
          <div className={isFull ? 'root fill' : 'root'} data-theme={theme}>
            {children}
          </div>,
          root,
        )}
    </div>
  );
}
