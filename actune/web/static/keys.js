/** Which key does what: classes get the digits, then the letters that no command has. */

/**
 * @typedef {{name: string, keys: string[], does: string}} Command
 */

export const MANY = 12; // beyond so many classes, letters search instead

/** @type {Command[]} */
export const COMMANDS = [
  { name: "accept", keys: ["Enter"], does: "Accept the suggestion" },
  { name: "skip", keys: ["Space"], does: "Skip this text" },
  { name: "unsure", keys: ["X"], does: "Mark as unsure" },
  { name: "undo", keys: ["U", "Ctrl+Z"], does: "Undo" },
  { name: "redo", keys: ["R", "Ctrl+Shift+Z"], does: "Redo" },
  { name: "previous", keys: ["←"], does: "Previous text" },
  { name: "next", keys: ["→"], does: "Next text" },
  { name: "note", keys: ["N"], does: "Write a note" },
  { name: "apply", keys: ["D"], does: "Apply the last label to its near-duplicates" },
  { name: "flag", keys: ["F"], does: "Flag this text" },
  { name: "why", keys: ["W"], does: "Why this text?" },
  { name: "fold", keys: ["E"], does: "Show or fold a long text" },
  { name: "suggestions", keys: ["S"], does: "Show or hide suggestions" },
  { name: "find", keys: ["/"], does: "Search the classes" },
  { name: "help", keys: ["?"], does: "Show these keys" },
];

const TAKEN = new Set(COMMANDS.flatMap(({ keys }) => keys).filter((key) => /^[A-Z]$/.test(key)).map((key) => key.toLowerCase()));
const LETTERS = [..."abcdefghijklmnopqrstuvwxyz"].filter((letter) => !TAKEN.has(letter));
const DIGITS = [..."1234567890"];

/** A key for each class in its place; more than there are keys for have none. @param {number} classes @returns {(string|null)[]} */
export function classKeys(classes) {
  const all = classes > MANY ? DIGITS : [...DIGITS, ...LETTERS];
  return Array.from({ length: classes }, (_, place) => all[place] ?? null);
}

/**
 * What is printed on the key: a French keyboard gives its digits only with Shift, and a Greek one no Latin letters.
 * There the place of the key on the keyboard decides.
 * @param {KeyboardEvent} event
 */
export function printed(event) {
  const [, digit, letter] = /^(?:Digit(\d)|Key([A-Z]))$/.exec(event.code) ?? [];
  if (digit && !event.shiftKey && !/^[0-9a-z]$/i.test(event.key)) return digit;
  return letter && /^[^a-z]$/iu.test(event.key) && /\p{L}/u.test(event.key) ? letter.toLowerCase() : event.key;
}

/** The key of a class that is pressed, if it is one: Shift belongs to commands, but some keyboards need it for digits. @param {KeyboardEvent} event */
export function classKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return null;
  const key = printed(event);
  return event.shiftKey && !DIGITS.includes(key) ? null : key;
}

/** The command of a key press, or none. @param {KeyboardEvent} event @returns {string|null} */
export function command(event) {
  const key = printed(event);
  if (event.ctrlKey || event.metaKey) {
    if (key.toLowerCase() === "z") return event.shiftKey ? "redo" : "undo";
    return key.toLowerCase() === "y" ? "redo" : null;
  }
  if (event.altKey) return null;
  const pressed = { " ": "Space", ArrowLeft: "←", ArrowRight: "→" }[key] ?? key;
  return COMMANDS.find(({ keys }) => keys.includes(pressed.length === 1 ? pressed.toUpperCase() : pressed))?.name ?? null;
}

/** Whether a key press belongs to what has the focus: a field, or a button that Space and Enter press. @param {KeyboardEvent} event */
export function belongsToFocus(event) {
  const target = event.target instanceof Element ? event.target : document.body;
  if (target.closest("input, textarea, select, [contenteditable], dialog")) return true;
  return (event.key === " " || event.key === "Enter") && Boolean(target.closest("button, a[href], summary"));
}
