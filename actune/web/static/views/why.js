/** Why the model asks about a text: how unsure it is, where the text lies, and what is near. */

import { get } from "../api.js";
import { fill, h, icon } from "../dom.js";
import { loadInto } from "../faces.js";
import { count, percent } from "../words.js";

/** @param {import("../app.js").App} app */
export function whyPanel(app) {
  const place = h("div", {});
  const element = h("aside", { class: "why", hidden: true, "aria-label": "Why this text?" },
    h("header", {}, h("h2", {}, "Why this text?"), h("button", { class: "plain round", "aria-label": "Close", onclick: () => panel.toggle() }, icon("close"))), place);
  /** @type {import("../deck.js").Card|null} */
  let card = null;
  /** @type {string|null} */
  let loaded = null;

  function load() {
    if (element.hidden || !card || loaded === card.id) return;
    const { id } = card;
    loaded = id;
    loadInto(place, () => get(`/texts/${encodeURIComponent(id)}/why`), (found) => loaded === id && fill(place, reasons(app, found)));
  }

  const panel = {
    element,
    get open() {
      return !element.hidden;
    },
    toggle() {
      element.hidden = !element.hidden;
      load();
      app.deck.changed();
    },
    /** @param {import("../deck.js").Card|null} shown */
    show(shown) {
      card = shown;
      if (!card) fill(place);
      load();
    },
    leave() {
      loaded = null;
    },
  };
  return panel;
}

/** @param {import("../app.js").App} app @param {any} found */
function reasons(app, found) {
  const hidden = found.audit || !app.suggestions; // predictions would lead the answer
  const top = hidden ? [] : found.top ?? [];
  const neighbors = found.neighbors ?? [];
  const memory = hidden ? [] : found.memory ?? [];
  return [
    h("p", {}, found.sentence ?? opening(found)),
    top.length > 0 && h("section", {}, h("h3", {}, "The model hesitates between"), h("ul", { class: "bars" }, top.map((/** @type {any} */ each) => h("li", {},
      h("span", { dir: "auto" }, each.label), h("progress", { max: 1, value: each.probability, "aria-label": each.label }), h("span", { class: "figure" }, percent(each.probability)))))),
    h("dl", { class: "facts" },
      !hidden && found.margin !== null && found.margin !== undefined && fact("Margin", percent(found.margin), "The first class minus the second: small is unsure"),
      found.entropy !== null && found.entropy !== undefined && !hidden && fact("Entropy", found.entropy.toFixed(2), "0 is sure"),
      found.region && fact("Region", `${found.region.number}${found.region.size ? `, ${count(found.region.size, "text")}` : ""}`, "Texts that resemble each other"),
      found.region?.heat !== null && found.region?.heat !== undefined && fact("Heat", found.region.heat.toFixed(2), "How unsure the model is in this region"),
      found.round !== null && found.round !== undefined && fact("Model", `of round ${found.round}`, "Rounds are counted from 0")),
    neighbors.length > 0 && h("section", {}, h("h3", {}, "Nearest labelled texts"), h("ul", { class: "neighbors" }, neighbors.map((/** @type {any} */ each) => h("li", {},
      h("p", { dir: "auto" }, each.text), h("p", { class: "soft" }, h("b", { dir: "auto" }, each.label), ` · similarity ${each.similarity.toFixed(2)}`))))),
    memory.length > 0 && h("section", {}, h("h3", {}, "Predictions over the rounds"), h("ol", { class: "memory" }, memory.map((/** @type {any} */ each) => h("li", {},
      h("span", { class: "soft" }, `Round ${each.round}`), h("span", { dir: "auto" }, each.label), h("span", { class: "figure" }, percent(each.confidence)))))),
    hidden && h("p", { class: "soft" }, found.audit ? "Predictions are hidden: an audit text is answered without help." : "Predictions are hidden, as suggestions are."),
  ];
}

/** @param {any} found */
function opening(found) {
  if (found.audit) return "This text was drawn at random. It measures the quality of the model, which never learns from it.";
  if (found.picked) return "You queued this text.";
  if ((found.round === null || found.round === undefined) && found.memory?.length) return "No model asked for this text: it was drawn at random, or for somebody who would have had to wait for the next model.";
  if (found.round === null || found.round === undefined) return "No model has been trained yet: this text was drawn at random, or stands for many others.";
  if (found.region) return "The model is unsure in the region of this text, so an answer here teaches it much.";
  return "The method of this project chose this text: an answer here should teach the model much.";
}

/** @param {string} name @param {string} value @param {string} meaning */
const fact = (name, value, meaning) => h("div", { title: meaning }, h("dt", {}, name), h("dd", {}, value));
