/** Windows over the page, which Escape closes and which give the focus back. */

import { h, icon, rememberFocus } from "./dom.js";

/** @param {string} title @param {Node[]} content @param {{wide?: boolean}} [options] */
export function openDialog(title, content, { wide = false } = {}) {
  const close = () => dialog.close();
  const heading = h("h2", { id: "dialog-title" }, title);
  const dialog = h("dialog", { "aria-labelledby": "dialog-title", class: wide ? "wide" : null },
    h("header", {}, heading, h("button", { class: "plain round", "aria-label": "Close", onclick: close }, icon("close"))), content);
  const back = rememberFocus();
  dialog.addEventListener("close", () => {
    dialog.remove();
    back();
  });
  dialog.addEventListener("click", (/** @type {MouseEvent} */ event) => event.target === dialog && close());
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

/** Asks before something that is not easily taken back. @param {string} title @param {string} words @param {string} yes @returns {Promise<boolean>} */
export function sure(title, words, yes) {
  return new Promise((resolve) => {
    let answer = false;
    const go = h("button", { class: "main", onclick: () => { answer = true; dialog.close(); } }, yes);
    const dialog = openDialog(title, [h("p", {}, words), h("div", { class: "row ends" }, go, h("button", { class: "plain", onclick: () => dialog.close() }, "Cancel"))]);
    dialog.addEventListener("close", () => resolve(answer));
    go.focus();
  });
}
