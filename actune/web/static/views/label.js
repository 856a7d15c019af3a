/** One text, its classes, and one key for each answer. */

import { emptyFace, waitingFace } from "../faces.js";
import { fill, h, icon, kbd, say } from "../dom.js";
import { belongsToFocus, classKey, command } from "../keys.js";
import { commandsSheet } from "../sheet.js";
import { post } from "../api.js";
import * as shelf from "../shelf.js";
import { stage } from "../training.js";
import { count, number, percent } from "../words.js";
import { classPicker } from "./picker.js";
import { textCard } from "./text.js";
import { whyPanel } from "./why.js";

/** @type {import("../app.js").View} */
export function labelView(app, part) {
  const { deck, live } = app;
  const progress = h("div", { class: "meter" });
  const offer = h("div", { class: "offer", role: "status" });
  const place = h("div", { class: "table" });
  const tray = h("div", { class: "actions" });
  const why = whyPanel(app);
  const element = h("section", { class: "label" }, h("div", { class: "column" }, h("h1", { class: "unseen" }, "Label"), progress, offer, place, tray), why.element);
  const picker = classPicker(app, (label) => answer("label", label));
  /** @type {ReturnType<typeof textCard>|null} */
  let shown = null;
  /** @type {import("../deck.js").Card|null} */
  let drawn = null;
  const named = part ? plain(part) : null; // the text in the address
  let arrived = false;

  /** @param {string} kind @param {string|null} [label] */
  function answer(kind, label = null) {
    if (!deck.current) return;
    deck.answer(kind, label);
    picker.clear();
  }

  /** @type {Record<string, () => void>} */
  const does = {
    accept: () => { if (suggestion()) answer("label", suggestion()?.label); },
    skip: () => answer("skip"),
    unsure: () => answer("unsure"),
    undo: () => { deck.undo().then((step) => step || say("news", "There is nothing to undo.")); },
    redo: () => { deck.redo().then((step) => step || say("news", "There is nothing to redo.")); },
    previous: () => deck.go(deck.place - 1),
    next: () => deck.go(deck.place + 1),
    apply: () => deck.apply(),
    note: () => shown?.openNote(),
    flag: () => deck.current && deck.remark({ flag: !deck.current.flag }),
    why: () => why.toggle(),
    fold: () => shown?.fold(),
    suggestions: () => {
      app.suggestions = !app.suggestions;
      shelf.keep("actune/suggestions", app.suggestions);
      say("news", app.suggestions ? "Suggestions are shown." : "Suggestions are hidden.");
      draw();
    },
    find: () => picker.find(""),
    help: () => commandsSheet(app),
  };

  /** What the model would say, shown or not. */
  const thought = () => {
    const found = deck.current && !deck.current.audit ? deck.current.suggestion : null;
    return found && live.classes.some(({ name }) => name === found.label) ? found : null;
  };

  const suggestion = () => (app.suggestions ? thought() : null);

  /** @param {KeyboardEvent} event */
  function press(event) {
    if (event.defaultPrevented || event.isComposing || document.querySelector("dialog[open]")) return;
    if (belongsToFocus(event)) return;
    const bare = !event.ctrlKey && !event.metaKey && !event.altKey;
    if (bare && picker.many && /^\p{L}$/u.test(event.key) && !event.shiftKey) return void (event.preventDefault(), picker.find(event.key));
    const label = picker.byKey(classKey(event));
    const named = label === null ? command(event) : null;
    if (label === null && named === null) return;
    event.preventDefault();
    if (event.repeat && named !== "undo" && named !== "redo" && named !== "previous" && named !== "next") return;
    if (label !== null) answer("label", label);
    else does[/** @type {string} */ (named)]?.();
  }

  function draw() {
    const { current } = deck;
    if (current !== drawn && shown?.writing) return shown.saveNote(); // it belongs to the text that is left; this draws, too
    drawMeter();
    drawOffer();
    const before = drawn;
    drawn = current;
    leaveAddress();
    if (!current || !live.classes.length) {
      shown = null;
      fill(place, live.classes.length ? ending(app) : emptyFace("All classes are retired", "Restore one of them, or add another one.", h("a", { class: "button main", href: "#/classes" }, "Classes")));
      fill(tray, deck.cards.length > 0 && [button("previous", "left", "Previous", "←"), button("undo", "undo", "Undo", "U", !deck.done.length)]);
      why.show(null);
      drawn = null;
      return;
    }
    const hint = suggestion();
    picker.draw(current, hint);
    fill(tray, actions());
    why.show(current);
    if (current === before && shown?.writing) return; // a note stays while it is written
    const searching = current === before && picker.searching;
    shown = textCard(app, current);
    fill(place, shown.element, suggested(hint), picker.element);
    if (searching) picker.focus();
    else if (!document.querySelector("dialog[open]") && document.activeElement?.closest("input, textarea, nav, .top") === null) shown.focus();
  }

  /** Once its text is left, the address names it no longer: a reload shows what was on the table. */
  function leaveAddress() {
    if (named === null) return;
    if (deck.current?.id === named) arrived = true;
    else if (arrived && location.hash.startsWith("#/label/")) history.replaceState(null, "", "#/label");
  }

  /** @param {{label: string, confidence: number|null}|null} hint */
  function suggested(hint) {
    const toggle = (/** @type {string} */ words) => h("button", { class: "plain toggle", "data-does": "suggestions", "aria-keyshortcuts": "S", title: `${words} (S)`, onclick: does.suggestions }, words);
    if (!hint) return thought() && h("div", { class: "row" }, toggle("Show suggestions"));
    return h("div", { class: "row" }, h("button", { class: "suggestion", onclick: does.accept }, icon("spark"),
      h("span", {}, "Suggestion: ", h("b", { dir: "auto" }, hint.label), hint.confidence === null ? "" : h("span", { class: "soft" }, ` ${percent(hint.confidence)}`)), kbd("↵"),
      h("span", { class: "unseen" }, " Press Enter to accept it.")), toggle("Hide"));
  }

  function actions() {
    const { current } = deck;
    return [
      button("skip", null, "Skip", "Space", false, current?.word?.kind === "skip"),
      button("unsure", null, "Unsure", "X", false, current?.word?.kind === "unsure"),
      h("span", { class: "gap" }),
      button("previous", "left", "Previous", "←", deck.place === 0, false, true),
      button("next", "right", "Next", "→", false, false, true),
      button("undo", "undo", "Undo", "U", !deck.done.length, false, true),
      button("redo", "redo", "Redo", "R", !deck.undone.length, false, true),
      button("note", "note", "Note", "N", false, Boolean(current?.note), true),
      button("flag", "flag", "Flag", "F", false, Boolean(current?.flag), true),
      button("why", null, "Why?", "W", false, why.open),
    ];
  }

  /** @param {string} name @param {any} picture @param {string} words @param {string} key @param {boolean} [off] @param {boolean} [pressed] @param {boolean} [small] */
  function button(name, picture, words, key, off = false, pressed = false, small = false) {
    return h("button", { class: small ? "tool small" : "tool", "data-does": name, title: `${words} (${key})`, disabled: off, "aria-pressed": pressed ? "true" : null, "aria-keyshortcuts": key,
      onclick: () => { does[name](); } }, picture && icon(picture), h("span", {}, words), kbd(picker.many && key.length === 1 ? `⇧${key}` : key));
  }

  function drawMeter() {
    const { labels, next_round_at: left, stale, audit, training } = live.state;
    const busy = stage(training);
    fill(progress, h("span", {}, h("b", {}, number(labels)), " labelled"),
      audit.planned > 0 && h("span", { title: "Random texts that measure the quality and are not trained on" }, `Audit ${audit.answered} of ${audit.planned}`),
      busy ? h("span", { class: "busy" }, busy)
        : left > 0 ? h("span", { class: "wide-only" }, `${count(left, "answer")} until the next model`)
          : stale && h("span", { class: "wide-only" }, "The next model is due"));
  }

  /** A quiet question about the text before; whoever goes on has said no. */
  function drawOffer() {
    const last = deck.offer;
    fill(offer, last && [
      h("span", {}, `The last text has ${count(last.count, "near-duplicate")} without an answer.`),
      h("button", { class: "plain", "data-does": "apply", "aria-keyshortcuts": "D", onclick: does.apply }, h("span", {}, "Apply ", h("b", { dir: "auto" }, last.label)), kbd(picker.many ? "⇧D" : "D")),
      h("button", { class: "plain round", "aria-label": "Leave them open", title: "Leave them open", onclick: () => deck.dismiss() }, icon("close"))]);
  }

  const names = () => JSON.stringify(live.classes.map(({ name, description }) => [name, description]));
  let classes = names();
  /** Somebody may have changed the classes elsewhere: a key must do what is printed. */
  function follow() {
    drawMeter();
    const before = classes;
    classes = names();
    if (classes !== before) draw();
  }

  const redraw = () => draw();
  deck.addEventListener("change", redraw);
  live.addEventListener("change", follow);
  live.addEventListener("model", redraw);
  document.addEventListener("keydown", press);
  if (part) deck.show(plain(part));
  draw();
  return {
    element,
    leave() {
      shown?.saveNote();
      deck.removeEventListener("change", redraw);
      live.removeEventListener("change", follow);
      live.removeEventListener("model", redraw);
      document.removeEventListener("keydown", press);
      why.leave();
    },
  };
}

/** The id in an address. @param {string} part */
function plain(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** @type {number|undefined} */
let looking = undefined;

/** What stands where no text is left. @param {import("../app.js").App} app */
function ending(app) {
  const { deck, live } = app;
  clearTimeout(looking);
  looking = setTimeout(() => deck.current || deck.refill(), 1500); // there may be some by then
  if (!deck.loaded || (deck.filling && !deck.exhausted)) return waitingFace("Fetching the next texts");
  if (deck.trouble) return emptyFace("The next texts cannot be fetched", deck.trouble, h("button", { onclick: () => deck.refill().then(() => deck.changed()) }, "Try again"));
  if (!live.online || app.outbox.trouble) return emptyFace("No more texts at hand", "They come when the server is back. Your answers are kept in this browser until then.");
  const link = (/** @type {string} */ view, /** @type {string} */ name) => h("a", { class: "button", href: `#/${view}` }, name);
  if (live.state.unlabelled <= 0 && deck.exhausted) {
    return emptyFace("All texts are answered", `There are ${count(live.state.labels, "label")}. You can review them, or take your labelled file and your model with you.`, link("review", "Review"), link("export", "Export"));
  }
  const busy = live.state.training.state !== "idle" && live.state.training.state !== "failed";
  if (busy) return waitingFace("You have answered this batch. The model learns from it and chooses the next texts");
  const train = h("button", { class: "main", onclick: async () => {
    await post("/train", {}).catch((problem) => app.toast(problem.message));
    live.poll();
  } }, "Train now");
  if (!deck.exhausted) return emptyFace("Other people have the open texts", "Those that they leave come here after some minutes.", link("progress", "Progress"));
  return emptyFace("This batch is done", "The next texts are chosen by the next model.", app.owner && train, link("progress", "Progress"));
}
