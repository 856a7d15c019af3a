/** All answers, newest first: search, filter and change them. */

import { get } from "../api.js";
import { fill, h, icon } from "../dom.js";
import { emptyFace, loadInto } from "../faces.js";
import { wordOf } from "../deck.js";
import { moment } from "../words.js";
import { said } from "./text.js";

const PAGE = 50;
const PAUSE = 250; // milliseconds after the last letter of a search
const SAID = { clear: "Label removed", retract: "Taken back", unskip: "No longer skipped", skip: "Skipped", unsure: "Unsure", note: "Note", flag: "Flag" };

/** @param {import("../app.js").App} app */
export function history(app) {
  const search = h("input", { type: "search", "aria-label": "Search the texts", placeholder: "Search the texts", dir: "auto" });
  const label = h("select", { "aria-label": "Only this class" }, h("option", { value: "" }, "All classes"),
    app.live.state.project.classes.map((/** @type {any} */ each) => h("option", { value: each.name }, each.name)));
  const list = h("ol", { class: "log" });
  const place = h("div", {});
  const more = h("button", { hidden: true, onclick: () => load(last) }, "Show older answers");
  /** @type {number|null} */
  let last = null;
  /** @type {number|undefined} */
  let timer = undefined;

  /** @param {number|null} before */
  async function load(before) {
    const sought = { limit: PAGE, before, search: search.value.trim(), label: label.value };
    await loadInto(before === null ? place : h("div"), () => get("/history", sought), ({ rows, more: older }) => {
      if (before === null) fill(list);
      list.append(...rows.map((/** @type {any} */ row) => line(app, row)));
      last = rows.at(-1)?.number ?? null;
      more.hidden = !(older ?? rows.length === PAGE);
      if (before === null) fill(place, rows.length ? list : nothing(Boolean(sought.search || sought.label)));
    });
  }

  search.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => load(null), PAUSE);
  });
  label.addEventListener("change", () => load(null));
  load(null);
  return [h("div", { class: "row filters" }, search, label), place, h("div", { class: "row" }, more)];
}

/** @param {boolean} filtered */
const nothing = (filtered) => (filtered ? emptyFace("No answer matches", "Search for other letters, or look at all classes.")
  : emptyFace("No answers yet", "Each answer is listed here, and can be changed.", h("a", { class: "button main", href: "#/label" }, "Start labelling")));

/** @param {import("../app.js").App} app @param {any} row */
function line(app, row) {
  const isWord = ["label", "skip", "unsure", "decide"].includes(row.kind);
  const word = h("span", { class: `word is-${row.kind}`, dir: "auto" });
  const entry = h("li", { "data-id": row.id });
  const current = { kind: row.kind, label: row.label ?? null };
  show();

  function show() {
    fill(word, isWord ? said(current) : SAID[/** @type {keyof typeof SAID} */ (row.kind)] ?? row.kind);
    const before = row.before && (row.before.label ?? said(row.before));
    fill(entry, h("p", { dir: "auto", class: "clipped" }, row.text),
      h("p", { class: "soft" }, word, before && before !== word.textContent && h("span", { class: "was", dir: "auto" }, ` before: ${before}`), ` · ${moment(row.at)} · `, h("span", { dir: "auto" }, row.by), row.applied && " · applied to a near-duplicate"),
      row.note && h("p", { class: "soft remark", dir: "auto" }, icon("note"), row.note),
      h("div", { class: "row" }, h("button", { class: "plain", "data-does": "edit", onclick: edit }, "Change"), h("a", { class: "button plain", href: `#/label/${encodeURIComponent(row.id)}` }, "Open")));
  }

  /** What stands on the text now, which an undo brings back: this may be an older answer. */
  async function standing() {
    const found = await get(`/texts/${encodeURIComponent(row.id)}`).catch(() => null);
    return wordOf(found ? found.answer : isWord ? current : null);
  }

  function edit() {
    const choice = h("select", { "aria-label": "The right class" }, app.live.classes.map(({ name }) => h("option", { value: name, selected: name === current.label }, name)),
      h("option", { value: " clear" }, "No label"));
    const save = async (/** @type {any} */ event) => {
      event.target.disabled = true;
      const label = choice.value === " clear" ? null : choice.value;
      const before = await standing();
      const after = label === null ? null : { kind: "label", label };
      if (after ? before?.kind === "label" && before.label === label : before === null) return leave(); // nothing changes
      app.deck.step({ id: row.id, before, after });
      row.before = before;
      row.kind = label === null ? "clear" : "label";
      Object.assign(current, { kind: row.kind, label });
      app.outbox.addEventListener("saved", () => app.toast("The change is saved.", { name: "Undo", does: () => { app.deck.undo(); location.hash = "#/label"; } }), { once: true });
      const fresh = line(app, row);
      entry.replaceWith(fresh);
      fresh.querySelector("[data-does=edit]").focus();
    };
    fill(entry.querySelector(".row"), choice, h("button", { class: "main", "data-does": "save", onclick: save }, "Save"), h("button", { class: "plain", onclick: leave }, "Cancel"));
    choice.focus();
  }

  function leave() {
    show();
    entry.querySelector("[data-does=edit]").focus();
  }
  return entry;
}
