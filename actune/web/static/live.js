/** What the server last said of itself, asked for every two seconds. */

import { changedState, Refused } from "./api.js";

const PACE = 2000; // milliseconds
const HIDDEN_PACE = 10_000; // of a page that nobody looks at
const LONGEST_WAIT = 10_000;

/**
 * @typedef {{name: string, key?: string, description?: string|null, answers: number, retired?: boolean}} ClassFacts
 * @typedef {{round: number, knows: number}} ModelFacts
 * @typedef {{state: string, done: number|null, total: number|null, seconds_left: number|null, error: string|null}} Training
 */

/** Events: `change` (a new state), `model` (a new model), `connection` (online or trouble changed). */
export class Live extends EventTarget {
  constructor() {
    super();
    /** @type {any} */
    this.state = null;
    this.online = true;
    /** @type {Refused|null} */
    this.problem = null;
    /** @type {string|null} */
    this.etag = null;
    this.failures = 0;
    this.taken = 0; // states so far
    /** @type {number|undefined} */
    this.timer = undefined;
    document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && this.poll());
  }

  /** @returns {ClassFacts[]} those that an answer may name */
  get classes() {
    return (this.state?.project.classes ?? []).filter((/** @type {ClassFacts} */ each) => !each.retired);
  }

  /** Asks now, and then at its pace. */
  async poll() {
    clearTimeout(this.timer);
    try {
      const { taken } = this;
      const changed = await changedState(this.etag);
      this.connection(true, null);
      if (changed && taken === this.taken) { // a state that came meanwhile, with the reply to an answer, is newer
        this.etag = changed.etag;
        this.take(changed.state);
      }
      this.failures = 0;
    } catch (problem) {
      const refused = problem instanceof Refused ? problem : null;
      this.connection(Boolean(refused && !refused.passing), refused);
      this.failures += 1;
    }
    clearTimeout(this.timer); // another call may have set it meanwhile
    this.timer = setTimeout(() => this.poll(), this.pace());
  }

  pace() {
    const pace = document.visibilityState === "visible" ? PACE : HIDDEN_PACE;
    return Math.min(LONGEST_WAIT, pace * Math.max(1, 2 ** Math.min(3, this.failures - 1)));
  }

  /** A state that came with another reply, too. @param {any} state */
  take(state) {
    if (!state || JSON.stringify(state) === JSON.stringify(this.state)) return;
    const before = this.state;
    this.state = state;
    this.taken += 1;
    this.dispatchEvent(new CustomEvent("change", { detail: before }));
    const newer = (state.model?.round ?? -1) > (before?.model?.round ?? -1);
    if (before && newer) this.dispatchEvent(new CustomEvent("model", { detail: state.model }));
  }

  /** @param {boolean} online @param {Refused|null} problem */
  connection(online, problem) {
    if (online === this.online && problem?.message === this.problem?.message) return;
    this.online = online;
    this.problem = problem;
    this.dispatchEvent(new Event("connection"));
  }
}
