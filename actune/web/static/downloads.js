/** Links to files that the server makes first: they say that it works, and why a file was refused, which browsers do not. */

import { file } from "./api.js";
import { h } from "./dom.js";

const KEPT = 60_000; // milliseconds in which a browser has begun to write the file

/** @param {import("./app.js").App} app @param {Record<string, unknown>} props @param {...any} children */
export function download(app, props, ...children) {
  /** @type {HTMLAnchorElement} */
  const link = h("a", { ...props, download: true, onclick: async (/** @type {MouseEvent} */ event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return; // the browser's own ways
    event.preventDefault();
    if (link.hasAttribute("aria-busy")) return;
    link.setAttribute("aria-busy", "true");
    try {
      save(await file(link.href));
    } catch (problem) {
      app.toast(`The file could not be made: ${/** @type {Error} */ (problem).message}`);
    } finally {
      link.removeAttribute("aria-busy");
    }
  } }, ...children);
  return link;
}

/** @param {{blob: Blob, name: string}} found */
function save({ blob, name }) {
  const href = URL.createObjectURL(blob);
  h("a", { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), KEPT);
}
