/** What one leaves with: the labelled file, and the models. */

import { address, get, post } from "../api.js";
import { fill, h, icon } from "../dom.js";
import { emptyFace, loadInto } from "../faces.js";
import { count, moment, percent, size } from "../words.js";

const FORMATS = [["csv", "CSV", "for a spreadsheet"], ["xlsx", "Excel", "for a spreadsheet"], ["jsonl", "JSON lines", "for programs"], ["parquet", "Parquet", "for data frames"]];

/** @type {import("../app.js").View} */
export function exportView(app) {
  if (!app.owner) return { element: h("section", { class: "page export-page" }, emptyFace("Only an owner exports", "An owner of this project can download the labelled texts and the models.")) };
  const models = h("div", {});
  const training = h("div", { class: "row" });
  const element = h("section", { class: "page export-page" }, h("h1", {}, "Export"), answers(app), h("section", {}, h("h2", {}, "Models"), training, models));
  const load = () => loadInto(models, () => get("/models"), ({ models: found }) => fill(models, found.length ? table(found) : h("p", { class: "soft" }, "There is no model yet. It can be downloaded here when it is trained.")));
  const draw = () => fill(training, starters(app));
  let state = "";
  const changed = () => {
    const now = `${app.live.state.training.state} ${app.live.state.labels > 0}`;
    if (now === state) return;
    if (state && app.live.state.training.state === "idle") load();
    state = now;
    draw();
  };
  load();
  changed();
  app.live.addEventListener("change", changed);
  app.live.addEventListener("model", load);
  return { element, leave: () => { app.live.removeEventListener("change", changed); app.live.removeEventListener("model", load); } };
}

/** @param {import("../app.js").App} app */
function answers(app) {
  const pseudo = h("input", { type: "checkbox", id: "with-pseudo" });
  const raw = h("input", { type: "checkbox", id: "raw" });
  const place = h("div", { class: "cards" });
  const draw = () => fill(place, FORMATS.map(([format, name, what]) => h("a", { class: "card", "data-format": format, download: true,
    href: address("/export", { format, pseudo: pseudo.checked ? 1 : 0, raw: raw.checked ? 1 : 0 }) }, icon("out"), h("b", {}, name), h("span", { class: "soft" }, what))));
  pseudo.addEventListener("change", draw);
  raw.addEventListener("change", draw);
  draw();
  return h("section", {}, h("h2", {}, "Labelled texts"), h("p", { class: "soft" }, `${count(app.live.state.labels, "label")} of ${count(app.live.state.project.texts, "text")}, each with who gave it and when.`), place,
    h("label", { class: "check" }, pseudo, "Include pseudo-labels; the column source says which they are"),
    h("label", { class: "check" }, raw, "Leave cells as they are: by default, a cell of a CSV or Excel file that a spreadsheet could run as a formula is quoted"));
}

/** @param {import("../app.js").App} app */
function starters(app) {
  const busy = !["idle", "failed"].includes(app.live.state.training.state);
  const start = (/** @type {string} */ path) => async () => {
    try {
      await post(path, {});
      await app.live.poll();
    } catch (problem) {
      app.toast(/** @type {Error} */ (problem).message);
    }
  };
  return [h("button", { id: "train", disabled: busy || !app.live.state.labels, onclick: start("/train") }, "Train now"),
    h("button", { id: "finish", disabled: busy || !app.live.state.labels, title: "Trains the whole encoder on all answers; this takes longer than a round", onclick: start("/finish") }, "Fine-tune the final model"),
    busy && h("span", { class: "soft" }, "A model is being trained.")];
}

/** @param {any[]} models */
function table(models) {
  const columns = [["Model", null], ["Labels", "figure"], ["Accuracy", "figure wide-only"], ["Size", "figure wide-only"], ["", null]];
  return h("div", { class: "scroll" }, h("table", {}, h("thead", {}, h("tr", {}, columns.map(([name, look]) => h("th", { class: look }, name)))),
    h("tbody", {}, models.map((each) => h("tr", {}, h("th", { scope: "row" }, each.final ? "Final model" : `Round ${each.round}`, each.newest && h("span", { class: "soft" }, " newest"), each.at && h("div", { class: "soft" }, moment(each.at))),
      h("td", { class: "figure" }, each.labels ?? "–"), h("td", { class: "figure wide-only" }, each.accuracy ? percent(each.accuracy.value ?? each.accuracy) : "–"), h("td", { class: "figure wide-only" }, each.bytes ? size(each.bytes) : "–"),
      h("td", {}, h("a", { class: "button", download: true, href: address(`/models/${encodeURIComponent(each.name)}`) }, icon("out"), "Download")))))));
}
