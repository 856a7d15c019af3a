/** Small drawings as SVG: a learning curve with its intervals, and bars. */

import { h, svg } from "./dom.js";
import { number, percent } from "./words.js";

/**
 * @typedef {{value: number, low?: number|null, high?: number|null}} Found
 * @typedef {{name: string, look: string, points: {x: number, found: Found}[]}} Line
 */

const HEIGHT = 260;
const LEFT = 46;
const RIGHT = 14;
const TOP = 12;
const BOTTOM = 40;

/** As wide as there is room for, so that letters keep their size. @param {number} most */
const width = (most) => Math.max(290, Math.min(most, innerWidth - 40));

/** Shares over a count; each line has its own dashes and marker. @param {Line[]} lines @param {string} along */
export function curve(lines, along) {
  const WIDTH = width(832);
  const points = lines.flatMap((line) => line.points);
  const highest = Math.max(...points.map(({ x }) => x)) * 1.05; // the last point does not touch the edge
  const least = Math.min(...points.map(({ found }) => found.low ?? found.value));
  const floor = Math.max(0, Math.floor((least - 0.02) * 10) / 10);
  const x = (/** @type {number} */ value) => LEFT + (value / (highest || 1)) * (WIDTH - LEFT - RIGHT);
  const y = (/** @type {number} */ share) => TOP + ((1 - share) / (1 - floor || 1)) * (HEIGHT - TOP - BOTTOM);
  const grid = ticks(floor, 1).flatMap((share) => [
    svg("line", { class: "grid", x1: LEFT, x2: WIDTH - RIGHT, y1: y(share), y2: y(share) }),
    svg("text", { class: "tick end", x: LEFT - 8, y: y(share) + 4 }, percent(share)),
  ]);
  const feet = steps(highest).map((value) => svg("text", { class: "tick middle", x: x(value), y: HEIGHT - BOTTOM + 18 }, number(value)));
  const drawn = lines.map((line) => drawLine(line, x, y));
  return h("figure", { class: "chart" },
    svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": lines.map(summary).join(" ") }, grid, feet,
      svg("text", { class: "tick middle", x: (LEFT + WIDTH - RIGHT) / 2, y: HEIGHT - 4 }, along), drawn),
    h("figcaption", {}, lines.map((line) => h("span", { class: `key ${line.look}` }, svg("svg", { viewBox: "0 0 28 12", "aria-hidden": "true" },
      svg("path", { class: `line ${line.look}`, d: "M1 6h26" }), marker(line.look, 14, 6)), line.name))));
}

/** @param {Line} line @param {(value: number) => number} x @param {(share: number) => number} y */
function drawLine(line, x, y) {
  const path = line.points.map(({ x: at, found }, place) => `${place ? "L" : "M"}${x(at).toFixed(1)} ${y(found.value).toFixed(1)}`).join("");
  return svg("g", { class: line.look },
    line.points.map(({ x: at, found }) => (found.low !== null && found.low !== undefined && found.high !== null && found.high !== undefined
      ? svg("path", { class: "whisker", d: `M${x(at)} ${y(found.low)}V${y(found.high)}M${x(at) - 4} ${y(found.low)}h8M${x(at) - 4} ${y(found.high)}h8` }) : null)),
    svg("path", { class: `line ${line.look}`, d: path }),
    line.points.map(({ x: at, found }) => {
      const drawn = marker(line.look, x(at), y(found.value));
      drawn.append(svg("title", {}, `${line.name}, ${number(at)} labels: ${percent(found.value, 1)}`));
      return drawn;
    }));
}

/** @param {string} look @param {number} x @param {number} y */
function marker(look, x, y) {
  return look === "second" ? svg("rect", { class: `dot ${look}`, x: x - 4, y: y - 4, width: 8, height: 8 }) : svg("circle", { class: `dot ${look}`, cx: x, cy: y, r: 4.2 });
}

/** @param {Line} line */
function summary(line) {
  const last = line.points.at(-1);
  return last ? `${line.name}: ${percent(last.found.value)} with ${number(last.x)} labels.` : "";
}

/** Round numbers up to a count. @param {number} highest */
function steps(highest) {
  const rough = highest / 5 || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= rough) ?? power * 10;
  return Array.from({ length: Math.floor(highest / step) + 1 }, (_, place) => Math.round(place * step));
}

/** @param {number} low @param {number} high */
function ticks(low, high) {
  const step = high - low > 0.5 ? 0.2 : 0.1;
  return Array.from({ length: Math.round((high - low) / step) + 1 }, (_, place) => Math.round((high - place * step) * 100) / 100).filter((share) => share >= low);
}

/** Counts by name as bars that lie. @param {{name: string, value: number, second?: number}[]} rows @param {string} what @param {number} [most] the count of a whole bar */
export function bars(rows, what, most = Math.max(1, ...rows.map(({ value }) => value))) {
  return h("ul", { class: "bars counts", "aria-label": what }, rows.map(({ name, value, second }) => h("li", {},
    h("span", { dir: "auto", title: name }, name), h("progress", { max: most, value, "aria-label": `${name}: ${value}` }), h("span", { class: "figure" }, number(value)),
    h("span", { class: "soft figure" }, second ? `+ ${number(second)} pseudo` : ""))));
}

/** Counts over time as bars that stand. @param {{name: string, value: number}[]} rows @param {string} what */
export function columns(rows, what) {
  const most = Math.max(1, ...rows.map(({ value }) => value));
  const WIDTH = width(392);
  const wide = Math.min(56, (WIDTH - 4) / rows.length);
  const tall = 120;
  return h("figure", { class: "chart" }, svg("svg", { viewBox: `0 0 ${WIDTH} ${tall + 44}`, role: "img", "aria-label": `${what}: ${rows.map(({ name, value }) => `${name} ${value}`).join(", ")}` },
    svg("line", { class: "grid", x1: 0, x2: WIDTH, y1: tall + 18, y2: tall + 18 }),
    rows.map(({ name, value }, place) => {
      const height = (value / most) * tall;
      const middle = 2 + wide * (place + 0.5);
      return svg("g", {}, svg("rect", { class: "column-bar", x: middle - wide * 0.36, y: tall + 18 - height, width: wide * 0.72, height, rx: 2 }, svg("title", {}, `${name}: ${value}`)),
        svg("text", { class: "tick middle", x: middle, y: tall + 12 - height }, value ? number(value) : ""),
        (place % Math.ceil(rows.length / (WIDTH / 48)) === 0) && svg("text", { class: "tick middle", x: middle, y: tall + 36 }, name));
    })));
}
