/** Builds elements. Every string becomes a text node, so no text of a user is ever read as markup. */

const SVG = "http://www.w3.org/2000/svg";

/**
 * @typedef {Node|string|number|null|undefined|false} Child
 * @typedef {Record<string, unknown>} Props
 */

/**
 * An element: functions become listeners (`onclick`), true an empty attribute, null and false none.
 * @param {string} tag @param {Props} [props] @param {...(Child|Child[])} children
 * @returns {any}
 */
export function h(tag, props = {}, ...children) {
  return filled(document.createElement(tag), props, children);
}

/** The same for a drawing. @param {string} tag @param {Props} [props] @param {...(Child|Child[])} children */
export function svg(tag, props = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), props, children);
}

/** @param {Element} element @param {Props} props @param {(Child|Child[])[]} children */
function filled(element, props, children) {
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name.slice(2), /** @type {any} */ (value));
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...nodes(children));
  return element;
}

/** @param {(Child|Child[])[]} children @returns {(Node|string)[]} */
function nodes(children) {
  return children.flat(3).filter((child) => child !== null && child !== undefined && child !== false && child !== "")
    .map((child) => (child instanceof Node ? child : String(child)));
}

/** Puts new children in place of the old. @param {Element} parent @param {...(Child|Child[])} children */
export function fill(parent, ...children) {
  parent.replaceChildren(...nodes(children));
}

/** A key as it is printed. @param {string} key */
export const kbd = (key) => h("kbd", { "aria-hidden": "true" }, key);

const PATHS = {
  check: "M4 10.5l4 4 8-9",
  flag: "M5 17V4h9l-2 3 2 3H5",
  note: "M4 4h12v9l-4 4H4zM12 17v-4h4",
  undo: "M8 5L4 9l4 4M4 9h7a4 4 0 010 8H8",
  redo: "M12 5l4 4-4 4M16 9H9a4 4 0 000 8h3",
  left: "M12 4l-6 6 6 6",
  right: "M8 4l6 6-6 6",
  sun: "M10 6.5a3.5 3.5 0 100 7 3.5 3.5 0 000-7zM10 2v1.5M10 16.5V18M2 10h1.5M16.5 10H18M4.3 4.3l1.1 1.1M14.6 14.6l1.1 1.1M15.7 4.3l-1.1 1.1M5.4 14.6l-1.1 1.1",
  moon: "M16 11.5A6.5 6.5 0 018.5 4 6.5 6.5 0 1016 11.5z",
  spark: "M10 3l1.6 5.4L17 10l-5.4 1.6L10 17l-1.6-5.4L3 10l5.4-1.6z",
  label: "M4 5h12M4 9h12M4 13h7",
  chart: "M4 16V9M8 16V5M12 16v-5M16 16V7",
  review: "M10 4a6 6 0 106 6M10 7v3l2.5 2M13 3l3 1-1 3",
  tags: "M4 4h6l6 6-6 6-6-6zM7.2 7.2h.01",
  out: "M10 3v9M6.5 8.5L10 12l3.5-3.5M4 16h12",
  help: "M7.5 7.5a2.5 2.5 0 114 2c-.9.6-1.5 1.1-1.5 2.3M10 14.8h.01",
  close: "M5 5l10 10M15 5L5 15",
  search: "M9 4a5 5 0 100 10A5 5 0 009 4zM13 13l3.5 3.5",
  ear: "M4 8v4h3l4 3V5L7 8z",
};

/** A line drawing beside a word; it says nothing to a screen reader. @param {keyof typeof PATHS} name */
export function icon(name) {
  return svg("svg", { class: "icon", viewBox: "0 0 20 20", "aria-hidden": "true" }, svg("path", { d: PATHS[name] }));
}

/**
 * Where the focus is, to give it back when the page was drawn anew meanwhile: to the button of its kind in the same
 * place, else to the page, so that nobody begins at its top again.
 */
export function rememberFocus() {
  const before = /** @type {HTMLElement|null} */ (document.activeElement);
  const kind = before?.dataset.does;
  const all = () => [.../** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("main [data-does]"))].filter((each) => each.dataset.does === kind && each.offsetParent !== null);
  const place = kind && before ? all().indexOf(before) : -1;
  return () => {
    if (document.activeElement && document.activeElement !== document.body) return;
    const found = place < 0 ? [] : all();
    (found[Math.min(place, found.length - 1)] ?? document.getElementById("main"))?.focus();
  };
}

/** Says something to a screen reader. @param {"saved"|"news"} where @param {string} words */
export function say(where, words) {
  const place = document.getElementById(`${where}-live`);
  if (place) place.textContent = place.textContent === words ? `${words}\u00a0` : words; // the same words again are news, too
}
