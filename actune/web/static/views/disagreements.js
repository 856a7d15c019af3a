/** Labelled texts on which the model says something else, its surest first: slips are likely there. */

import { get } from "../api.js";
import { fill, h } from "../dom.js";
import { emptyFace, loadInto } from "../faces.js";
import { percent } from "../words.js";

/** @param {import("../app.js").App} app */
export function disagreements(app) {
  const place = h("div", {});
  loadInto(place, () => get("/review/disagreements"), ({ rows }) => {
    if (!rows.length) return fill(place, emptyFace("No disagreements", app.live.state.model ? "The model predicts the label that you gave, for all labelled texts." : "They can be seen when the first model is trained."));
    fill(place, h("p", { class: "soft" }, "The model predicts another class for these texts; the ones that it is surest about come first. Some will be slips, in others you are right."),
      h("ol", { class: "log" }, rows.map((/** @type {any} */ row) => line(app, row))));
  });
  return [place];
}

/** @param {import("../app.js").App} app @param {any} row */
function line(app, row) {
  const actions = h("div", { class: "row" });
  const seen = { id: row.id, label: row.label, predicted: row.predicted };
  const entry = h("li", { "data-id": row.id }, h("p", { dir: "auto", class: "clipped" }, row.text),
    h("p", { class: "soft" }, "You: ", h("b", { dir: "auto" }, row.label), " · Model: ", h("b", { dir: "auto" }, row.predicted), ` ${percent(row.confidence)}`), actions);
  ask();

  function ask() {
    entry.classList.remove("settled");
    fill(actions,
      h("button", { "data-does": "keep", onclick: keep }, "Keep ", h("b", { dir: "auto" }, row.label)),
      h("button", { "data-does": "change", onclick: change }, "Change to ", h("b", { dir: "auto" }, row.predicted)),
      h("a", { class: "button plain", href: `#/label/${encodeURIComponent(row.id)}` }, "Open"));
  }

  function keep() {
    app.outbox.post("/review/disagreements", { ...seen, keep: true });
    settle("Kept. It comes back only if the prediction changes.", () => app.outbox.post("/review/disagreements", { ...seen, keep: false }));
  }

  function change() {
    const before = { kind: "label", label: row.label };
    const after = { kind: "label", label: row.predicted };
    app.deck.step({ id: row.id, before, after });
    settle(`Changed to ${row.predicted}.`, () => app.deck.step({ id: row.id, before: after, after: before }));
  }

  /** @param {string} words @param {() => void} back */
  function settle(words, back) {
    fill(actions, h("span", { class: "soft" }, words), h("button", { class: "plain", "data-does": "undo", onclick: () => { back(); ask(); actions.querySelector("button").focus(); } }, "Undo"));
    entry.classList.add("settled");
    actions.querySelector("button").focus();
  }

  return entry;
}
