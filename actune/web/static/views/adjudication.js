/** Texts on which people disagree, one at a time: who said what, and one key for the class that counts. */

import { get } from "../api.js";
import { fill, h, icon, kbd, say } from "../dom.js";
import { emptyFace, loadInto, waitingFace } from "../faces.js";
import { belongsToFocus, classKey, command } from "../keys.js";
import { count } from "../words.js";
import { classPicker } from "./picker.js";

/**
 * @typedef {{by: string, label: string, note: string|null}} Opinion
 * @typedef {{id: string, text: string, answers: Opinion[], notes: {by: string, note: string}[]}} Conflict
 */

const LARGE = 120; // characters; up to here the letters are large

/** @param {import("../app.js").App} app */
export function adjudication(app) {
  const place = h("div", {});
  const picker = classPicker(app, decide);
  /** @type {Conflict[]} */
  let rows = [];
  /** @type {Conflict[]} */
  const decided = [];
  let total = 0;
  let saving = false; // the list is empty here, and goes on when the server knows it

  const load = () => loadInto(place, () => get("/review/adjudication"), (found) => {
    const done = new Set(decided.map(({ id }) => id));
    rows = found.rows.filter((/** @type {Conflict} */ { id }) => !done.has(id));
    total = found.total - (found.rows.length - rows.length);
    if (rows.length) draw();
    else fill(place, nothing(found.planned), undoLine());
  });

  function draw() {
    const [row] = rows;
    if (!row) return next();
    const text = h("div", { class: `text ${row.text.length <= LARGE ? "large" : ""}`, id: "text", dir: "auto", tabindex: "-1", lang: "" }, row.text);
    picker.draw(/** @type {any} */ ({ word: null }), null);
    fill(place, h("div", { class: "adjudication" },
      h("p", { class: "soft" }, `${count(total, "text")} to decide. What you choose counts, whatever others say later.`),
      h("article", { "aria-label": "Text to decide" }, text),
      h("ul", { class: "opinions", "aria-label": "What people said" }, row.answers.map(opinion), row.notes.map(remark)),
      picker.element, actions()));
    text.focus({ preventScroll: true });
  }

  function actions() {
    return h("div", { class: "actions" },
      button("skip", null, "Leave out", "Space", leaveOut),
      button("next", "right", "Later", "→", later, rows.length < 2),
      h("span", { class: "gap" }),
      button("undo", "undo", "Undo", "U", undo, !decided.length));
  }

  const undoLine = () => decided.length > 0 && h("div", { class: "row undo-line" }, button("undo", "undo", "Undo the last decision", "U", undo));

  /** The list is done as far as it was fetched: the rest comes when the decisions are saved. */
  function next() {
    saving = app.outbox.waiting().length > 0;
    if (saving) fill(place, waitingFace("Saving"));
    else load();
  }

  /** @param {string} label */
  function decide(label) {
    settle({ kind: "decide", label }, `Decided: ${label}.`);
  }

  const leaveOut = () => settle({ kind: "decide" }, "Left out.");

  /** @param {{kind: string, label?: string}} word @param {string} news */
  function settle(word, news) {
    const row = rows.shift();
    if (!row) return;
    app.outbox.answer({ id: row.id, ...word });
    decided.push(row);
    total -= 1;
    picker.clear();
    say("news", `${news} ${count(total, "text")} left.`);
    draw();
  }

  function later() {
    if (rows.length > 1) rows.push(/** @type {Conflict} */ (rows.shift()));
    draw();
  }

  function undo() {
    const row = decided.pop();
    if (!row) return void say("news", "There is nothing to undo.");
    app.outbox.answer({ id: row.id, kind: "retract" });
    rows.unshift(row);
    total += 1;
    saving = false;
    say("news", "The decision is taken back.");
    draw();
  }

  /** @param {KeyboardEvent} event */
  function press(event) {
    if (event.defaultPrevented || event.isComposing || document.querySelector("dialog[open]") || belongsToFocus(event)) return;
    const bare = !event.ctrlKey && !event.metaKey && !event.altKey;
    if (rows.length && bare && picker.many && /^\p{L}$/u.test(event.key) && !event.shiftKey) return void (event.preventDefault(), picker.find(event.key));
    const label = rows.length ? picker.byKey(classKey(event)) : null;
    const does = label === null ? { skip: leaveOut, next: later, undo }[command(event) ?? ""] : () => decide(label);
    if (!does || (event.repeat && label !== null)) return;
    event.preventDefault();
    does();
  }

  const sent = () => { if (saving && !app.outbox.waiting().length) next(); };
  document.addEventListener("keydown", press);
  app.outbox.addEventListener("change", sent);
  load();
  return { nodes: [place], leave: () => {
    document.removeEventListener("keydown", press);
    app.outbox.removeEventListener("change", sent);
  } };
}

/** @param {number} planned */
function nothing(planned) {
  if (!planned) return emptyFace("Nobody answers the same text", "A project that is started with the option --overlap asks several people about some texts, and lists here where they disagree.");
  return emptyFace("Nothing to decide", "Where people give a text different classes, it is listed here.", h("a", { class: "button", href: "#/progress" }, "See how far they agree"));
}

/** @param {Opinion} each */
const opinion = ({ by, label, note }) => h("li", {}, h("span", { class: "by", dir: "auto" }, by), h("b", { dir: "auto" }, label), note && noted(note));

/** @param {{by: string, note: string}} each */
const remark = ({ by, note }) => h("li", {}, h("span", { class: "by", dir: "auto" }, by), h("span", { class: "soft" }, "no class"), noted(note));

/** @param {string} note */
const noted = (note) => h("span", { class: "soft remark" }, icon("note"), h("span", { class: "unseen" }, "Note: "), h("span", { dir: "auto" }, note));

/** @param {string} name @param {any} picture @param {string} words @param {string} key @param {() => void} does @param {boolean} [off] */
const button = (name, picture, words, key, does, off = false) => h("button", { class: "tool", "data-does": name, title: `${words} (${key})`, "aria-keyshortcuts": key, disabled: off, onclick: does },
  picture && icon(picture), h("span", {}, words), kbd(key));
