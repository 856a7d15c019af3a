/** Pseudo-labels of the newest round: accepting one makes it an answer, rejecting one keeps it out for good. */

import { get, newClient, post } from "../api.js";
import { sure } from "../dialogs.js";
import { fill, h, icon, rememberFocus } from "../dom.js";
import { emptyFace, loadInto } from "../faces.js";
import { count, number, percent } from "../words.js";

const PAGE = 50;

/** @param {import("../app.js").App} app */
export function pseudoLabels(app) {
  const label = h("select", { "aria-label": "Only this class" }, h("option", { value: "" }, "All classes"), app.live.classes.map(({ name }) => h("option", { value: name }, name)));
  const region = h("select", { "aria-label": "Only this region", hidden: true });
  const least = h("input", { type: "range", min: 0, max: 100, step: 5, value: 0, "aria-label": "Least confidence" });
  const shown = h("output", { class: "figure" }, "0 %");
  const place = h("div", {});
  const chosen = new Set();
  let offset = 0;

  const load = () => loadInto(place, () => get("/review/pseudo-labels", { label: label.value, min_confidence: Number(least.value) / 100 || null, region: region.value, offset, limit: PAGE }), show);

  /** @param {any} found */
  function show({ rows, total, round, regions }) {
    chosen.clear();
    drawRegions(regions);
    if (!rows.length) {
      const filtered = label.value !== "" || region.value !== "" || Number(least.value) > 0;
      return fill(place, emptyFace("No pseudo-labels", filtered ? "No pseudo-label of this round is like that." : app.live.state.model ? "The method of this project has chosen none in the newest round." : "The model gives them when it is trained for the first time."));
    }
    const boxes = new Map(rows.map((/** @type {any} */ row) => [row.id, h("input", { type: "checkbox", id: `pseudo-${row.id}`, "data-id": row.id, onchange: (/** @type {any} */ event) => {
      if (event.target.checked) chosen.add(row.id);
      else chosen.delete(row.id);
      drawBulk();
    } })]));
    const bulk = h("div", { class: "row bulk" });
    const entries = new Map(rows.map((/** @type {any} */ row) => [row.id, line(row, /** @type {Node} */ (boxes.get(row.id)), judge)]));
    const drawBulk = () => fill(bulk, h("label", { class: "check" }, h("input", { type: "checkbox", checked: chosen.size === entries.size && chosen.size > 0, onchange: (/** @type {any} */ event) => {
      boxes.forEach((box, id) => { box.checked = event.target.checked; if (box.checked && entries.has(id)) chosen.add(id); else chosen.delete(id); });
      drawBulk();
    } }), "Select all"), chosen.size > 0 && [h("button", { onclick: () => judge([...chosen], "accept", true) }, `Accept ${number(chosen.size)}`), h("button", { onclick: () => judge([...chosen], "reject", true) }, `Reject ${number(chosen.size)}`)]);

    /** @param {string[]} ids @param {"accept"|"reject"} verdict @param {boolean} [asks] */
    async function judge(ids, verdict, asks = false) {
      const many = count(ids.length, "pseudo-label");
      const words = verdict === "accept" ? "They are recorded as your own answers, and train the next model as such." : "These texts never get a pseudo-label again.";
      const name = verdict === "accept" ? "Accept" : "Reject";
      const back = rememberFocus(); // to the next one
      if (asks && ids.length > 1 && !(await sure(`${name} ${many}?`, words, name))) return;
      try {
        const reply = await post("/review/pseudo-labels", { ids, verdict, client: newClient() });
        if (reply.state) app.live.take(reply.state);
        for (const id of ids) {
          entries.get(id)?.classList.add("settled");
          fill(/** @type {Element} */ (entries.get(id)?.querySelector(".row")), h("span", { class: "soft" }, verdict === "accept" ? "Accepted: this is your answer now." : "Rejected."));
          entries.delete(id);
          chosen.delete(id);
        }
        drawBulk();
        back();
      } catch (problem) {
        app.toast(/** @type {Error} */ (problem).message);
      }
    }

    drawBulk();
    const last = Math.min(offset + rows.length, total);
    fill(place, h("p", { class: "soft" }, `${number(offset + 1)} to ${number(last)} of ${count(total, "pseudo-label")}${round === null || round === undefined ? "" : ` of round ${round}`}. An export never counts them as human answers.`), bulk,
      h("ol", { class: "log" }, [...entries.values()]),
      h("div", { class: "row" }, h("button", { disabled: offset === 0, onclick: () => turn(-PAGE) }, "Previous page"), h("button", { disabled: last >= total, onclick: () => turn(PAGE) }, "Next page")));
  }

  /** The regions that have pseudo-labels; a method without regions has none to choose. @param {{number: number, pseudo_labels: number}[]} regions */
  function drawRegions(regions) {
    const before = region.value;
    region.hidden = regions.length === 0;
    fill(region, h("option", { value: "" }, "All regions"), regions.map(({ number: each, pseudo_labels: many }, place) =>
      h("option", { value: each, selected: String(each) === before }, `Region ${each}${place === 0 ? ", the hottest" : ""} (${number(many)})`)));
  }

  /** @param {number} by */
  function turn(by) {
    offset = Math.max(0, offset + by);
    load();
  }

  const restart = () => { offset = 0; load(); };
  label.addEventListener("change", restart);
  region.addEventListener("change", restart);
  least.addEventListener("input", () => { shown.value = `${least.value} %`; });
  least.addEventListener("change", restart);
  load();
  return [h("div", { class: "row filters" }, label, region, h("label", { class: "check" }, "Confidence at least", least, shown)), place];
}

/** @param {any} row @param {Node} box @param {(ids: string[], verdict: "accept"|"reject") => void} judge */
function line(row, box, judge) {
  return h("li", { class: "selectable", "data-id": row.id }, box, h("div", {}, h("label", { for: `pseudo-${row.id}`, class: "clipped", dir: "auto" }, row.text),
    h("p", { class: "soft" }, h("b", { dir: "auto", class: "word" }, row.label), ` ${percent(row.confidence)}`, row.region !== null && row.region !== undefined && ` · region ${row.region}`),
    h("div", { class: "row" }, h("button", { "data-does": "accept", onclick: () => judge([row.id], "accept") }, icon("check"), "Accept"), h("button", { "data-does": "reject", onclick: () => judge([row.id], "reject") }, icon("close"), "Reject"))));
}
