/** Answers on their way: each is kept in the browser until the server has said that it is saved. */

import { newClient, post, Refused, Unreachable } from "./api.js";
import { drop, fragile, keep, keys, read } from "./shelf.js";

/**
 * @typedef {{client: string, id: string, kind: string, label?: string, seconds?: number}} Answer
 * @typedef {{path: "/answers"|"/remarks"|"/near-duplicates"|"/review/disagreements", body: any, refused?: string}} Letter
 */

const TOGETHER = 50; // answers in one request
const FIRST_WAIT = 500; // milliseconds; doubled after each failure
const LONGEST_WAIT = 15_000;
const PATIENCE = 6; // mistakes of the server in a row, after which one answer no longer holds up the others

/** Events: `change` (what waits), `saved` (detail: the server's reply), `refused`, `locked` (no permission), `elsewhere` (detail: what another tab of this browser puts in). */
export class Outbox extends EventTarget {
  /** @param {string} owner the project and the person: another project may use the same port later */
  constructor(owner) {
    super();
    this.prefix = `actune/out/${owner}/`;
    this.sending = false;
    this.failures = 0;
    this.mistakes = 0;
    /** @type {string|null} */
    this.trouble = null;
    this.number = 0;
    this.acknowledged = 0;
    /** @type {number|undefined} */
    this.timer = undefined;
    addEventListener("online", () => this.flush());
    addEventListener("storage", (event) => this.hear(event)); // which comes from other tabs only
    addEventListener("beforeunload", (event) => {
      if (fragile(this.prefix)) event.preventDefault();
    });
  }

  /** @returns {{key: string, letter: Letter}[]} */
  letters() {
    return keys(this.prefix).map((key) => ({ key, letter: read(key) })).filter(({ letter }) => letter !== null);
  }

  waiting() {
    return this.letters().filter(({ letter }) => !letter.refused);
  }

  refused() {
    return this.letters().filter(({ letter }) => letter.refused);
  }

  /** The texts that have an answer here, which the server may not know yet. */
  texts() {
    return new Set(this.waiting().filter(({ letter }) => letter.path === "/answers").map(({ letter }) => letter.body.id));
  }

  /** @param {Omit<Answer, "client">} answer */
  answer(answer) {
    this.put({ path: "/answers", body: { client: newClient(), ...answer } });
  }

  /** @param {{id: string, note?: string, flag?: boolean}} remark */
  remark(remark) {
    this.put({ path: "/remarks", body: { client: newClient(), ...remark } });
  }

  /** Anything else that must not get lost. @param {Letter["path"]} path @param {object} body */
  post(path, body) {
    this.put({ path, body: { client: newClient(), ...body } });
  }

  /** @param {Letter} letter */
  put(letter) {
    this.number += 1; // of two answers in one millisecond
    const order = `${String(Date.now()).padStart(15, "0")}-${String(this.number).padStart(6, "0")}-${letter.body.client}`;
    keep(this.prefix + order, letter);
    this.changed();
    this.flush();
  }

  /** Answers that wait for a class which has another name now. @param {Map<string, string>} names */
  rename(names) {
    for (const { key, letter } of this.letters()) {
      const label = names.get(letter.body.label);
      if (label !== undefined) keep(key, { ...letter, body: { ...letter.body, label } });
    }
  }

  /** Forgets a refused answer. @param {string} key */
  discard(key) {
    drop(key);
    this.changed();
  }

  /** Sends a refused answer once more. @param {string} key */
  again(key) {
    const letter = read(key);
    if (letter) keep(key, { path: letter.path, body: letter.body });
    this.changed();
    this.flush();
  }

  /** @param {StorageEvent} event */
  hear({ key, oldValue, newValue }) {
    if (!key?.startsWith(this.prefix)) return;
    if (oldValue === null && newValue !== null) this.dispatchEvent(new CustomEvent("elsewhere", { detail: JSON.parse(newValue) }));
    this.changed();
  }

  changed() {
    this.dispatchEvent(new Event("change"));
  }

  /** Sends what waits, in order; after a failure it tries again by itself. */
  async flush() {
    if (this.sending) return;
    clearTimeout(this.timer);
    this.sending = true;
    try {
      for (let next = this.waiting(); next.length; next = this.waiting()) await this.send(together(next));
      this.failures = 0;
      this.trouble = null;
    } catch (problem) {
      this.wait(problem);
    } finally {
      this.sending = false;
      this.changed();
    }
  }

  /** @param {{key: string, letter: Letter}[]} batch */
  async send(batch) {
    const { path } = batch[0].letter;
    const bodies = batch.map(({ letter }) => letter.body);
    try {
      const reply = await post(path, path === "/answers" ? { answers: bodies } : bodies[0]);
      batch.forEach(({ key }) => drop(key));
      this.acknowledged += batch.length;
      this.mistakes = 0;
      this.failures = 0;
      this.trouble = null;
      this.changed();
      this.dispatchEvent(new CustomEvent("saved", { detail: { path, bodies, reply } }));
    } catch (problem) {
      if (!(problem instanceof Refused) || problem.status === 401 || problem.status === 403) throw problem;
      if (problem.passing && !(problem.status === 500 && this.mistakes >= PATIENCE)) throw problem;
      if (batch.length > 1) for (const each of batch) await this.send([each]); // one of them is at fault
      else this.refuse(batch[0], problem.message);
    }
  }

  /** @param {{key: string, letter: Letter}} entry @param {string} reason */
  refuse({ key, letter }, reason) {
    keep(key, { ...letter, refused: reason });
    this.changed();
    this.dispatchEvent(new CustomEvent("refused", { detail: { letter, reason } }));
  }

  /** @param {unknown} problem */
  wait(problem) {
    if (!(problem instanceof Refused || problem instanceof Unreachable)) throw problem;
    this.trouble = problem.message;
    if (problem instanceof Refused && problem.status === 500) this.mistakes += 1;
    if (problem instanceof Refused && (problem.status === 401 || problem.status === 403)) {
      this.dispatchEvent(new CustomEvent("locked", { detail: problem }));
    }
    const asked = problem instanceof Refused ? problem.wait * 1000 : 0;
    const backoff = Math.min(LONGEST_WAIT, FIRST_WAIT * 2 ** this.failures) * (0.75 + Math.random() / 2);
    this.failures += 1;
    this.timer = setTimeout(() => this.flush(), Math.max(asked, backoff));
  }
}

/** The first entries that fit into one request: answers together, a remark alone. @param {{key: string, letter: Letter}[]} entries */
function together(entries) {
  if (entries[0].letter.path !== "/answers") return entries.slice(0, 1);
  const end = entries.findIndex(({ letter }) => letter.path !== "/answers");
  return entries.slice(0, Math.min(TOGETHER, end < 0 ? entries.length : end));
}
