/** The page: its frame, its views, and what they share. */

import { Deck } from "./deck.js";
import { fill, h, say } from "./dom.js";
import { frame } from "./frame.js";
import { Live } from "./live.js";
import { Outbox } from "./outbox.js";
import { count, number } from "./words.js";
import * as shelf from "./shelf.js";
import { closedFace, emptyFace, waitingFace } from "./faces.js";
import { classesView } from "./views/classes.js";
import { exportView } from "./views/export.js";
import { labelView } from "./views/label.js";
import { progressView } from "./views/progress.js";
import { reviewView } from "./views/review.js";
import { startView } from "./views/start.js";

/**
 * @typedef {{live: Live, outbox: Outbox, deck: Deck, owner: boolean, suggestions: boolean,
 *   toast: (words: string, action?: {name: string, does: () => void}) => void}} App
 * @typedef {(app: App, part: string) => {element: HTMLElement, leave?: () => void}} View
 */

/** @type {Record<string, View>} */
const VIEWS = { label: labelView, progress: progressView, review: reviewView, classes: classesView, export: exportView };

const root = /** @type {HTMLElement} */ (document.getElementById("app"));
const live = new Live();

live.addEventListener("connection", begin);
live.addEventListener("change", begin);
fill(root, waitingFace("Opening the project"));
live.poll();

let begun = false;

/** Builds the page once the first state is there; until then it says what is missing. */
function begin() {
  if (begun) return;
  if (live.state) return run(live.state);
  if (live.problem?.status === 401 || live.problem?.status === 403) fill(root, closedFace(live.problem.message));
  else if (live.problem) fill(root, emptyFace("This page cannot be shown", live.problem.message));
  else fill(root, waitingFace("Waiting for the server"));
}

/** @param {any} state */
function run(state) {
  begun = true;
  const name = `${state.project.id ?? state.project.name}/${state.user.name}`;
  const outbox = new Outbox(name);
  /** @type {App} */
  const app = {
    live,
    outbox,
    deck: new Deck(outbox, name, state.user.name),
    owner: state.user.role === "owner",
    suggestions: shelf.read("actune/suggestions") !== false,
    toast,
  };
  app.deck.follow(state.project.classes);
  document.title = `${state.project.name} · actune`;
  const { element, main, toasts } = frame(app);
  fill(root, element);

  /** @type {{element: HTMLElement, leave?: () => void}|null} */
  let shown = null;
  let address = "";

  function show() {
    const [name = "", part = ""] = location.hash.replace(/^#\/?/, "").split("/");
    const begins = !live.state.project.classes.length; // those that are all retired can be restored
    const view = begins ? startView : VIEWS[name] ?? labelView;
    const wanted = begins ? "start" : `${name}/${part}`;
    if (wanted === address) return;
    const first = address === "";
    address = wanted;
    shown?.leave?.();
    fill(toasts);
    shown = view(app, part);
    fill(main, shown.element);
    element.dataset.view = begins ? "start" : name in VIEWS ? name : "label";
    element.dispatchEvent(new Event("viewchange"));
    if (!first) /** @type {HTMLElement|null} */ (main.querySelector("[data-focus]") ?? main)?.focus();
    scrollTo(0, 0);
  }

  /** A quiet line at the foot of the page. @param {string} words @param {{name: string, does: () => void}} [action] */
  function toast(words, action) {
    const close = () => line.remove();
    const line = h("div", { class: "toast" }, h("span", {}, words),
      action && h("button", { class: "plain", onclick: () => { action.does(); close(); } }, action.name),
      h("button", { class: "plain", "aria-label": "Close this message", onclick: close }, "✕"));
    fill(toasts, line);
    say("news", words);
    setTimeout(close, 9000);
  }

  /** What became of an answer for near-duplicates. @param {{id: string, label: string, kind: string}} body @param {number} applied */
  function settled({ id, label, kind }, applied) {
    const many = count(applied, "near-duplicate");
    if (kind === "apply") toast(`“${label}” was applied to ${many}.`, applied > 0 ? { name: "Undo", does: () => app.deck.takeBack(id) } : undefined);
    else toast(`“${label}” was taken back from ${many}.`);
    app.deck.renew();
  }

  let classes = signature(live);
  live.addEventListener("change", () => {
    const now = signature(live);
    app.deck.follow(live.state.project.classes);
    if (now !== classes) app.deck.renew();
    classes = now;
    show();
  });
  live.addEventListener("model", (event) => {
    const { knows } = /** @type {CustomEvent} */ (event).detail;
    toast(`A new model has arrived. It has learned from ${number(knows)} answers.`);
    app.deck.renew();
  });
  outbox.addEventListener("saved", (event) => {
    const { reply, path, bodies } = /** @type {CustomEvent} */ (event).detail;
    if (path === "/answers") say("saved", "Saved");
    if (reply.state) live.take(reply.state);
    if (path === "/near-duplicates") settled(bodies[0], reply.count);
  });
  outbox.addEventListener("refused", () => say("news", "The server did not take an answer."));
  document.querySelector(".skip-link")?.addEventListener("click", (event) => {
    event.preventDefault(); // the address names a view, and not a place on it
    main.focus();
  });
  addEventListener("hashchange", show);
  app.deck.open();
  outbox.flush();
  show();
}

/** @param {Live} source */
const signature = (source) => JSON.stringify(source.classes.map(({ name }) => name));
