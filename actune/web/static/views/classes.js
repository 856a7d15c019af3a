/** The classes: each change says first what it moves, and can be undone. */

import { newClient, post } from "../api.js";
import { openDialog } from "../dialogs.js";
import { fill, h, rememberFocus } from "../dom.js";
import { count } from "../words.js";

/** @type {import("../app.js").View} */
export function classesView(app) {
  const place = h("div", {});
  const undo = h("button", { "data-does": "undo-classes", onclick: undoChange }, "Undo the last change");
  const element = h("section", { class: "page classes-page" }, h("div", { class: "row title" }, h("h1", {}, "Classes"), h("span", { class: "gap" }), app.owner && undo),
    h("p", { class: "soft" }, "The next model learns the new set of classes. No answer is ever lost: every change can be undone."), place, app.owner && adder());
  let drawn = "";
  draw();

  function draw() {
    const { classes } = app.live.state.project;
    undo.hidden = app.live.state.undo_classes === null;
    undo.title = app.live.state.undo_classes ?? "";
    if (JSON.stringify(classes) === drawn) return;
    drawn = JSON.stringify(classes);
    fill(place, h("ul", { class: "class-list" }, classes.map((/** @type {any} */ each) => h("li", { "data-class": each.name, class: each.retired ? "retired" : null },
      h("div", {}, h("p", { class: "name", dir: "auto" }, each.name, each.retired && h("span", { class: "soft" }, " (retired)")), each.description && h("p", { class: "soft", dir: "auto" }, each.description), h("p", { class: "soft" }, count(each.answers, "answer"))),
      app.owner && h("div", { class: "row" }, each.retired ? action("Restore", () => confirmChange({ kind: "restore", name: each.name }, `Restore “${each.name}”`)) : [
        action("Rename", () => rename(each.name)), action("Describe", () => describe(each)), action("Merge", () => merge(each.name)), action("Split", () => split(each.name)),
        action("Retire", () => confirmChange({ kind: "retire", name: each.name }, `Retire “${each.name}”`))])))));
  }

  function adder() {
    const field = h("input", { type: "text", "aria-label": "Name of the new class", placeholder: "New class", dir: "auto", autocomplete: "off" });
    return h("form", { class: "row adder", onsubmit: (/** @type {Event} */ event) => {
      event.preventDefault();
      const name = field.value.trim();
      if (name) confirmChange({ kind: "add", name }, `Add “${name}”`).then((done) => { if (done) field.value = ""; });
    } }, field, h("button", { type: "submit" }, "Add"));
  }

  /** @param {string} old */
  function rename(old) {
    const field = h("input", { type: "text", value: old, "aria-label": "New name", dir: "auto", autocomplete: "off" });
    formDialog(`Rename “${old}”`, field, () => (field.value.trim() && field.value.trim() !== old ? { kind: "rename", old, new: field.value.trim() } : null));
    field.select();
  }

  /** @param {{name: string, description?: string|null}} each */
  function describe({ name, description }) {
    const box = h("textarea", { rows: 3, "aria-label": "What belongs to this class", placeholder: "What belongs to this class", dir: "auto" });
    box.value = description ?? "";
    formDialog(`Describe “${name}”`, box, () => (box.value.trim() !== (description ?? "") ? { kind: "describe", name, description: box.value.trim() } : null));
  }

  /** @param {string} old */
  function merge(old) {
    const others = app.live.classes.filter(({ name }) => name !== old);
    const choice = h("select", { "aria-label": "Merge into" }, others.map(({ name }) => h("option", { value: name }, name)));
    formDialog(`Merge “${old}” into another class`, choice, () => (choice.value ? { kind: "merge", old, into: choice.value } : null));
  }

  /** @param {string} old */
  function split(old) {
    const box = h("textarea", { rows: 3, "aria-label": "New classes, one to a line", placeholder: "One new class to a line", dir: "auto" });
    formDialog(`Split “${old}”`, box, () => {
      const into = [...new Set(box.value.split("\n").map((/** @type {string} */ line) => line.trim()).filter(Boolean))];
      return into.length ? { kind: "split", old, into } : null;
    });
  }

  /** Asks for the words of a change and shows what it would do. @param {string} title @param {any} field @param {() => any} change */
  function formDialog(title, field, change) {
    const preview = h("p", { class: "preview", role: "status", "aria-live": "polite" });
    const problem = h("p", { class: "problem", role: "alert" });
    const apply = h("button", { class: "main", type: "submit", disabled: true }, "Apply");
    let asked = 0;
    const look = async () => {
      const wanted = change();
      asked += 1;
      const mine = asked;
      fill(problem);
      apply.disabled = true;
      if (!wanted) return fill(preview);
      try {
        const { sentence } = await post("/classes/preview", { change: wanted });
        if (mine !== asked) return;
        fill(preview, sentence);
        apply.disabled = false;
      } catch (refusal) {
        if (mine === asked) fill(problem, /** @type {Error} */ (refusal).message);
      }
    };
    const dialog = openDialog(title, [h("form", { onsubmit: async (/** @type {Event} */ event) => {
      event.preventDefault();
      const wanted = change();
      if (!wanted) return;
      apply.disabled = true;
      try {
        await commit(wanted);
        dialog.close();
      } catch (refusal) {
        fill(problem, /** @type {Error} */ (refusal).message);
        apply.disabled = false;
      }
    } }, field, preview, problem, h("div", { class: "row" }, apply, h("button", { class: "plain", type: "button", onclick: () => dialog.close() }, "Cancel")))]);
    field.addEventListener("input", look);
    field.focus();
    look();
    return dialog;
  }

  /** @param {any} change @param {string} title */
  function confirmChange(change, title) {
    return new Promise((resolve) => {
      const dialog = formDialog(title, h("input", { type: "hidden" }), () => change);
      dialog.addEventListener("close", () => resolve(app.live.state.project.classes.some((/** @type {any} */ each) => each.name === change.name)));
    });
  }

  /** @param {any} change */
  async function commit(change) {
    const reply = await post("/classes/changes", { change, client: newClient() });
    if (reply.state) app.live.take(reply.state);
    await app.live.poll();
    app.toast(`Changed. ${reply.sentence ?? ""}`, { name: "Undo", does: undoChange });
  }

  async function undoChange() {
    const back = rememberFocus();
    try {
      const reply = await post("/classes/undo", { client: newClient() });
      if (reply.state) app.live.take(reply.state);
      await app.live.poll();
      app.toast(`Undone. ${reply.sentence ?? ""}`);
    } catch (refusal) {
      app.toast(/** @type {Error} */ (refusal).message);
    }
    back();
  }

  app.live.addEventListener("change", draw);
  return { element, leave: () => app.live.removeEventListener("change", draw) };
}

/** @param {string} words @param {() => void} does */
const action = (words, does) => h("button", { class: "plain", "data-does": words.toLowerCase(), onclick: does }, words);
