/** The faces of a view that has nothing to show: loading, empty, failed, closed. */

import { h } from "./dom.js";

/** @param {string} title @param {string} [words] @param {...(Node|false)} actions */
export function emptyFace(title, words, ...actions) {
  return h("section", { class: "face" }, h("h2", {}, title), words && h("p", {}, words),
    actions.length > 0 && h("div", { class: "row" }, actions));
}

/** @param {string} words */
export function waitingFace(words) {
  return h("section", { class: "face", role: "status" }, h("div", { class: "dots", "aria-hidden": "true" }, h("i"), h("i"), h("i")),
    h("p", {}, `${words} …`));
}

/** @param {string} words @param {() => void} again */
export function failedFace(words, again) {
  return h("section", { class: "face" }, h("h2", {}, "This could not be loaded"), h("p", { role: "alert" }, words),
    h("div", { class: "row" }, h("button", { onclick: again }, "Try again")));
}

/** @param {string} words */
export function closedFace(words) {
  return h("main", { class: "face", id: "main" }, h("h1", {}, "This page is locked"),
    h("p", {}, "Open it by the link that ", h("code", {}, "actune label"), " prints in the terminal. Answers that wait in this browser are kept."),
    h("p", { class: "soft" }, words));
}

/**
 * Loads into a place: a waiting face at once, then what came, or why nothing did.
 * @template T @param {HTMLElement} place @param {() => Promise<T>} load @param {(found: T) => void} show
 */
export async function loadInto(place, load, show) {
  const waiting = setTimeout(() => place.replaceChildren(waitingFace("Loading")), place.childElementCount ? 1500 : 150);
  try {
    const found = await load();
    clearTimeout(waiting);
    show(found);
  } catch (problem) {
    clearTimeout(waiting);
    place.replaceChildren(failedFace(problem instanceof Error ? problem.message : String(problem), () => loadInto(place, load, show)));
  }
}
