import type { Page } from 'playwright';

/**
 * The texts on a page whose contrast is below WCAG 2.2 AA (1.4.3): 4.5 to 1, or 3 to 1 for large
 * text. Texts that are not to be seen, and disabled buttons, are exempt.
 */
export function auditContrast(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    type Colour = readonly [red: number, green: number, blue: number, alpha: number];
    const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
    if (!canvas) throw new Error('This browser has no canvas.');

    // However a colour is written, a canvas says what it is.
    const parse = (colour: string): Colour => {
      canvas.clearRect(0, 0, 1, 1);
      canvas.fillStyle = colour;
      canvas.fillRect(0, 0, 1, 1);
      const [red = 0, green = 0, blue = 0, alpha = 0] = canvas.getImageData(0, 0, 1, 1).data;
      return [red, green, blue, alpha / 255];
    };
    const luminance = (colour: Colour): number => {
      const [red = 0, green = 0, blue = 0] = colour.slice(0, 3).map((value) => {
        const share = value / 255;
        return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
      });
      return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    };
    const backgroundOf = (element: Element | null): Colour => {
      if (!element) return [255, 255, 255, 1];
      const colour = parse(getComputedStyle(element).backgroundColor);
      return colour[3] === 1 ? colour : backgroundOf(element.parentElement);
    };
    const isExempt = (element: Element): boolean =>
      element.closest('.visually-hidden, [aria-disabled=true], :disabled, noscript, svg') !== null;

    const failures: string[] = [];
    for (const element of document.body.querySelectorAll('*')) {
      const text = [...element.childNodes]
        .filter((node) => node.nodeType === Node.TEXT_NODE)
        .map((node) => node.textContent?.trim() ?? '')
        .join('');
      if (text === '' || isExempt(element)) continue;
      const style = getComputedStyle(element);
      const lights = [parse(style.color), backgroundOf(element)].map(luminance);
      const ratio = (Math.max(...lights) + 0.05) / (Math.min(...lights) + 0.05);
      const sizePx = Number.parseFloat(style.fontSize);
      const isLarge = sizePx >= 24 || (sizePx >= 18.66 && Number(style.fontWeight) >= 700);
      if (ratio < (isLarge ? 3 : 4.5)) failures.push(`${text}: ${ratio.toFixed(2)}`);
    }
    return failures;
  });
}
