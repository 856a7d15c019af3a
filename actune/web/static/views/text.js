/** The text on the table, with what was said about it. */

import { fill, h, icon } from "../dom.js";
import { number } from "../words.js";

const LONG = 700; // characters; a longer text folds
const SHORT = 120; // up to here the letters are large
const FOLDED = 6_000; // characters behind a fold; browsers need long for the lines of a million
const STEP = 50_000; // and so many more with each unfolding
const LONGEST_NOTE = 10_000; // characters that the server takes

/** @param {import("../app.js").App} app @param {import("../deck.js").Card} card */
export function textCard(app, card) {
  const long = card.text.length > LONG || card.text.split("\n").length > 14;
  const body = h("div", { class: `text ${card.text.length <= SHORT ? "large" : ""} ${long ? "folded" : ""}`, id: "text", dir: "auto", tabindex: "-1", lang: "" }, beginning(card.text, FOLDED));
  const unfold = long && h("button", { class: "plain", "aria-expanded": "false", onclick: fold }, unfolding(0, card.text.length));
  const note = h("div", { class: "note" });
  const marks = h("p", { class: "marks" },
    card.audit && h("span", { class: "mark-word", title: "Drawn at random to measure the quality; without a suggestion, and not trained on" }, icon("ear"), "Audit text"),
    card.picked && h("span", { class: "mark-word" }, icon("tags"), "You queued this text"),
    card.flag && h("span", { class: "mark-word" }, icon("flag"), "Flagged"),
    card.word && h("span", { class: "mark-word" }, icon("check"), said(card.word)));
  const meta = card.meta && Object.keys(card.meta).length > 0 && h("details", { class: "meta" }, h("summary", {}, "Details"),
    h("dl", {}, Object.entries(card.meta).flatMap(([name, value]) => [h("dt", { dir: "auto" }, name), h("dd", { dir: "auto" }, String(value))])));
  showNote();

  let seen = 0; // characters that are unfolded

  function fold() {
    if (!long) return;
    seen = seen >= card.text.length ? 0 : seen + STEP;
    body.classList.toggle("folded", seen === 0);
    fill(body, beginning(card.text, seen || FOLDED));
    unfold.setAttribute("aria-expanded", String(seen > 0));
    fill(unfold, unfolding(seen, card.text.length));
  }

  function showNote() {
    fill(note, card.note && h("p", { dir: "auto" }, icon("note"), card.note));
  }

  /** @type {HTMLTextAreaElement|null} */
  let field = null; // while a note is written

  function openNote() {
    if (field) return field.focus();
    field = /** @type {HTMLTextAreaElement} */ (h("textarea", { rows: 2, dir: "auto", "aria-label": "Note on this text", placeholder: "A note on this text; Enter saves it, Escape leaves it as it was" }));
    field.value = card.note ?? "";
    field.addEventListener("keydown", (event) => {
      if (event.key === "Escape") closeNote();
      else if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
        event.preventDefault();
        const { length } = /** @type {HTMLTextAreaElement} */ (field).value.trim();
        if (length <= LONGEST_NOTE) saveNote();
        else fill(problem, `A note has at most ${number(LONGEST_NOTE)} characters, and this one has ${number(length)}.`);
      }
    });
    const problem = h("p", { class: "problem", role: "alert" });
    fill(note, field, problem);
    field.focus();
  }

  function closeNote() {
    field = null;
    showNote();
    body.focus();
    app.deck.changed(); // what came meanwhile is drawn now
  }

  /** Saves what is written, if a note is open. */
  function saveNote() {
    if (!field) return;
    const written = field.value.trim();
    const old = card.note ?? "";
    field = null;
    if (written !== old) app.deck.remark({ note: written }, card);
    closeNote();
  }

  return {
    element: h("article", { "aria-label": "Text to label" }, marks, body, unfold, note, meta), fold, openNote, saveNote, focus: () => body.focus({ preventScroll: true }),
    get writing() {
      return field !== null;
    },
  };
}

/** So many characters of a text, and no half of one. @param {string} text @param {number} most */
const beginning = (text, most) => (text.length <= most ? text : text.slice(0, most).replace(/[\ud800-\udbff]$/, ""));

/** What the button below a long text does next. @param {number} seen @param {number} all */
function unfolding(seen, all) {
  if (seen >= all) return "Fold the text";
  if (seen === 0 && all <= STEP) return `Show all ${number(all)} characters`;
  return seen === 0 ? `Show more of ${number(all)} characters` : `Show more: ${number(seen)} of ${number(all)} characters are shown`;
}

/** @param {import("../deck.js").Word} word */
export function said(word) {
  if (word.kind === "label") return word.label ?? "";
  if (word.kind === "decide") return word.label === null ? "Decided: left out" : `Decided: ${word.label}`;
  return word.kind === "unsure" ? "Unsure" : "Skipped";
}
