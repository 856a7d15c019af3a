/** The server's JSON, and what can go wrong on the way to it. */

/** The server answered, and refused. */
export class Refused extends Error {
  /** @param {number} status @param {string} code @param {string} sentence @param {number} wait seconds */
  constructor(status, code, sentence, wait) {
    super(sentence);
    this.status = status;
    this.code = code;
    this.wait = wait;
  }

  /** It may go well later, without any change. */
  get passing() {
    return this.status >= 500 || this.status === 429 || this.status === 408;
  }
}

/** No answer at all: the server or the network is away. */
export class Unreachable extends Error {}

const PATIENCE = 20_000; // milliseconds
const BASE = "/api/v1";

/** An address with its parameters; those that are empty are left out. @param {string} path @param {Record<string, unknown>} [params] */
export function address(path, params = {}) {
  const kept = Object.entries(params).filter(([, value]) => value !== null && value !== undefined && value !== "");
  const search = new URLSearchParams(kept.map(([name, value]) => [name, String(value)])).toString();
  return `${BASE}${path}${search ? `?${search}` : ""}`;
}

/** @param {string} path @param {Record<string, unknown>} [params] @returns {Promise<any>} */
export async function get(path, params) {
  return (await ask(address(path, params), {})).body;
}

/** @param {string} path @param {unknown} body @returns {Promise<any>} */
export async function post(path, body) {
  const init = { method: "POST", headers: { "Content-Type": "application/json", "X-Actune": "1" }, body: JSON.stringify(body) };
  return (await ask(address(path), init)).body;
}

/** The state, or null where it has not changed. @param {string|null} etag @returns {Promise<{state: any, etag: string|null}|null>} */
export async function changedState(etag) {
  const { response, body } = await ask(address("/state"), { headers: etag ? { "If-None-Match": etag } : {} });
  return response.status === 304 ? null : { state: body, etag: response.headers.get("ETag") };
}

/** @param {string} url @param {RequestInit} init */
async function ask(url, init) {
  const { response, text } = await exchange(url, init);
  const body = parsed(text);
  if (response.status === 304 || (response.ok && body !== undefined)) return { response, body };
  throw refusal(response, body);
}

/** @param {Response} response @param {any} body */
function refusal(response, body) {
  const sentence = typeof body?.error === "string" ? body.error : `The server answered with the status ${response.status}.`;
  return new Refused(response.status, body?.code ?? "", sentence, Number(response.headers.get("Retry-After")) || 0);
}

/** The whole answer; a connection that breaks in its middle is no answer. @param {string} url @param {RequestInit} init */
async function exchange(url, init) {
  try {
    const signal = AbortSignal.timeout(PATIENCE);
    const response = await fetch(url, { ...init, cache: "no-store", credentials: "same-origin", signal });
    return { response, text: await response.text() };
  } catch (cause) {
    throw new Unreachable("The server does not answer.", { cause });
  }
}

/** @param {string} text @returns {any} undefined where it is no JSON */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A file that is made for this request, however long that takes, and its name. @param {string} url @returns {Promise<{blob: Blob, name: string}>} */
export async function file(url) {
  try {
    const response = await fetch(url, { cache: "no-store", credentials: "same-origin" });
    if (!response.ok) throw refusal(response, parsed(await response.text()));
    const name = /filename\*=utf-8''([^;]+)/i.exec(response.headers.get("Content-Disposition") ?? "")?.[1];
    const plain = /filename="([^"]+)"/.exec(response.headers.get("Content-Disposition") ?? "")?.[1];
    return { blob: await response.blob(), name: name ? decodeURIComponent(name) : plain ?? "export" };
  } catch (cause) {
    if (cause instanceof Refused) throw cause;
    throw new Unreachable("The server does not answer.", { cause });
  }
}

/** An id by which the server knows a repeated request. */
export function newClient() {
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
