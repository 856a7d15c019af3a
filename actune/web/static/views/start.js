/** A project without classes begins here: they are written down, one to a line. */

import { newClient, post } from "../api.js";
import { fill, h } from "../dom.js";
import { count } from "../words.js";

/** @type {import("../app.js").View} */
export function startView(app) {
  const client = newClient();
  const box = h("textarea", { id: "names", rows: 7, dir: "auto", spellcheck: "false", "data-focus": true, autocomplete: "off",
    placeholder: "question about a place\nquestion about a person\nother: anything else", "aria-describedby": "names-help" });
  const told = h("p", { class: "soft", role: "status", "aria-live": "polite" }, "One class to a line. Two are needed to begin.");
  const problem = h("p", { class: "problem", role: "alert" });
  const button = h("button", { class: "main", type: "submit", disabled: true }, "Start labelling");

  box.addEventListener("input", () => {
    const { names, twice } = read(box.value);
    button.disabled = names.length < 2 || twice.length > 0;
    fill(told, twice.length ? `“${twice[0]}” stands there twice.` : names.length < 2 ? "One class to a line. Two are needed to begin." : `${count(names.length, "class", "classes")}.`);
  });
  const form = h("form", { onsubmit: async (/** @type {Event} */ event) => {
    event.preventDefault();
    button.disabled = true;
    fill(problem);
    try {
      const reply = await post("/classes", { names: read(box.value).names, client });
      location.hash = "#/label";
      if (reply.state) app.live.take(reply.state);
      await app.live.poll();
    } catch (refusal) {
      fill(problem, /** @type {Error} */ (refusal).message);
      button.disabled = false;
    }
  } }, h("label", { for: "names" }, "Classes"), box,
    h("p", { class: "hint", id: "names-help" }, "A colon begins a description: ", h("code", {}, "refund: the customer wants money back"), ". You can add, rename, merge and split classes at any time."),
    told, problem, h("div", { class: "row" }, button));

  const element = h("section", { class: "page narrow start" },
    h("p", { class: "soft eyebrow" }, `${count(app.live.state.project.texts, "text")} to label`),
    h("h1", {}, "What do you want to tell apart?"),
    app.owner ? form : h("p", {}, "The owner of this project has not written down its classes yet. This page goes on by itself when they are there."));
  queueMicrotask(() => box.isConnected && box.focus());
  return { element };
}

/** The names, with their descriptions, and those that stand there twice. @param {string} written */
export function read(written) {
  const lines = written.split("\n").map((line) => line.trim()).filter(Boolean);
  const names = lines.map((line) => {
    const [, name, description] = /^(.*?)(?::\s+(.*))?$/u.exec(line) ?? [];
    return description ? { name: name.trim(), description } : { name: line };
  });
  const folded = names.map(({ name }) => name.toLowerCase());
  return { names, twice: names.filter(({ name }, place) => folded.indexOf(name.toLowerCase()) !== place).map(({ name }) => name) };
}
