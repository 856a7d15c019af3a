/** Near-duplicates: groups of texts that are nearly the same, the largest first, and one label for the rest of a group. */

import { get } from "../api.js";
import { fill, h, icon } from "../dom.js";
import { emptyFace, loadInto, waitingFace } from "../faces.js";
import { count, number, percent } from "../words.js";

const PAGE = 20;
const WHICH = { all: "All groups", partly: "Partly labelled", differ: "Labelled differently", none: "Without a label" };
const EMPTY = { all: "No text of this project is nearly the same as another one.", partly: "No group has a label that could be applied to its other texts.", differ: "No group has different labels.", none: "Every group has a label." };

/** @param {import("../app.js").App} app */
export function nearDuplicates(app) {
  const which = h("select", { "aria-label": "Which groups" }, Object.entries(WHICH).map(([value, words]) => h("option", { value }, words)));
  const place = h("div", {});
  let offset = 0;

  const load = () => loadInto(place, () => get("/review/near-duplicates", { which: which.value, offset, limit: PAGE }), show);

  /** @param {any} found */
  function show(found) {
    if (found.state === "off") return fill(place, emptyFace("Near-duplicates are not looked for", "This project was started with --distinct 0."));
    if (found.state === "waiting") return fill(place, waitingFace("The texts are compared in the background"), h("div", { class: "row ends" }, h("button", { onclick: load }, "Look again")));
    if (!found.groups.length) return fill(place, emptyFace("No near-duplicates", EMPTY[/** @type {keyof typeof EMPTY} */ (which.value)]));
    const last = Math.min(offset + found.groups.length, found.total);
    fill(place, h("p", { class: "soft" }, `${number(offset + 1)} to ${number(last)} of ${count(found.total, "group")} with ${number(found.grouped)} texts. ${meaning(found)}`),
      h("ol", { class: "groups" }, found.groups.map((/** @type {any} */ group) => entry(app, group))),
      h("div", { class: "row" }, h("button", { disabled: offset === 0, onclick: () => turn(-PAGE) }, "Previous page"), h("button", { disabled: last >= found.total, onclick: () => turn(PAGE) }, "Next page")));
  }

  /** @param {number} by */
  function turn(by) {
    offset = Math.max(0, offset + by);
    load();
  }

  which.addEventListener("change", () => { offset = 0; load(); });
  load();
  return [h("div", { class: "row filters" }, which), place];
}

/** @param {any} found */
const meaning = (found) => (found.compared ? `Texts are near-duplicates that share at least ${percent(found.similarity)} of their pairs of neighbouring words; the page asks about one of each group.`
  : "This pool is so large that only texts with the same words are grouped; the page asks about one of each group.");

/** @param {import("../app.js").App} app @param {any} group */
function entry(app, group) {
  const actions = h("div", { class: "row" });
  const labels = Object.entries(group.labels);
  const rest = group.size - group.members.length;
  const element = h("li", { "data-group": group.id },
    h("header", {}, h("p", {}, h("h3", {}, count(group.size, "text")), h("span", { class: "soft" }, ` · ${state(group, labels)}`)), actions),
    h("ol", { class: "members" }, group.members.map((/** @type {any} */ each) => member(each))),
    rest > 0 && h("p", { class: "soft" }, `and ${count(rest, "more text")}`));
  draw();

  function draw() {
    element.classList.remove("settled");
    if (group.audit || !group.open || labels.length !== 1) return fill(actions);
    const [[label]] = labels;
    const from = group.members.find((/** @type {any} */ each) => each.label === label).id;
    fill(actions, h("button", { "data-does": "apply", onclick: () => {
      app.deck.offer = { id: from, label, count: group.open };
      app.deck.apply();
      element.classList.add("settled");
      fill(actions, h("span", { class: "soft" }, icon("check"), `Applied to ${count(group.open, "text")}.`), h("button", { class: "plain", "data-does": "undo", onclick: () => { app.deck.takeBack(from); draw(); actions.querySelector("button")?.focus(); } }, "Undo"));
      actions.querySelector("button").focus();
    } }, "Apply ", h("b", { dir: "auto" }, label), ` to ${group.open === 1 ? "the other text" : `${number(group.open)} others`}`));
  }

  return element;
}

/** @param {any} group @param {[string, any][]} labels */
function state(group, labels) {
  if (group.audit) return "one of them is an audit text, so no model learns them and no label is applied";
  if (labels.length > 1) return `labelled differently: ${labels.map(([label, many]) => `${label} (${number(many)})`).join(", ")}`;
  if (!labels.length) return group.open < group.size ? `${number(group.size - group.open)} skipped` : "no label yet";
  return group.open ? `${number(labels[0][1])} labelled, ${number(group.open)} open` : "all labelled";
}

/** @param {any} each */
function member(each) {
  const word = each.label ?? (each.skipped ? "Skipped" : "");
  return h("li", { "data-id": each.id }, h("span", { class: "figure soft", title: "Shared with the first text of the group" }, percent(each.similarity)),
    h("a", { href: `#/label/${encodeURIComponent(each.id)}`, dir: "auto", class: "clipped" }, each.text),
    h("span", { class: "state" }, word && h("span", { class: each.label ? "word" : "soft", dir: "auto" }, word), each.applied && h("span", { class: "soft" }, " applied")));
}
