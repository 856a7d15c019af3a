/** Looking back: what was answered, where person and model disagree, and what the model labelled by itself. */

import { fill, h } from "../dom.js";
import { disagreements } from "./disagreements.js";
import { history } from "./history.js";
import { pseudoLabels } from "./pseudo.js";

const PARTS = { history: "History", disagreements: "Disagreements", "pseudo-labels": "Pseudo-labels" };
const SHOWS = { history, disagreements, "pseudo-labels": pseudoLabels };

/** @type {import("../app.js").View} */
export function reviewView(app, part) {
  const name = /** @type {keyof typeof PARTS} */ (part in PARTS ? part : "history");
  const place = h("div", {});
  fill(place, SHOWS[name](app));
  const tabs = h("nav", { class: "tabs", "aria-label": "Parts of the review" },
    Object.entries(PARTS).map(([each, words]) => h("a", { href: `#/review/${each}`, "aria-current": each === name ? "page" : null, "data-focus": each === name || null }, words)));
  return { element: h("section", { class: "page review" }, h("h1", {}, "Review"), tabs, place) };
}
