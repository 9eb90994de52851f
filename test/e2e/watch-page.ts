/** What a user has been shown and told, in order, without repetitions. */
export interface Sightings {
  /** The status, where the products would be or above them. */
  readonly seen: string[];
  /** What the live regions said. */
  readonly told: string[];
  /** The same for each form, by its name. */
  readonly forms: Record<string, Pick<Sightings, 'seen' | 'told'>>;
  /** The live regions, as they were when the page was drawn for the first time. */
  regionsAtFirst: readonly string[];
}

declare global {
  interface Window {
    sightings: Sightings;
  }
}

/**
 * Runs in the page, before anything of the demo does: writes down what appears on it, and takes
 * chance away, so that every wait with jitter is in the middle of its range.
 */
export function watchPage(): void {
  Math.random = () => 0.5;
  const sightings: Sightings = { seen: [], told: [], forms: {}, regionsAtFirst: [] };
  window.sightings = sightings;

  const textOf = (selector: string, within: ParentNode = document): string =>
    within.querySelector(selector)?.textContent.trim() ?? '';
  const add = (list: string[], text: string): void => {
    if (text !== '' && text !== list.at(-1)) list.push(text);
  };
  new MutationObserver(() => {
    if (sightings.regionsAtFirst.length === 0) {
      const regions = [...document.querySelectorAll('[role=status], [role=alert]')];
      sightings.regionsAtFirst = regions.map(
        (region) => `${region.getAttribute('role')}: ${region.textContent}`,
      );
    }
    const title = textOf('.status-title');
    const hasProducts = document.querySelector('.shelf h3') !== null;
    add(sightings.seen, title && hasProducts ? `${title} + products` : title);
    add(sightings.told, textOf('[role=status]'));
    const alert = textOf('[role=alert]');
    add(sightings.told, alert && `ALERT ${alert}`);
    for (const form of document.forms) {
      const { seen, told } = (sightings.forms[form.ariaLabel ?? ''] ??= { seen: [], told: [] });
      add(seen, textOf('.slip-title', form));
      add(told, textOf('[role=status]', form));
    }
  }).observe(document, { subtree: true, childList: true, characterData: true });
}
