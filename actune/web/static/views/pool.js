/** The map of the pool with what can be done on it, and its regions as a table for who does not point. */

import { get, newClient, post, Refused } from "../api.js";
import { fill, h, icon } from "../dom.js";
import { openDialog } from "../dialogs.js";
import { drawMap, inside, look, nearest, placed, shape } from "../map.js";
import { count, number, percent } from "../words.js";

const HOTTEST = 8; // regions in the table
const SHORTEST_LINE = 6; // points of a line; a shorter one is a click
const FROM_REGION = 10; // texts that a button queues

/** @param {import("../app.js").App} app */
export function poolMap(app) {
  const place = h("div", { class: "pool" });
  let leave = () => {};
  get("/map").then((points) => {
    if (!points.ids?.length) return fill(place, none());
    const built = mapOf(app, points);
    leave = built.leave;
    fill(place, built.nodes);
    built.draw();
  }).catch((problem) => fill(place, problem instanceof Refused && problem.status === 404 ? none() : h("p", { class: "soft" }, problem.message)));
  return { element: place, leave: () => leave() };
}

const none = () => h("p", { class: "soft" }, "The map is drawn when the first model has read the texts.");

/** @param {import("../app.js").App} app @param {import("../map.js").MapPoints} points */
function mapOf(app, points) {
  const canvas = h("canvas", { class: "map", role: "img", tabindex: "-1", "aria-label": `Map of ${count(points.ids.length, "text")}; the regions stand in the table below it.` });
  const shown = { classes: app.live.state.project.classes.map((/** @type {any} */ each) => each.name), heat: false, picked: new Set(), line: /** @type {[number, number][]} */ ([]), zoom: { scale: 1, x: 0, y: 0 } };
  const told = h("div", { class: "told", role: "status", "aria-live": "polite" }, hint());
  const draw = () => canvas.isConnected && drawMap(canvas, points, shown);
  const where = () => {
    const box = canvas.getBoundingClientRect();
    return placed(points, box.width, box.height, shown.zoom);
  };
  const at = (/** @type {PointerEvent} */ event) => /** @type {[number, number]} */ ([event.offsetX, event.offsetY]);

  canvas.addEventListener("pointerdown", (/** @type {PointerEvent} */ event) => {
    canvas.setPointerCapture(event.pointerId);
    shown.line = [at(event)];
  });
  canvas.addEventListener("pointermove", (/** @type {PointerEvent} */ event) => {
    if (!shown.line.length || !canvas.hasPointerCapture(event.pointerId)) return;
    shown.line.push(at(event));
    requestAnimationFrame(draw);
  });
  canvas.addEventListener("pointerup", (/** @type {PointerEvent} */ event) => {
    const { line } = shown;
    shown.line = [];
    if (line.length < SHORTEST_LINE) click(at(event));
    else pick(inside(where(), points.ids.length, line).map((row) => points.ids[row]));
    draw();
  });

  /** @param {[number, number]} point */
  function click([x, y]) {
    const row = nearest(where(), points.ids.length, x, y);
    if (row < 0) return pick([]);
    shown.picked = new Set([points.ids[row]]);
    showText(row);
  }

  /** @param {number} row */
  async function showText(row) {
    const found = await get(`/texts/${encodeURIComponent(points.ids[row])}`).catch((problem) => ({ text: problem.message }));
    const label = points.label[row];
    fill(told, h("p", { dir: "auto", class: "clipped" }, found.text),
      h("p", { class: "soft" }, label ? ["Labelled ", h("b", { dir: "auto" }, label)] : points.predicted[row] ? ["Predicted ", h("b", { dir: "auto" }, points.predicted[row]), ` ${percent(points.confidence[row])}`] : "No prediction yet"),
      h("div", { class: "row" }, h("a", { class: "button", href: `#/label/${encodeURIComponent(points.ids[row])}` }, label ? "Open" : "Label it"), queueButton([points.ids[row]])));
  }

  /** @param {string[]} ids */
  function pick(ids) {
    const free = ids.filter((id) => !points.label[rowOf.get(id) ?? -1]);
    shown.picked = new Set(free);
    if (!free.length) return void fill(told, ids.length ? h("p", {}, "All of these texts are labelled.") : hint());
    fill(told, h("p", {}, `${count(free.length, "unlabelled text")} inside the line.`), h("div", { class: "row" }, queueButton(free),
      h("button", { class: "plain", onclick: () => { pick([]); draw(); } }, "Clear")));
  }
  const rowOf = new Map(points.ids.map((id, row) => [id, row]));

  /** @param {string[]} ids */
  function queueButton(ids) {
    const client = newClient();
    return h("button", { onclick: async (/** @type {any} */ event) => {
      event.target.disabled = true;
      try {
        await post("/queue", { ids, client });
        app.deck.renew();
        app.toast(`${count(ids.length, "text is", "texts are")} asked about next.`, { name: "Label them", does: () => { location.hash = "#/label"; } });
      } catch (problem) {
        event.target.disabled = false;
        app.toast(/** @type {Error} */ (problem).message);
      }
    } }, icon("label"), `Queue ${count(ids.length, "text")}`);
  }

  const heat = h("button", { "aria-pressed": "false", onclick: () => {
    shown.heat = !shown.heat;
    heat.setAttribute("aria-pressed", String(shown.heat));
    draw();
  } }, "Heat of regions");
  const nodes = [
    h("div", { class: "row" }, legend(shown.classes), h("span", { class: "gap" }), points.regions.length > 0 && heat), canvas, told,
    points.regions.length > 0 && regionTable(app, points, queueButton),
  ];
  addEventListener("resize", draw);
  addEventListener("themechange", draw);
  return { nodes, draw, leave: () => { removeEventListener("resize", draw); removeEventListener("themechange", draw); } };
}

const hint = () => h("p", { class: "soft" }, "Click a point to read its text. Draw a line around points to queue them.");

/** @param {string[]} classes */
function legend(classes) {
  return h("ul", { class: "legend" }, classes.slice(0, 12).map((name, place) => {
    const canvas = h("canvas", { width: 24, height: 24, class: "sign", "aria-hidden": "true" });
    const draw = () => {
      const pen = canvas.getContext("2d");
      pen.clearRect(0, 0, 24, 24);
      pen.fillStyle = pen.strokeStyle = getComputedStyle(canvas).getPropertyValue(`--hue${look(place).hue}`);
      shape(pen, look(place).shape, 12, 12, 8);
    };
    requestAnimationFrame(draw);
    addEventListener("themechange", () => canvas.isConnected && draw());
    return h("li", {}, canvas, h("span", { dir: "auto" }, name));
  }), classes.length > 12 && h("li", { class: "soft" }, `and ${classes.length - 12} more`));
}

/** @param {import("../app.js").App} app @param {import("../map.js").MapPoints} points @param {(ids: string[]) => Node} queueButton */
function regionTable(app, points, queueButton) {
  const regions = [...points.regions].sort((one, other) => (other.heat ?? 0) - (one.heat ?? 0)).slice(0, HOTTEST);
  const rows = regions.map((region) => {
    const inIt = points.ids.flatMap((id, row) => (points.region[row] === region.number ? [row] : []));
    const free = inIt.filter((row) => !points.label[row]).sort((one, other) => (points.confidence[one] ?? 1) - (points.confidence[other] ?? 1)).slice(0, FROM_REGION);
    const open = h("button", { class: "plain", onclick: () => regionDialog(region.number, inIt) }, `Region ${region.number}`);
    return h("tr", {}, h("th", { scope: "row" }, open), h("td", { class: "figure" }, region.heat === null ? "–" : region.heat.toFixed(2)), h("td", { class: "figure" }, number(region.size ?? inIt.length)),
      h("td", { class: "figure" }, number(inIt.filter((row) => points.label[row]).length)), h("td", {}, free.length > 0 ? queueButton(free.map((row) => points.ids[row])) : "All labelled"));
  });

  /** @param {number} region @param {number[]} found */
  async function regionDialog(region, found) {
    const list = h("ul", { class: "neighbors" });
    openDialog(`Region ${region}`, [list]);
    for (const row of found.slice(0, 8)) {
      const text = await get(`/texts/${encodeURIComponent(points.ids[row])}`).catch(() => null);
      if (text) list.append(h("li", {}, h("p", { dir: "auto", class: "clipped" }, text.text), h("p", { class: "soft" }, points.label[row] ?? points.predicted[row] ?? "")));
    }
  }

  return h("details", { class: "regions" }, h("summary", {}, "The hottest regions as a table"), h("div", { class: "scroll" }, h("table", {}, h("thead", {}, h("tr", {}, h("th", {}, "Region"), h("th", { class: "figure" }, "Heat"), h("th", { class: "figure" }, "Texts"), h("th", { class: "figure" }, "Labelled"), h("th", {}, h("span", { class: "unseen" }, "Queue")))), h("tbody", {}, rows))));
}
