/** The classes as buttons with their keys, and a search where there are many. */

import { fill, h, icon, kbd, say } from "../dom.js";
import { classKeys, MANY } from "../keys.js";
import { count } from "../words.js";

/** @param {import("../app.js").App} app @param {(label: string) => void} choose */
export function classPicker(app, choose) {
  const grid = h("div", { class: "classes", role: "group", "aria-label": "Classes" });
  const field = h("input", { type: "search", "aria-label": "Search the classes", placeholder: "Type to search the classes", dir: "auto", autocomplete: "off", spellcheck: "false" });
  const search = h("div", { class: "search" }, icon("search"), field);
  const element = h("div", { class: "picker" }, search, grid);
  /** @type {import("../deck.js").Card|null} */
  let card = null;
  /** @type {{label: string}|null} */
  let hint = null;
  let marked = 0; // the match that Enter takes

  const many = () => app.live.classes.length > MANY;
  const matches = () => ranked(app.live.classes, field.value);

  function drawButtons() {
    const found = matches();
    const keys = classKeys(app.live.classes.length);
    const searching = field.value.trim() !== "";
    marked = Math.min(marked, Math.max(0, found.length - 1));
    grid.classList.toggle("many", many());
    fill(grid, found.length === 0 ? h("p", { class: "soft" }, "No class has these letters.") : found.map((each, place) => {
      const key = keys[place];
      const chosen = card?.word?.kind === "label" && card.word.label === each.name;
      return h("button", {
        class: `class ${hint?.label === each.name ? "suggested" : ""} ${searching && place === marked ? "marked" : ""}`, "data-label": each.name,
        "aria-pressed": chosen ? "true" : "false", "aria-keyshortcuts": key, title: each.description ?? null, onclick: () => choose(each.name),
      }, key ? kbd(key.toUpperCase()) : h("span", { class: "no-key" }), h("span", { class: "name", dir: "auto" }, each.name), chosen ? icon("check") : hint?.label === each.name && icon("spark"));
    }));
    grid.querySelector(".marked")?.scrollIntoView({ block: "nearest" });
    if (searching && document.activeElement === field) say("news", found.length ? `${count(found.length, "class", "classes")}. Enter takes ${found[marked].name}.` : "No class has these letters.");
  }

  field.addEventListener("input", () => { marked = 0; drawButtons(); });
  field.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    const found = matches();
    if (event.key === "Escape" || (event.key === "Backspace" && field.value === "")) leave();
    else if (event.key === "ArrowDown") move(1);
    else if (event.key === "ArrowUp") move(-1);
    else if (event.key === "Enter" && !event.isComposing && found.length) {
      leave();
      choose(found[marked].name);
    } else return;
    event.preventDefault();

    /** @param {number} by */
    function move(by) {
      marked = (marked + by + found.length) % Math.max(1, found.length);
      drawButtons();
    }
  });

  function leave() {
    field.blur();
    document.getElementById("text")?.focus();
    clear();
  }

  function clear() {
    if (!field.value) return;
    field.value = "";
    marked = 0;
    drawButtons();
  }

  return {
    element,
    clear,
    get many() {
      return many();
    },
    /** @param {import("../deck.js").Card} shown @param {{label: string}|null} suggestion */
    draw(shown, suggestion) {
      [card, hint] = [shown, suggestion];
      search.hidden = !many();
      drawButtons();
    },
    get searching() {
      return document.activeElement === field;
    },
    focus: () => field.focus(),
    /** @param {string|null} key @returns {string|null} */
    byKey(key) {
      if (key === null) return null;
      const place = classKeys(app.live.classes.length).indexOf(key.toLowerCase());
      return place < 0 ? null : matches()[place]?.name ?? null;
    },
    /** @param {string} letters */
    find(letters) {
      if (!many()) return;
      field.focus();
      field.value += letters;
      marked = 0;
      drawButtons();
    },
  };
}

/** Classes that have these letters, those that begin with them first. @template {{name: string}} T @param {T[]} classes @param {string} written */
export function ranked(classes, written) {
  const sought = written.trim().toLowerCase();
  if (!sought) return classes;
  const rank = (/** @type {string} */ name) => (name.startsWith(sought) ? 0 : new RegExp(`[^\\p{L}\\p{N}]${escaped(sought)}`, "u").test(name) ? 1 : name.includes(sought) ? 2 : 3);
  return classes.map((each) => ({ each, at: rank(each.name.toLowerCase()) })).filter(({ at }) => at < 3).sort((one, other) => one.at - other.at).map(({ each }) => each);
}

/** @param {string} letters */
const escaped = (letters) => letters.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
