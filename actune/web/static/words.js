/** Numbers and times as a reader expects them. */

/** @param {number} value */
export const number = (value) => value.toLocaleString("en");

/** @param {number} n @param {string} one @param {string} [many] */
export const count = (n, one, many = `${one}s`) => `${number(n)} ${n === 1 ? one : many}`;

/** A share as a percentage. @param {number|null|undefined} share @param {number} [digits] */
export const percent = (share, digits = 0) =>
  share === null || share === undefined ? "–" : `${(share * 100).toFixed(digits)}\u00a0%`;

/** @param {{value: number, low?: number|null, high?: number|null}|null|undefined} found */
export function interval(found) {
  if (!found || found.low === null || found.low === undefined) return "";
  return `95 % interval ${percent(found.low)} to ${percent(found.high)}`;
}

/** @param {number} seconds */
export function duration(seconds) {
  if (seconds < 60) return `${Math.max(1, Math.round(seconds))} s`;
  if (seconds < 3600) return `${Math.round(seconds / 60)} min`;
  return `${Math.floor(seconds / 3600)} h ${Math.round((seconds % 3600) / 60)} min`;
}

/** @param {string} iso */
export function moment(iso) {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) return iso;
  const time = at.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
  return at.toDateString() === new Date().toDateString() ? time : `${at.toLocaleDateString("en-GB", { day: "numeric", month: "short" })}, ${time}`;
}

/** @param {number} bytes */
export function size(bytes) {
  return bytes < 1e6 ? `${Math.max(1, Math.round(bytes / 1e3))} kB` : `${(bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0)} MB`;
}
