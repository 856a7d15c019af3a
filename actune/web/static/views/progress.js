/** How far the project is: quality with its interval, what more answers would bring, and the map of the pool. */

import { get, post } from "../api.js";
import { bars, columns, curve } from "../charts.js";
import { sure } from "../dialogs.js";
import { fill, h } from "../dom.js";
import { emptyFace, loadInto } from "../faces.js";
import { count, interval, number, percent } from "../words.js";
import { poolMap } from "./pool.js";

const MOST_BARS = 12;

/** @type {import("../app.js").View} */
export function progressView(app) {
  const place = h("div", {});
  const map = { leave: () => {} };
  const element = h("section", { class: "page progress-page" }, h("h1", {}, "Progress"), place);
  const told = h("div", {});
  let redraw = () => {};
  const load = () => loadInto(place, () => get("/progress"), (found) => {
    map.leave();
    const pool = poolMap(app);
    map.leave = pool.leave;
    let drawn = 0;
    redraw = () => {
      if (drawn === innerWidth) return; // on a phone, the bar of addresses comes and goes
      drawn = innerWidth;
      fill(told, ...parts(app, found, load));
    };
    redraw();
    fill(place, told, h("section", {}, h("h2", {}, "Map of the pool"), pool.element));
  });
  const resized = () => redraw();
  load();
  app.live.addEventListener("model", load);
  addEventListener("resize", resized);
  return { element, leave: () => { app.live.removeEventListener("model", load); removeEventListener("resize", resized); map.leave(); } };
}

/** @param {import("../app.js").App} app @param {any} found @param {() => void} load */
function parts(app, found, load) {
  const { state } = app.live;
  if (!state.labels) return [emptyFace("Nothing is labelled yet", "Your answers, their pace and the quality of the model are shown here.", h("a", { class: "button main", href: "#/label" }, "Start labelling"))];
  const lines = curveLines(found.curve ?? []);
  const hours = found.hours ?? [];
  return [
    advice(found),
    h("div", { class: "tiles" },
      tile("Labels", number(state.labels), `of ${count(state.project.texts, "text")}`),
      audit(found, state),
      found.audit?.macro_f1 && tile("Macro-F1", percent(found.audit.macro_f1.value), interval(found.audit.macro_f1)),
      tile("Model", state.model ? `Round ${state.model.round}` : "None yet", state.model ? `has learned from ${count(state.model.knows, "answer")}` : "the first one comes after this batch")),
    auditLine(app, found, load),
    found.agreement && people(app, found.agreement),
    h("section", {}, h("h2", {}, "Learning curve"),
      lines.some(({ points }) => points.length > 0) ? curve(lines, "labels") : h("p", { class: "soft" }, "The curve begins with the first model that could be measured."),
      found.forecast && h("p", {}, found.forecast.sentence ?? forecast(found.forecast))),
    h("div", { class: "halves" },
      h("section", {}, h("h2", {}, "Answers per class"), perClass(found.classes ?? [])),
      hours.length > 0 && h("section", {}, h("h2", {}, "Answers per hour"), [columns(hours.slice(-12).map((/** @type {any} */ each) => ({ name: hour(each.at), value: each.answers })), "Answers per hour"), found.seconds_per_answer && h("p", { class: "soft" }, `Half of the answers took less than ${found.seconds_per_answer.toFixed(1)} seconds.`)])),
  ];
}

/** Bars of all classes; of many, those with most answers first and the others folded. @param {{name: string, answers: number, pseudo: number}[]} classes */
function perClass(classes) {
  const rows = classes.map(({ name, answers, pseudo }) => ({ name, value: answers, second: pseudo }));
  if (rows.length <= MOST_BARS) return bars(rows, "Answers per class");
  const sorted = [...rows].sort((one, other) => other.value - one.value);
  const most = Math.max(1, sorted[0].value);
  return [bars(sorted.slice(0, MOST_BARS), "Classes with most answers", most),
    h("details", {}, h("summary", {}, `The other ${count(rows.length - MOST_BARS, "class", "classes")}`), bars(sorted.slice(MOST_BARS), "The other classes", most))];
}

/** @param {any} found */
function advice(found) {
  if (!found.stop) return null;
  return h("p", { class: `verdict ${found.stop.stop ? "stop" : ""}` }, h("b", {}, found.stop.stop ? "You could stop here. " : "Go on. "), found.stop.reason);
}

/** @param {any} found @param {any} state */
function audit(found, state) {
  const planned = `${state.audit.answered} of ${state.audit.planned} audit texts answered`;
  if (!found.audit?.accuracy) return tile("Accuracy", "Not yet", planned);
  return tile("Accuracy", percent(found.audit.accuracy.value), `${interval(found.audit.accuracy)}, from ${count(found.audit.answered, "audit text")}`, "audit-estimate");
}

/** @param {import("../app.js").App} app @param {any} found @param {() => void} load */
function auditLine(app, found, load) {
  const { audit: sample } = app.live.state;
  if (!sample.planned) return null;
  if (sample.released) return h("p", { class: "soft" }, "The audit texts were released: the model learns from them, and they measure nothing any more.");
  const release = h("button", { class: "plain", onclick: async () => {
    const words = "The model will learn from them, and there will be no honest estimate of its quality any more.";
    if (!(await sure("Release the audit texts?", words, "Release them"))) return;
    await post("/audit/release", {}).catch((problem) => app.toast(problem.message));
    await app.live.poll();
    load();
  } }, "Release the audit texts for training");
  return h("p", { class: "soft aside" }, "Accuracy and macro-F1 are measured on texts that were drawn at random and that the model never learns from. ", app.owner && sample.answered > 0 && release);
}

/** How far people agree on the texts that several of them answer. @param {import("../app.js").App} app @param {any} found */
function people(app, { texts, waiting, open, alpha, pairs }) {
  const both = (/** @type {number} */ value) => value.toFixed(2).replace("-", "\u2212");
  const waits = waiting > 0 && `${count(waiting, "text waits", "texts wait")} for another person.`;
  return h("section", { id: "agreement" }, h("h2", {}, "Agreement of people"),
    alpha ? [h("p", {}, "Krippendorff’s alpha ", h("b", {}, both(alpha.value)), ` (95 % interval ${both(alpha.low)} to ${both(alpha.high)}), from ${count(texts, "text")} that two people or more labelled.`),
      h("p", { class: "soft" }, "1 means that they always agree, and 0 that they agree no more often than by chance. ", waits)]
      : h("p", { class: "soft" }, "It can be told when several people have labelled the same texts, with more than one class. ", waits),
    pairs.length > 0 && h("div", { class: "scroll" }, h("table", {}, h("thead", {}, h("tr", {}, h("th", {}, "People"), h("th", { class: "figure" }, "Texts of both"), h("th", { class: "figure" }, "Cohen’s kappa"))),
      h("tbody", {}, pairs.map((/** @type {any} */ pair) => h("tr", {}, h("th", { dir: "auto" }, pair.people.join(" · ")), h("td", { class: "figure" }, number(pair.texts)), h("td", { class: "figure" }, pair.kappa === null ? "–" : both(pair.kappa))))))),
    app.owner && open > 0 && h("p", { class: "row" }, h("a", { class: "button", href: "#/review/adjudication" }, `Decide on ${count(open, "text")}`)));
}

/** @param {any[]} rounds @returns {import("../charts.js").Line[]} */
function curveLines(rounds) {
  const line = (/** @type {string} */ name, /** @type {string} */ look, /** @type {string} */ field) => ({ name, look,
    points: rounds.filter((each) => each[field]).map((each) => ({ x: each.labels, found: typeof each[field] === "number" ? { value: each[field] } : each[field] })) });
  return [line("On the audit texts", "first", "audit"), line("Cross-validated on the labels", "second", "cross_validated")].filter(({ points }) => points.length > 0);
}

/** @param {any} found */
const forecast = (found) => `About ${number(found.answers)} more answers for one more point of accuracy (95 % interval ${number(found.low)} to ${number(found.high)}).`;

/** @param {string} name @param {string} value @param {string} [small] @param {string} [id] */
const tile = (name, value, small, id) => h("div", { class: "tile", id }, h("h3", {}, name), h("p", { class: "value" }, value), small && h("p", { class: "soft" }, small));

/** @param {string} iso */
function hour(iso) {
  const at = new Date(iso);
  return Number.isNaN(at.getTime()) ? iso : `${String(at.getHours()).padStart(2, "0")}:00`;
}
