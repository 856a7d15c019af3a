/** Small values that a browser keeps over a reload; where it keeps none, they live as long as the page. */

/** @type {Map<string, string>} */
const inMemory = new Map();

/** @param {string} key @returns {any} */
export function read(key) {
  try {
    const kept = inMemory.get(key) ?? localStorage.getItem(key);
    return kept === null ? null : JSON.parse(kept);
  } catch {
    return null;
  }
}

/** Keeps a value, and says whether it outlives the page. @param {string} key @param {unknown} value */
export function keep(key, value) {
  const written = JSON.stringify(value);
  try {
    localStorage.setItem(key, written);
    inMemory.delete(key);
    return true;
  } catch {
    inMemory.set(key, written);
    return false;
  }
}

/** @param {string} key */
export function drop(key) {
  inMemory.delete(key);
  try {
    localStorage.removeItem(key);
  } catch { /* nothing was kept */ }
}

/** The keys that begin so, in order. @param {string} prefix */
export function keys(prefix) {
  const found = new Set(inMemory.keys());
  try {
    for (let place = 0; place < localStorage.length; place += 1) found.add(localStorage.key(place) ?? "");
  } catch { /* only what is in memory */ }
  return [...found].filter((key) => key.startsWith(prefix)).sort();
}

/** Whether some of these values would be lost with the page. @param {string} prefix */
export const fragile = (prefix) => [...inMemory.keys()].some((key) => key.startsWith(prefix));
