/** Looking back: what was answered, where people or person and model disagree, what the model labelled by itself, and what is alike. */

import { fill, h } from "../dom.js";
import { adjudication } from "./adjudication.js";
import { disagreements } from "./disagreements.js";
import { history } from "./history.js";
import { nearDuplicates } from "./near.js";
import { pseudoLabels } from "./pseudo.js";

const PARTS = { history: "History", disagreements: "Disagreements", "pseudo-labels": "Pseudo-labels", "near-duplicates": "Near-duplicates", adjudication: "Adjudication" };
const SHOWS = { history, disagreements, "pseudo-labels": pseudoLabels, "near-duplicates": nearDuplicates, adjudication };
const FOR_OWNERS = new Set(["adjudication"]);

/** @type {import("../app.js").View} */
export function reviewView(app, part) {
  const parts = Object.entries(PARTS).filter(([each]) => app.owner || !FOR_OWNERS.has(each));
  const name = /** @type {keyof typeof PARTS} */ (parts.some(([each]) => each === part) ? part : "history");
  const place = h("div", {});
  const shown = SHOWS[name](app);
  fill(place, Array.isArray(shown) ? shown : shown.nodes);
  const tabs = h("nav", { class: "tabs", "aria-label": "Parts of the review" },
    parts.map(([each, words]) => h("a", { href: `#/review/${each}`, "aria-current": each === name ? "page" : null, "data-focus": each === name || null }, words)));
  requestAnimationFrame(() => tabs.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" })); // on a phone
  return { element: h("section", { class: "page review" }, h("h1", {}, "Review"), tabs, place), leave: Array.isArray(shown) ? undefined : shown.leave };
}
