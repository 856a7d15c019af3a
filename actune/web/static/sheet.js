/** The sheet of keys. */

import { h } from "./dom.js";
import { openDialog } from "./dialogs.js";
import { classKeys, COMMANDS, MANY } from "./keys.js";

/** @param {import("./app.js").App} app */
export function commandsSheet(app) {
  const { classes } = app.live;
  const keys = classKeys(classes.length);
  const many = classes.length > MANY;
  const rows = COMMANDS.filter(({ name }) => many || name !== "find").map(({ keys: pressed, does }) => line(pressed.map((key) => (many && /^[A-Z]$/.test(key) ? `Shift+${key}` : key)), does));
  const some = classes.slice(0, 26).flatMap(({ name }, place) => (keys[place] && !many ? [line([/** @type {string} */ (keys[place]).toUpperCase()], name)] : []));
  openDialog("Keys", [
    h("div", { class: "keys" },
      many ? h("section", {}, h("h3", {}, "Classes"), h("p", { class: "soft" }, "Type letters to search, then Enter; the digits choose among those that are shown."))
        : some.length > 0 && h("section", {}, h("h3", {}, "Classes"), h("dl", {}, some)),
      h("section", {}, h("h3", {}, "Commands"), h("dl", {}, rows))),
  ], { wide: true });
}

/** @param {string[]} keys @param {string} does */
const line = (keys, does) => h("div", {}, h("dt", {}, keys.map((key) => h("kbd", {}, key))), h("dd", { dir: "auto" }, does));
