/** `Intl` groups digits as well, and the first format that a page makes takes 30 ms. */
const group = (digits: number): string => `${digits}`.replaceAll(/\B(?=(\d{3})+(?!\d))/g, ',');

export const formatCount = (count: number): string => group(Math.round(count));

/** At most two digits behind the point. */
export const formatNumber = (value: number): string => group(Math.round(value * 100) / 100);

/** A share in whole percent; only nobody is 0 % and only everybody 100 %. */
export function formatShare(part: number, whole: number): string {
  if (whole === 0) return '–';
  const percent = (100 * part) / whole;
  if (part === 0 || part === whole) return `${Math.round(percent)}%`;
  if (percent > 99) return 'over 99%';
  return percent < 1 ? 'under 1%' : `${Math.round(percent)}%`;
}
