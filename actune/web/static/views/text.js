/** The text on the table, with what was said about it. */

import { fill, h, icon } from "../dom.js";

const LONG = 700; // characters; a longer text folds
const SHORT = 120; // up to here the letters are large

/** @param {import("../app.js").App} app @param {import("../deck.js").Card} card */
export function textCard(app, card) {
  const long = card.text.length > LONG || card.text.split("\n").length > 14;
  const body = h("div", { class: `text ${card.text.length <= SHORT ? "large" : ""} ${long ? "folded" : ""}`, id: "text", dir: "auto", tabindex: "-1", lang: "" }, card.text);
  const unfold = long && h("button", { class: "plain", "aria-expanded": "false", onclick: fold }, `Show all ${card.text.length.toLocaleString("en")} characters`);
  const note = h("div", { class: "note" });
  const marks = h("p", { class: "marks" },
    card.audit && h("span", { class: "mark-word", title: "Drawn at random to measure the quality; without a suggestion, and not trained on" }, icon("ear"), "Audit text"),
    card.picked && h("span", { class: "mark-word" }, icon("tags"), "You queued this text"),
    card.flag && h("span", { class: "mark-word" }, icon("flag"), "Flagged"),
    card.word && h("span", { class: "mark-word" }, icon("check"), said(card.word)));
  const meta = card.meta && Object.keys(card.meta).length > 0 && h("details", { class: "meta" }, h("summary", {}, "Details"),
    h("dl", {}, Object.entries(card.meta).map(([name, value]) => [h("dt", { dir: "auto" }, name), h("dd", { dir: "auto" }, String(value))])));
  showNote();

  function fold() {
    if (!long) return;
    const folded = body.classList.toggle("folded");
    unfold.setAttribute("aria-expanded", String(!folded));
    fill(unfold, folded ? `Show all ${card.text.length.toLocaleString("en")} characters` : "Fold the text");
  }

  function showNote() {
    fill(note, card.note && h("p", { dir: "auto" }, icon("note"), card.note));
  }

  function openNote() {
    const field = h("textarea", { rows: 2, dir: "auto", "aria-label": "Note on this text", placeholder: "A note on this text; Enter saves it, Escape leaves it as it was" });
    field.value = card.note ?? "";
    const close = () => { showNote(); body.focus(); };
    field.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
      if (event.key === "Escape") close();
      else if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
        event.preventDefault();
        if (field.value.trim() !== (card.note ?? "")) app.deck.remark({ note: field.value.trim() });
        close();
      }
    });
    fill(note, field);
    field.focus();
  }

  return { element: h("article", { "aria-label": "Text to label" }, marks, body, unfold, note, meta), fold, openNote, focus: () => body.focus({ preventScroll: true }) };
}

/** @param {import("../deck.js").Word} word */
export function said(word) {
  if (word.kind === "label") return word.label ?? "";
  if (word.kind === "decide") return word.label === null ? "Decided: left out" : `Decided: ${word.label}`;
  return word.kind === "unsure" ? "Unsure" : "Skipped";
}
