/** The texts at hand: those that come next, the one on the table, and those that were answered. */

import { get, Refused } from "./api.js";
import { keep, read } from "./shelf.js";

/**
 * @typedef {{kind: string, label: string|null}} Word
 * @typedef {{id: string, text: string, audit: boolean, picked: boolean, suggestion: {label: string, confidence: number}|null,
 *   alike: number, meta: Record<string, unknown>|null, word: Word|null, note: string|null, flag: boolean}} Card
 * @typedef {{id: string, before: Word|null, after: Word|null, applied?: string}} Step what was `applied` is a label
 * @typedef {{id: string, label: string, count: number}} Offer
 */

const AHEAD = 10; // texts that are fetched at a time
const LOW = 5; // texts ahead, below which more are fetched
const REMEMBERED = 20; // answered texts that a reload brings back
const LONGEST_LOOK = 600; // seconds; a longer pause says nothing about a text

/** Events: `change` (another text, or another word on it). */
export class Deck extends EventTarget {
  /** @param {import("./outbox.js").Outbox} outbox @param {string} owner @param {string} user */
  constructor(outbox, owner, user) {
    super();
    this.outbox = outbox;
    this.user = user;
    this.shelf = `actune/steps/${owner}`;
    /** @type {Card[]} */
    this.cards = [];
    this.place = 0;
    /** @type {Step[]} */
    this.done = [];
    /** @type {Step[]} */
    this.undone = [];
    /** @type {{name: string, answers: number}[]|null} */
    this.classes = null; // as they are called in the steps
    this.readSteps();
    /** @type {Offer|null} */
    this.offer = null; // to let the last answer count for near-duplicates of its text
    this.exhausted = false;
    this.loaded = false;
    /** @type {string|null} */
    this.trouble = null;
    /** @type {Promise<void>|null} */
    this.filling = null;
    /** @type {Card|null} */
    this.drawn = null; // what the page shows
    this.shownAt = performance.now();
    /** @type {number|undefined} */
    this.keeping = undefined;
    this.turn = 0; // of those to texts that are fetched first, the newest counts
    this.turning = false; // until it has come, no key may mean the text that still stands there
    for (const leaves of ["pagehide", "blur"]) addEventListener(leaves, () => this.keeping === undefined || this.writeSteps());
    addEventListener("storage", ({ key }) => key === this.shelf && this.readSteps()); // tabs share what can be undone
    outbox.addEventListener("elsewhere", (event) => this.hear(/** @type {CustomEvent} */ (event).detail));
  }

  /** @returns {Card|null} */
  get current() {
    return this.cards[this.place] ?? null;
  }

  /** How many texts lie ahead without a word. */
  get ahead() {
    return this.cards.slice(this.place).filter(({ word }) => !word).length;
  }

  /** The texts of the last answers, and the first to answer. */
  async open() {
    await this.recall().catch(() => undefined); // without them the page works as well
    await this.refill();
  }

  async recall() {
    const { rows } = await get("/history", { limit: REMEMBERED, by: this.user });
    const held = new Set(this.cards.map(({ id }) => id));
    const seen = new Map();
    for (const row of rows) if (WORDS.has(row.kind) && !held.has(row.id) && !seen.has(row.id)) seen.set(row.id, row);
    const old = [...seen.values()].reverse().filter(({ kind }) => WORDS_THAT_STAND.has(kind));
    this.cards.unshift(...old.map((row) => card(row, { kind: row.kind, label: row.label })));
    this.place += old.length;
  }

  /** Fetches more where few are left; a second call waits for the first. */
  refill() {
    this.filling ??= this.fetchMore().then(() => {
      this.filling = null;
      this.loaded = true;
      if (!this.current || this.current !== this.drawn) this.changed(); // a text on the table stays as it is
    });
    return this.filling;
  }

  async fetchMore() {
    try {
      const { questions, exhausted } = await get("/questions", { n: AHEAD });
      const held = new Set([...this.cards.map(({ id }) => id), ...this.outbox.texts()]);
      const fresh = questions.filter((/** @type {Card} */ each) => !held.has(each.id));
      this.cards.push(...fresh.map((/** @type {any} */ each) => card(each, null)));
      this.exhausted = exhausted && !fresh.length;
      this.trouble = null;
    } catch (problem) {
      this.trouble = problem instanceof Refused ? problem.message : null;
    }
  }

  /** Lets go what nobody has seen yet: a new model or new classes may want other texts. */
  async renew() {
    const kept = this.cards.filter((each, place) => place <= this.place || each.word);
    this.cards = kept;
    await this.refill();
  }

  /** A word on the text on the table, and on to the next. @param {string} kind @param {string|null} [label] */
  answer(kind, label = null) {
    const here = this.current;
    if (!here || this.turning) return;
    const after = { kind, label };
    if (!same(here.word, after)) this.step({ id: here.id, before: here.word, after }, this.looked());
    this.offer = kind === "label" && label !== null && here.alike > 0 ? { id: here.id, label, count: here.alike } : null;
    this.goOn();
  }

  /** To the next text without a word. */
  goOn() {
    const next = this.cards.findIndex((each, place) => place > this.place && !each.word);
    this.go(next < 0 ? this.cards.length : next);
  }

  /** What was said in another tab: no text is asked about in two of them. @param {import("./outbox.js").Letter} letter */
  hear({ path, body }) {
    const here = this.cards.find(({ id }) => id === body.id);
    if (!here || (path !== "/answers" && path !== "/remarks")) return;
    if (path === "/remarks") Object.assign(here, { note: body.note ?? here.note, flag: body.flag ?? here.flag });
    else here.word = WORDS_THAT_STAND.has(body.kind) ? { kind: body.kind, label: body.label ?? null } : null;
    if (here !== this.current) return;
    if (here.word) this.goOn();
    else this.changed();
  }

  /** @param {Step} step @param {number} [seconds] */
  step(step, seconds) {
    this.done.push(step);
    this.undone = [];
    this.say(step.id, step.before, step.after, seconds);
    this.keepSteps();
  }

  /** Lets the last answer count for the near-duplicates of its text. */
  apply() {
    if (!this.offer) return;
    const { id, label } = this.offer;
    this.offer = null;
    this.done.push({ id, before: null, after: null, applied: label });
    this.undone = [];
    this.tell(id, label, "apply");
    this.keepSteps();
    this.changed();
  }

  /** @param {string} id */
  takeBack(id) {
    const step = this.done.filter((each) => each.id === id && each.applied !== undefined).pop();
    if (!step) return;
    this.done.splice(this.done.lastIndexOf(step), 1);
    this.undone.push(step);
    this.tell(id, step.applied ?? "", "take-back");
    this.keepSteps();
    this.changed();
  }

  /** @param {string} id @param {string} label @param {"apply"|"take-back"} kind */
  tell(id, label, kind) {
    const here = this.cards.find((each) => each.id === id);
    if (here && kind === "apply") here.alike = 0;
    this.outbox.post("/near-duplicates", { id, label, kind });
  }

  dismiss() {
    this.offer = null;
    this.changed();
  }

  /** Puts a word on a text, here and on the server. @param {string} id @param {Word|null} before @param {Word|null} after @param {number} [seconds] @param {string} [back] what takes the word back */
  say(id, before, after, seconds, back = before && before.kind !== "label" ? "unskip" : "clear") {
    const here = this.cards.find((each) => each.id === id);
    if (here) here.word = after;
    this.outbox.answer({
      id,
      kind: after ? after.kind : back,
      ...(after?.label ? { label: after.label } : {}),
      ...(seconds ? { seconds } : {}),
    });
  }

  async undo() {
    const last = this.done.at(-1);
    if (last?.applied !== undefined) return this.takeBack(last.id), last;
    const step = this.done.pop();
    if (!step) return null;
    this.offer = null;
    this.undone.push(step);
    this.say(step.id, step.after, step.before, undefined, "retract"); // what others said stays
    await this.show(step.id, step.before);
    return step;
  }

  async redo() {
    const step = this.undone.pop();
    if (!step) return null;
    this.done.push(step);
    if (step.applied !== undefined) {
      this.tell(step.id, step.applied, "apply");
      return this.keepSteps(), step;
    }
    this.say(step.id, step.before, step.after);
    await this.show(step.id, step.after);
    return step;
  }

  /** Turns to a text that may be far back. @param {string} id @param {Word|null} [word] */
  async show(id, word) {
    this.keepSteps();
    let place = this.cards.findIndex((each) => each.id === id);
    this.turn += 1;
    const turn = this.turn;
    if (place < 0) {
      this.turning = true;
      const found = await get(`/texts/${encodeURIComponent(id)}`).catch(() => null);
      if (found) {
        place = this.place;
        this.cards.splice(place, 0, card(found, word === undefined ? wordOf(found.answer) : word));
        if (turn !== this.turn) this.place += 1; // another turn came after this one: its text stays
      }
    }
    if (turn !== this.turn) return;
    this.turning = false;
    if (place < 0) this.changed();
    else this.go(place);
  }

  /** @param {number} place */
  go(place) {
    this.place = Math.max(0, Math.min(this.cards.length, place));
    this.shownAt = performance.now();
    if (this.ahead < LOW) this.refill();
    this.changed();
  }

  /** @param {{note?: string, flag?: boolean}} remark @param {Card|null} [card] */
  remark(remark, card = this.turning ? null : this.current) {
    if (!card) return;
    Object.assign(card, remark);
    this.outbox.remark({ id: card.id, ...remark });
    this.changed();
  }

  looked() {
    const seconds = (performance.now() - this.shownAt) / 1000;
    return Math.round(Math.min(LONGEST_LOOK, seconds) * 10) / 10;
  }

  keepSteps() {
    clearTimeout(this.keeping);
    this.keeping = setTimeout(() => this.writeSteps(), 300); // a long list is not written at every key
  }

  writeSteps() {
    clearTimeout(this.keeping);
    this.keeping = undefined;
    keep(this.shelf, { done: this.done, undone: this.undone, classes: this.classes });
  }

  readSteps() {
    const kept = read(this.shelf);
    if (kept) [this.done, this.undone, this.classes] = [kept.done ?? [], kept.undone ?? [], kept.classes ?? null];
  }

  /** Classes that were renamed, here or by somebody else, have their new names in all that can be undone. @param {import("./live.js").ClassFacts[]} classes */
  follow(classes) {
    const names = renamed(this.classes ?? [], classes);
    this.classes = classes.map(({ name, answers }) => ({ name, answers }));
    if (!names.size) return;
    const now = (/** @type {Word|null} */ word) => word && { ...word, label: names.get(word.label ?? "") ?? word.label };
    for (const step of [...this.done, ...this.undone]) {
      [step.before, step.after] = [now(step.before), now(step.after)];
      if (step.applied !== undefined) step.applied = names.get(step.applied) ?? step.applied;
    }
    for (const each of this.cards) each.word = now(each.word);
    this.outbox.rename(names);
    this.keepSteps();
  }

  changed() {
    this.drawn = this.current;
    this.dispatchEvent(new Event("change"));
  }
}

const WORDS_THAT_STAND = new Set(["label", "skip", "unsure"]);
const WORDS = new Set(["label", "skip", "unsure", "clear", "unskip", "retract"]);

/**
 * The new names by the old ones. Classes keep their places and new ones come last, so a name that is gone and a new one in the same place are
 * one class, unless the answers are gone with the name.
 * @param {{name: string, answers: number}[]} before @param {{name: string, answers: number}[]} after
 */
export function renamed(before, after) {
  const old = new Set(before.map(({ name }) => name));
  const now = new Set(after.map(({ name }) => name));
  const pairs = before.length <= after.length ? before.map((was, place) => /** @type {const} */ ([was, after[place]])) : [];
  const found = pairs.filter(([was, is]) => !now.has(was.name) && !old.has(is.name) && (is.answers > 0 || was.answers === 0));
  return new Map(found.map(([was, is]) => [was.name, is.name]));
}

/** @param {any} told @param {Word|null} word @returns {Card} */
function card(told, word) {
  return {
    id: told.id, text: told.text, audit: Boolean(told.audit), picked: Boolean(told.picked), alike: told.audit ? 0 : told.near_duplicates ?? 0, meta: told.meta ?? null,
    suggestion: told.audit ? null : told.suggestion ?? null, word, note: told.note ?? null, flag: Boolean(told.flag),
  };
}

/** @param {any} answer @returns {Word|null} */
export function wordOf(answer) {
  if (!answer) return null;
  const kind = answer.kind === "decide" ? (answer.label === null ? "skip" : "label") : answer.kind;
  return { kind, label: answer.label ?? null };
}

/** @param {Word|null} one @param {Word|null} other */
const same = (one, other) => one?.kind === other?.kind && (one?.label ?? null) === (other?.label ?? null);
