/** What one leaves with: the labelled file, and the models. */

import { address, get, post } from "../api.js";
import { fill, h, icon } from "../dom.js";
import { download } from "../downloads.js";
import { emptyFace, loadInto } from "../faces.js";
import { count, moment, percent, size } from "../words.js";

const FORMATS = [["csv", "CSV", "for a spreadsheet"], ["xlsx", "Excel", "for a spreadsheet"], ["jsonl", "JSON lines", "for programs"], ["parquet", "Parquet", "for data frames"],
  ["label-studio", "Label Studio", "tasks, as JSON"], ["argilla", "Argilla", "records, as JSON"]];

/** @type {import("../app.js").View} */
export function exportView(app) {
  if (!app.owner) return { element: h("section", { class: "page export-page" }, emptyFace("Only an owner exports", "An owner of this project can download the labelled texts and the models.")) };
  const models = h("div", {});
  const training = h("div", { class: "row" });
  const element = h("section", { class: "page export-page" }, h("h1", {}, "Export"), answers(app), h("section", {}, h("h2", {}, "Models"), training, models));
  const load = () => loadInto(models, () => get("/models"), ({ models: found }) => fill(models, found.length ? table(app, found) : h("p", { class: "soft" }, "There is no model yet. It can be downloaded here when it is trained.")));
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
  const all = h("input", { type: "checkbox", id: "with-all" });
  const raw = h("input", { type: "checkbox", id: "raw" });
  const place = h("div", { class: "cards" });
  const draw = () => fill(place, FORMATS.map(([format, name, what]) => download(app, { class: "card", "data-format": format,
    href: address("/export", { format, pseudo: pseudo.checked ? 1 : 0, all: all.checked ? 1 : 0, raw: raw.checked ? 1 : 0 }) }, icon("out"), h("b", {}, name), h("span", { class: "soft" }, what))));
  for (const box of [pseudo, all, raw]) box.addEventListener("change", draw);
  draw();
  return h("section", {}, h("h2", {}, "Labelled texts"), h("p", { class: "soft" }, `${count(app.live.state.labels, "label")} of ${count(app.live.state.project.texts, "text")}, each with who gave it.`), place,
    h("label", { class: "check" }, pseudo, "Include pseudo-labels; the column source says which they are, and other tools get them as predictions"),
    h("label", { class: "check" }, all, "Include all texts, also those that were skipped or have no label yet"),
    h("label", { class: "check" }, raw, "Leave cells as they are: by default, a cell of a CSV or Excel file that a spreadsheet could run as a formula is quoted"),
    h("p", { class: "soft" }, "Label Studio and Argilla are told the classes first: ", classesFor(app, "label-studio", "labelling page for Label Studio"), " or ", classesFor(app, "argilla", "settings for Argilla"), "."));
}

/** @param {import("../app.js").App} app @param {string} format @param {string} words */
const classesFor = (app, format, words) => download(app, { "data-config": format, href: address("/export", { format, config: 1 }) }, words);

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

/** @param {import("../app.js").App} app @param {any[]} models */
function table(app, models) {
  const columns = [["Model", null], ["Labels", "figure"], ["Accuracy", "figure wide-only"], ["Size", "figure wide-only"], ["", null]];
  return h("div", { class: "scroll" }, h("table", {}, h("thead", {}, h("tr", {}, columns.map(([name, look]) => h("th", { class: look }, name)))),
    h("tbody", {}, models.map((each) => h("tr", {}, h("th", { scope: "row" }, each.final ? "Final model" : `Round ${each.round}`, each.newest && h("span", { class: "soft" }, " newest"), each.at && h("div", { class: "soft" }, moment(each.at))),
      h("td", { class: "figure" }, each.labels ?? "–"), h("td", { class: "figure wide-only" }, each.accuracy ? percent(each.accuracy.value ?? each.accuracy) : "–"), h("td", { class: "figure wide-only" }, each.bytes ? size(each.bytes) : "–"),
      h("td", {}, download(app, { class: "button", "data-model": each.name, "aria-label": `Download ${each.final ? "the final model" : `the model of round ${each.round}`}`, href: address(`/models/${encodeURIComponent(each.name)}`) }, icon("out"), h("span", {}, "Download"))))))));
}
