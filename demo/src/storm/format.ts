export const formatCount = (count: number): string => Math.round(count).toLocaleString('en');

/** At most two digits behind the point. */
export const formatNumber = (value: number): string =>
  value.toLocaleString('en', { maximumFractionDigits: 2 });

/** A share in whole percent; only nobody is 0 % and only everybody 100 %. */
export function formatShare(part: number, whole: number): string {
  if (whole === 0) return '–';
  const percent = (100 * part) / whole;
  if (part === 0 || part === whole) return `${Math.round(percent)}%`;
  if (percent > 99) return 'over 99%';
  return percent < 1 ? 'under 1%' : `${Math.round(percent)}%`;
}
