import { onlineManager } from '@tanstack/react-query';
import axe from 'axe-core';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { userEvent } from 'vitest/browser';
import { focused, openFailed, sees } from './components.tsx';
import { emulateMedia } from './media.ts';

/** A retry that does not come while the test looks at its countdown. */
const slow = { policy: { baseMs: 600_000, capMs: 600_000, deadlineMs: 6_000_000 } };

const audit = async (page: HTMLElement): Promise<unknown> => {
  const { violations } = await axe.run(page);
  return violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]);
};
const press = (page: HTMLElement, name: string): void =>
  [...page.querySelectorAll('button')].find(({ textContent }) => textContent === name)?.click();
/** Opens all that the components ask. */
async function openQuestions(page: HTMLElement): Promise<void> {
  page.querySelector('input')?.select();
  await userEvent.keyboard('dragon');
  press(page, 'Send');
  await sees(page, 'Send this, too?');
  press(page, 'Discard A note');
  await sees(page, 'Discard for good');
}

beforeEach(() => {
  // A form remembers what may have been done.
  sessionStorage.clear();
  document.documentElement.style.colorScheme = 'light dark';
  document.body.style.background = 'light-dark(#fff, #0c1420)';
  vi.spyOn(console, 'warn').mockReturnValue();
});
afterEach(() => {
  document.documentElement.style.cssText = '';
  document.body.style.cssText = '';
});

test.for([
  ['light', 'none'],
  ['dark', 'none'],
  ['light', 'active'],
  ['dark', 'active'],
] as const)(
  'axe finds nothing where everything has failed and is asked about, in %s, forced colours: %s',
  async ([colorScheme, forcedColors], context) => {
    await emulateMedia(context, { forcedColors, colorScheme });
    const page = await openFailed();
    expect(await audit(page)).toEqual([]);
    onlineManager.setOnline(false);
    await sees(page, 'You are offline');
    await openQuestions(page);
    expect(await audit(page)).toEqual([]);
  },
);

test.each([
  [390, 1],
  [320, 1],
  [320, 2],
])('at %i px and text %i times as large nothing is cut off', async (width, zoom) => {
  const page = await openFailed(slow);
  await openQuestions(page);
  page.style.width = `${width - 16}px`;
  document.documentElement.style.fontSize = `${zoom * 100}%`;
  for (const one of page.querySelectorAll('*:not(.steadfetch-told)'))
    expect([one.className, one.scrollWidth <= Math.max(one.clientWidth, page.clientWidth)]).toEqual(
      [one.className, true],
    );
});

/** An app that has no use for our stylesheet, and one whose components are in a shadow root, where it does not reach. */
function withoutStyles(): void {
  for (const sheet of document.styleSheets) sheet.disabled = true;
  onTestFinished(() => {
    for (const sheet of document.styleSheets) sheet.disabled = false;
  });
}

test.each([
  ['with the stylesheet', () => {}],
  ['without the stylesheet, which is optional', withoutStyles],
])('what is for a screen reader is not seen, and lengthens no page: %s', async (_, prepare) => {
  prepare();
  const page = await openFailed(slow);
  await openQuestions(page);
  const told = [...page.querySelectorAll<HTMLElement>('.steadfetch-told')];
  expect(told.filter(({ textContent }) => textContent).length).toBeGreaterThan(4);
  expect(told.filter(({ offsetWidth, offsetHeight }) => offsetWidth * offsetHeight > 1)).toEqual(
    [],
  );
  // A panel that scrolls, with the components below what is seen of it.
  page.style.cssText = 'height: 100px; overflow: auto; display: block';
  page.prepend(Object.assign(document.createElement('div'), { style: 'height: 3000px' }));
  const { clientHeight, scrollHeight } = document.documentElement;
  expect(scrollHeight).toBe(clientHeight);
});

test('a word that is longer than its box is broken, and widens nothing', async () => {
  const page = await openFailed(slow);
  await openQuestions(page);
  page.style.width = '320px';
  const parts = page.querySelectorAll(
    '.steadfetch-title, .steadfetch-detail, .steadfetch-badge, .steadfetch-button, .steadfetch-countdown',
  );
  expect(parts.length).toBeGreaterThan(10);
  for (const part of parts) {
    part.textContent = 'Donaudampfschifffahrt'.repeat(30);
    const { className, scrollWidth } = part;
    expect([className, page.scrollWidth, scrollWidth <= 320]).toEqual([className, 320, true]);
  }
});

test.for(['none', 'active'] as const)(
  'Tab goes through all as it is seen, and shows where it is; forced colours: %s',
  async (forcedColors, context) => {
    await emulateMedia(context, { forcedColors });
    const page = await openFailed(slow);
    await openQuestions(page);
    page.focus();
    const stops: unknown[] = [];
    for (let stop = 0; stop < 8; stop += 1) {
      await userEvent.tab();
      const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement as Element);
      stops.push([focused(), outlineStyle, outlineWidth]);
    }
    const ring = ['solid', '3px'];
    expect(stops).toEqual([
      ['Retry now', ...ring],
      ['Cancel', ...ring],
      ['Article ', expect.anything(), expect.anything()],
      ['Send', ...ring],
      ['Do not send', ...ring],
      ['Send it', ...ring],
      ['Keep A note', ...ring],
      ['Discard for good A note', ...ring],
    ]);
  },
);

test.for(['light', 'dark'] as const)(
  'in forced colours boxes, buttons and the ring of the keyboard have system colours, in %s',
  async (colorScheme, context) => {
    await emulateMedia(context, { forcedColors: 'active', colorScheme });
    const page = await openFailed(slow);
    await openQuestions(page);
    const probe = page.appendChild(document.createElement('i'));
    const system = (name: string): string => {
      probe.style.color = name;
      return getComputedStyle(probe).color;
    };
    const styleOf = (selector: string): CSSStyleDeclaration =>
      getComputedStyle(page.querySelector(selector) as HTMLElement);
    for (const box of ['status', 'entry', 'question', 'badge']) {
      const { borderTopWidth, borderTopStyle, borderTopColor, color } = styleOf(
        `.steadfetch-${box}`,
      );
      expect([box, borderTopWidth, borderTopStyle, borderTopColor, color]).toEqual([
        box,
        '1px',
        'solid',
        system('CanvasText'),
        system('CanvasText'),
      ]);
    }
    const button = (selector: string): readonly string[] => {
      const { color, backgroundColor, borderTopColor } = styleOf(`.steadfetch-button${selector}`);
      return [color, backgroundColor, borderTopColor];
    };
    const [text, face, gray] = [system('ButtonText'), system('ButtonFace'), system('GrayText')];
    expect(button(':not([data-primary])')).toEqual([
      text,
      expect.stringMatching(/, 0\)$/),
      system('ButtonBorder'),
    ]);
    expect(button('[data-primary]')).toEqual([face, text, text]);
    (page.querySelector('.steadfetch-button') as HTMLElement).ariaDisabled = 'true';
    expect(button('[aria-disabled=true]')).toEqual([gray, face, gray]);
    page.focus();
    await userEvent.tab();
    expect([focused(), styleOf(':focus').outlineColor]).toEqual(['Retry now', system('Highlight')]);
  },
);
