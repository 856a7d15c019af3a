/** How the training in the background goes, in words. */

import { duration, percent } from "./words.js";

const STAGES = {
  waiting: "Training starts soon", loading: "Loading the model", comparing: "Comparing the texts", embedding: "Reading the texts",
  training: "Training a model", reading: "The model reads the pool",
};

/** The share that is done, or null where nobody knows. @param {import("./live.js").Training} training */
export function share({ state, done, total }) {
  if (!total || state === "waiting" || state === "loading") return null;
  return Math.min(1, (done ?? 0) / total);
}

/** What is going on, or null. @param {import("./live.js").Training} training */
export function stage(training) {
  const words = STAGES[/** @type {keyof typeof STAGES} */ (training.state)];
  if (!words) return null;
  const part = share(training);
  const left = training.seconds_left ? `, about ${duration(training.seconds_left)} left` : "";
  return part === null ? words : `${words}: ${percent(part)}${left}`;
}
