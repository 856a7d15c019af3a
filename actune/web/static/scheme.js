/** Light, dark, or as the system has it. */

import { fill, h, icon } from "./dom.js";

const KEY = "actune/theme"; // read by theme.js before the first paint
const dark = matchMedia("(prefers-color-scheme: dark)");

const now = () => document.documentElement.dataset.theme ?? (dark.matches ? "dark" : "light");

export function nextTheme() {
  const chosen = now() === "dark" ? "light" : "dark";
  document.documentElement.dataset.theme = chosen;
  try {
    localStorage.setItem(KEY, chosen);
  } catch { /* it holds until the page is closed */ }
  dispatchEvent(new Event("themechange"));
}

export function themeButton() {
  const button = h("button", { class: "plain round", id: "theme" });
  const draw = () => {
    const other = now() === "dark" ? "light" : "dark";
    fill(button, icon(now() === "dark" ? "sun" : "moon"));
    button.setAttribute("aria-label", `Switch to ${other} colours`);
    button.title = `Switch to ${other} colours`;
  };
  addEventListener("themechange", draw);
  dark.addEventListener("change", () => dispatchEvent(new Event("themechange")));
  draw();
  return button;
}
