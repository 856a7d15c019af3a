/** The map of the pool on a canvas: a click finds a text, a closed line around texts picks them. */

/**
 * @typedef {{ids: string[], x: number[], y: number[], predicted: (string|null)[], confidence: (number|null)[], label: (string|null)[],
 *   state: string[], region: (number|null)[], regions: {number: number, heat: number|null, size: number}[]}} MapPoints
 */

const MARGIN = 18; // pixels around the outermost points
const REACH = 12; // pixels from which a click still finds a point
const SHAPES = ["disc", "square", "triangle", "diamond", "cross", "ring"];

/** How a class is drawn: a colour and a shape, so that neither alone has to tell it. @param {number} place */
export const look = (place) => ({ hue: (place % 6) + 1, shape: SHAPES[(place + Math.floor(place / 6)) % SHAPES.length] });

/**
 * Draws the points; it returns how to draw again, as after a change of size or colours.
 * @param {HTMLCanvasElement} canvas @param {MapPoints} points
 * @param {{classes: string[], heat: boolean, picked: Set<string>, line: [number, number][], zoom: {scale: number, x: number, y: number}}} shown
 */
export function drawMap(canvas, points, shown) {
  const box = canvas.getBoundingClientRect();
  const ratio = devicePixelRatio || 1;
  canvas.width = Math.round(box.width * ratio);
  canvas.height = Math.round(box.height * ratio);
  const pen = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  pen.scale(ratio, ratio);
  const style = getComputedStyle(canvas);
  const colour = (/** @type {string} */ name) => style.getPropertyValue(name).trim();
  const at = placed(points, box.width, box.height, shown.zoom);
  const heat = new Map(points.regions.map((each) => [each.number, each.heat ?? 0]));
  const hottest = Math.max(1e-9, ...heat.values());
  const soft = colour("--soft");
  const hues = [1, 2, 3, 4, 5, 6].map((hue) => colour(`--hue${hue}`));
  const places = new Map(shown.classes.map((name, place) => [name, place]));
  for (let row = 0; row < points.ids.length; row += 1) {
    const [x, y] = at(row);
    if (x < -9 || y < -9 || x > box.width + 9 || y > box.height + 9) continue;
    const human = points.label[row] !== null && points.label[row] !== undefined;
    const name = points.label[row] ?? points.predicted[row];
    const place = name === null || name === undefined ? undefined : places.get(name);
    const warm = heat.get(points.region[row] ?? -1);
    pen.globalAlpha = human ? 1 : shown.heat ? 0.12 + 0.68 * ((warm ?? 0) / hottest) : 0.5;
    pen.fillStyle = pen.strokeStyle = shown.heat && !human ? colour("--hue6") : place === undefined ? soft : hues[place % 6];
    shape(pen, shown.heat && !human ? "disc" : place === undefined ? "disc" : look(place).shape, x, y, human ? 5 : 2.6);
    if (shown.picked.has(points.ids[row])) {
      pen.globalAlpha = 1;
      pen.strokeStyle = colour("--ink");
      pen.lineWidth = 1.5;
      pen.beginPath();
      pen.arc(x, y, 7, 0, Math.PI * 2);
      pen.stroke();
    }
  }
  pen.globalAlpha = 1;
  if (shown.line.length > 1) {
    pen.strokeStyle = colour("--accent");
    pen.lineWidth = 2;
    pen.setLineDash([5, 4]);
    pen.beginPath();
    shown.line.forEach(([x, y], place) => (place ? pen.lineTo(x, y) : pen.moveTo(x, y)));
    pen.closePath();
    pen.stroke();
  }
}

/** @param {CanvasRenderingContext2D} pen @param {string} kind @param {number} x @param {number} y @param {number} r */
export function shape(pen, kind, x, y, r) {
  pen.beginPath();
  if (kind === "square") pen.rect(x - r * 0.9, y - r * 0.9, r * 1.8, r * 1.8);
  else if (kind === "triangle") pen.moveTo(x, y - r * 1.2), pen.lineTo(x + r * 1.1, y + r * 0.8), pen.lineTo(x - r * 1.1, y + r * 0.8);
  else if (kind === "diamond") pen.moveTo(x, y - r * 1.3), pen.lineTo(x + r * 1.1, y), pen.lineTo(x, y + r * 1.3), pen.lineTo(x - r * 1.1, y);
  else if (kind === "cross") pen.rect(x - r * 1.1, y - r * 0.4, r * 2.2, r * 0.8), pen.rect(x - r * 0.4, y - r * 1.1, r * 0.8, r * 2.2);
  else pen.arc(x, y, r, 0, Math.PI * 2);
  if (kind === "ring") pen.lineWidth = Math.max(1, r * 0.4), pen.stroke();
  else pen.fill();
}

/** Where a row lies on a canvas of this size. @param {MapPoints} points @param {number} width @param {number} height @param {{scale: number, x: number, y: number}} zoom */
export function placed(points, width, height, zoom) {
  const [left, right] = bounds(points.x);
  const [bottom, top] = bounds(points.y);
  const across = (width - 2 * MARGIN) / (right - left || 1);
  const up = (height - 2 * MARGIN) / (top - bottom || 1);
  return (/** @type {number} */ row) => /** @type {[number, number]} */ ([
    (MARGIN + (points.x[row] - left) * across) * zoom.scale + zoom.x, (MARGIN + (top - points.y[row]) * up) * zoom.scale + zoom.y]);
}

/** @param {number[]} values @returns {[number, number]} */
function bounds(values) {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return [low, high];
}

/** The row under a click, or none. @param {(row: number) => [number, number]} at @param {number} rows @param {number} x @param {number} y */
export function nearest(at, rows, x, y) {
  let [best, least] = [-1, REACH ** 2];
  for (let row = 0; row < rows; row += 1) {
    const [px, py] = at(row);
    const distance = (px - x) ** 2 + (py - y) ** 2;
    if (distance < least) [best, least] = [row, distance];
  }
  return best;
}

/** The rows inside a closed line. @param {(row: number) => [number, number]} at @param {number} rows @param {[number, number][]} line */
export function inside(at, rows, line) {
  const found = [];
  for (let row = 0; row < rows; row += 1) if (holds(line, at(row))) found.push(row);
  return found;
}

/** @param {[number, number][]} line @param {[number, number]} point */
function holds(line, [x, y]) {
  let within = false;
  for (let here = 0, before = line.length - 1; here < line.length; before = here, here += 1) {
    const [[x1, y1], [x2, y2]] = [line[here], line[before]];
    if (y1 > y !== y2 > y && x < ((x2 - x1) * (y - y1)) / (y2 - y1) + x1) within = !within;
  }
  return within;
}
