interface Sightings {
  /** The live regions, as they were when the page had some for the first time. */
  regionsAtFirst: readonly string[];
}

declare global {
  interface Window {
    sightings: Sightings;
  }
}

/**
 * Runs in the page, before anything of the demo does: writes down what appears on it, and takes
 * chance away, so that every wait with jitter is near the middle of its range: in the very middle, tenths of a
 * second would be on the edge of the next.
 */
export function watchPage(): void {
  Math.random = () => 0.51;
  const sightings: Sightings = { regionsAtFirst: [] };
  window.sightings = sightings;
  new MutationObserver(() => {
    if (sightings.regionsAtFirst.length > 0) return;
    const regions = [...document.querySelectorAll('[role=status], [role=alert]')];
    sightings.regionsAtFirst = regions.map(
      (region) => `${region.getAttribute('role')}: ${region.textContent}`,
    );
  }).observe(document, { subtree: true, childList: true, characterData: true });
}
