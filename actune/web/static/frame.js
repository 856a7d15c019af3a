/** What stands around every view: the way to the others, what is saved, and how the training goes. */

import { fill, h, icon } from "./dom.js";
import { commandsSheet } from "./sheet.js";
import { nextTheme, themeButton } from "./scheme.js";
import { share, stage } from "./training.js";
import { count } from "./words.js";

/** @type {[string, string, any][]} */
const PLACES = [
  ["label", "Label", "label"], ["progress", "Progress", "chart"], ["review", "Review", "review"],
  ["classes", "Classes", "tags"], ["export", "Export", "out"],
];

const ALONE = "person"; // whom the server calls so has no account

/** @param {import("./app.js").App} app */
export function frame(app) {
  const links = PLACES.map(([view, name, picture]) => h("a", { href: `#/${view}`, "data-view": view }, icon(picture), h("span", {}, name)));
  const saved = h("div", { class: "saved", id: "saved" });
  const training = h("div", { class: "training" });
  const banners = h("div", { class: "banners" });
  const main = h("main", { id: "main", tabindex: "-1" });
  const toasts = h("div", { class: "toasts" });
  const theme = themeButton();
  theme.addEventListener("click", nextTheme);
  const element = h("div", { class: "frame" },
    h("header", { class: "top" },
      h("a", { class: "brand", href: "#/label", title: app.live.state.project.name },
        h("span", { class: "mark", "aria-hidden": "true" }), h("span", { dir: "auto" }, app.live.state.project.name)),
      h("nav", { "aria-label": "Views" }, links),
      h("div", { class: "tools" }, saved, theme,
        app.live.state.user.name !== ALONE && h("button", { class: "plain", id: "logout", title: "Log out", onclick: logOut }, h("span", { dir: "auto" }, app.live.state.user.name), h("span", { class: "unseen" }, ": log out")),
        h("button", { class: "plain round", id: "help", "aria-label": "Show the keys", title: "Keys (?)", onclick: () => commandsSheet(app) }, icon("help"))), training),
    banners, main, toasts);

  const drawSaved = () => fill(saved, savedWords(app));
  const drawTraining = () => fill(training, trainingLine(app.live.state.training));
  const drawBanners = () => fill(banners, offlineBanner(app), refusedBanner(app), failedBanner(app));
  element.addEventListener("viewchange", () => {
    for (const link of links) link.dataset.view === element.dataset.view ? link.setAttribute("aria-current", "page") : link.removeAttribute("aria-current");
  });
  for (const event of ["change", "saved", "refused"]) app.outbox.addEventListener(event, () => { drawSaved(); drawBanners(); });
  app.live.addEventListener("connection", drawBanners);
  app.live.addEventListener("change", () => { drawTraining(); drawBanners(); });
  drawSaved();
  drawTraining();
  drawBanners();
  return { element, main, toasts };
}

async function logOut() {
  await fetch("/logout", { method: "POST", headers: { "X-Actune": "1" } }).catch(() => undefined);
  location.assign("/login");
}

/** @param {import("./app.js").App} app */
function savedWords(app) {
  const waiting = app.outbox.waiting().length;
  if (!waiting) return app.outbox.acknowledged ? [icon("check"), h("span", {}, "Saved")] : [];
  if (app.outbox.trouble) return [h("span", { class: "waiting" }, `${count(waiting, "answer")} waiting`)];
  return [h("span", { class: "soft" }, "Saving …")];
}

/** A thin line that moves nothing on the page; the labelling view has the words. @param {import("./live.js").Training} training */
function trainingLine(training) {
  const words = stage(training);
  return words && h("progress", { max: 1, value: share(training), title: words, "aria-label": words });
}

/** @param {import("./app.js").App} app */
function offlineBanner(app) {
  const { live, outbox } = app;
  if (live.problem?.status === 401 || live.problem?.status === 403) {
    return banner("warning", "This page was locked. Open it by the link that the terminal prints; answers in this browser are kept.");
  }
  if (live.online && !outbox.trouble) return null;
  const waiting = outbox.waiting().length;
  const kept = waiting ? ` ${count(waiting, "answer is", "answers are")} kept in this browser and will be sent.` : " You can go on: answers are kept in this browser.";
  const what = live.online ? outbox.trouble : "The server does not answer.";
  return banner("warning", `${what}${kept}`, { name: "Try now", does: () => { live.poll(); outbox.flush(); } });
}

/** @param {import("./app.js").App} app */
function refusedBanner(app) {
  return app.outbox.refused().map(({ key, letter }) => {
    const word = letter.body.label ?? letter.body.kind;
    const what = letter.path === "/near-duplicates" ? `“${word}” was not applied to near-duplicates`
      : letter.path === "/review/disagreements" ? `That “${word}” is right was not saved`
        : letter.path === "/remarks" ? "The note was not saved" : `The answer “${word}” was not saved`;
    return banner("error", `${what}: ${letter.refused}`,
      { name: "Send again", does: () => app.outbox.again(key) }, { name: "Discard", does: () => app.outbox.discard(key) });
  });
}

/** @param {import("./app.js").App} app */
function failedBanner(app) {
  const { state, error } = app.live.state.training;
  return state === "failed" ? banner("error", `The training stopped: ${error ?? "the reason is in the terminal."} Your answers are saved.`) : null;
}

/** @param {"warning"|"error"} kind @param {string} words @param {...{name: string, does: () => void}} actions */
function banner(kind, words, ...actions) {
  return h("div", { class: `banner ${kind}`, role: kind === "error" ? "alert" : "status" }, h("span", { class: "sign", "aria-hidden": "true" }, "!"),
    h("p", {}, words), actions.map(({ name, does }) => h("button", { class: "plain", onclick: does }, name)));
}
