/** The registry as the console asks it: who asks, what is asked, and what went wrong, in words for a person. */

import { useEffect, useLayoutEffect, useState } from "./vendor/preact.js";

/** Where the console is, and the registry that serves it. A front door may put both below a path of its own. */
export const CONSOLE = new URL("../../", import.meta.url);
export const REGISTRY = new URL("../", CONSOLE);

const JSON_OF_REGISTRY = "application/vnd.schemaregistry.v1+json";
const KEY = "sigla.key";
const TOKEN = "sigla.token";
const EARLY_MS = 30_000;
export const SLOW_MS = 1500;
/** Who waits longer for an answer is told that there is none. */
export const GIVEN_UP_MS = 60_000;
const NOT_SET = new Set([40408, 40409]);

/** What a request came to that was not answered as it should be. */
export class Failure extends Error {
  /** @param {number} status of HTTP; 0 where there was no answer. @param {number} code @param {string} message */
  constructor(status, code, message) {
    super(message);
    this.status = status;
    this.code = code;
  }

  /** Whether nothing is set there, which is an answer, too. */
  get isNotSet() {
    return NOT_SET.has(this.code);
  }

  /** Whether this registry has nothing at that path: the number is not one of its refusals, but that of HTTP. */
  get isAbsent() {
    return this.code === 404;
  }
}

// --- who asks ----------------------------------------------------------------------------------------------------

/** @type {Set<() => void>} */
const watchers = new Set();
let wanted = false;

/**
 * What an issuer has given this tab. until: when it ends, by the clock of this machine. at, end: where the issuer gives
 * tokens, and ends its own session. who: the person, for people.
 *
 * @typedef {{access: string, refresh?: string, until: number, issuer: string, client: string, at: string, end?: string, who: string}} Token
 */

/** Where people may sign in, as the server has written into the page. @type {import("./login.js").Login[]} */
export const LOGINS = JSON.parse(document.querySelector('meta[name="sigla-logins"]')?.getAttribute("content") || "[]");

/** The name of the key of this tab; empty without one. The secret stays here, and in the tab's own storage. */
export function keyName() {
  const said = stored(KEY);
  return said ? atobUtf8(said).split(":")[0] : "";
}

/** The token of this tab. @returns {Token | undefined} */
export function heldToken() {
  return asJson(stored(TOKEN));
}

/** Why nobody is signed in any more, in a sentence. */
let problem = "";

/** Why the registry asks again, where that is known. */
export function loginProblem() {
  return problem;
}

/** What a login has come to. @param {{token?: Token, problem?: string}} found */
export function settleLogin(found) {
  problem = found.problem ?? "";
  if (found.token) {
    keep(KEY, "");
    keep(TOKEN, JSON.stringify(found.token));
  }
  tell(Boolean(found.problem));
}

/** Whether the registry has asked for a key. */
export function isKeyWanted() {
  return wanted;
}

/** @param {string} name @param {string} secret */
export function signIn(name, secret) {
  keep(TOKEN, "");
  keep(KEY, btoaUtf8(`${name}:${secret}`));
  problem = "";
  tell(false);
}

export function signOut() {
  keep(KEY, "");
  keep(TOKEN, "");
  problem = "";
  tell(false);
}

/** @param {boolean} isWanted */
function tell(isWanted) {
  wanted = isWanted;
  if (callerTurn) askCaller();
  for (const each of watchers) each();
}

/** A number that is another one whenever somebody signs in or out, or the registry asks for a key. */
export function useSession() {
  return useCount(watchers);
}

/** @param {Set<() => void>} of which tell that something is another one now */
function useCount(of) {
  const [count, setCount] = useState(0);
  // At once: what is told between what is shown and an effect would be missed.
  useLayoutEffect(() => {
    const changed = () => setCount((/** @type {number} */ before) => before + 1);
    of.add(changed);
    return () => void of.delete(changed);
  }, []);
  return count;
}

/** Kept in memory as well: a browser may forbid storage. @type {Record<string, string>} */
const held = {};

/** @param {string} name */
function stored(name) {
  try {
    return sessionStorage.getItem(name) ?? held[name] ?? "";
  } catch {
    return held[name] ?? "";
  }
}

/** @param {string} name @param {string} said */
function keep(name, said) {
  held[name] = said;
  try {
    sessionStorage.removeItem(name);
    if (said) sessionStorage.setItem(name, said);
  } catch {
    // It is held in memory, until the page is left.
  }
}

const DRAFT = "sigla.draft ";

/** What was written about a subject and is not registered yet: it outlives a login and a reload, and ends with the tab. @param {string} subject */
export function draftOf(subject) {
  return asJson(stored(DRAFT + subject));
}

/** @param {string} subject @param {object | undefined} draft undefined: it is needed no more */
export function keepDraft(subject, draft) {
  keep(DRAFT + subject, draft ? JSON.stringify(draft) : "");
}

/** The names under which a draft is kept. */
function draftNames() {
  let names = Object.keys(held);
  try {
    names = names.concat(Object.keys(sessionStorage));
  } catch {
    // What is held in memory is all there is.
  }
  return names.filter((name) => name.startsWith(DRAFT) && stored(name));
}

export function hasDrafts() {
  return draftNames().length > 0;
}

/** Whoever uses the tab next does not see them. */
export function forgetDrafts() {
  for (const name of draftNames()) keep(name, "");
}

/** @param {string} text */
function btoaUtf8(text) {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)));
}

/** @param {string} said */
function atobUtf8(said) {
  return new TextDecoder().decode(Uint8Array.from(atob(said), (each) => each.charCodeAt(0)));
}

// --- what is asked -----------------------------------------------------------------------------------------------

/** A name as a segment of a path. Browsers take dots alone for steps up and down: such a subject is named in full. */
export function segment(/** @type {string | number} */ name) {
  const text = String(name);
  return encodeURIComponent(text === "." || text === ".." ? `:.:${text}` : text);
}

/** A context as a segment of a page's address; the default one has a word there. @param {string} context */
export function contextSegment(context) {
  if (context === ".") return "default";
  return encodeURIComponent(context === ".." ? ":..:" : context);
}

/** The context that a segment stands for. @param {string} said decoded */
export function contextOf(said) {
  return said === "default" ? "." : said.replace(/^:|:$/g, "");
}

/** @param {Record<string, string | number | boolean | undefined>} given those that say nothing are left out */
export function query(given) {
  const said = Object.entries(given).filter(([, value]) => value !== undefined && value !== "" && value !== false && value !== 0);
  return said.length ? `?${new URLSearchParams(said.map(([name, value]) => [name, String(value)]))}` : "";
}

/** What is asked with: the key of the tab, or its token, which is renewed before it ends. */
async function authorization() {
  const token = heldToken();
  if (token?.refresh && Date.now() > token.until - EARLY_MS) await renew(token);
  return credentials();
}

/** What a request says of who asks, as things are; empty without a key. */
function credentials() {
  const token = heldToken();
  return token ? `Bearer ${token.access}` : stored(KEY) && `Basic ${stored(KEY)}`;
}

/** @type {Promise<void> | undefined} */
let renewing;

/** Asks the issuer for another token, once for all who wait. Where it gives none, the registry is asked with the old one. @param {Token} token */
function renew(token) {
  const before = stored(TOKEN);
  const settle = (/** @type {Token} */ fresh) => {
    // Whoever signed out or in meanwhile is not signed in again.
    if (stored(TOKEN) === before) keep(TOKEN, JSON.stringify(fresh));
  };
  renewing ??= import("./login.js")
    .then(async (login) => settle(await login.renewed(token)))
    .catch((wrong) => void (wrong.isOver && settle({ ...token, refresh: undefined })))
    .finally(() => void (renewing = undefined));
  return renewing;
}

/** Why the registry does not know the token of the tab any more. @param {Token} token */
function refusedToken(token) {
  const name = token.issuer.replace(/^https:\/\//, "");
  return Date.now() > token.until ? `The login at ${name} has ended: sign in again.` : `The registry does not accept the token that ${name} has given.`;
}

/** @typedef {{method: string, body?: any, isChange?: boolean}} Change */

/**
 * The answer of a request, read as JSON; undefined for one without a body. Raises Failure.
 *
 * @param {string} path below the registry @param {AbortSignal} [signal]
 * @param {Change} [change] a GET without it
 */
export async function ask(path, signal, change) {
  const { answer, body } = await answered(path, signal, change);
  const read = asJson(body);
  if (!answer.ok || (read === undefined && body)) throw refusal(answer, read);
  if (!change?.isChange && !isOfShape(path, read)) throw new Failure(answer.status, 0, "This answer cannot be shown: it is not what was asked for.");
  return read;
}

/** What the server counts, as Prometheus' text. Raises Failure. @param {string} path @param {AbortSignal} [signal] */
export async function askCounters(path, signal) {
  const { answer, body } = await answered(path, signal);
  if (answer.ok && body.startsWith("# ")) return body;
  throw refusal(answer, answer.ok ? undefined : asJson(body));
}

/** @param {Response} answer @param {any} read */
function refusal(answer, read) {
  if (answer.status === 401 && !wanted) {
    const token = heldToken();
    problem = token ? refusedToken(token) : "";
    tell(true);
  }
  const without = answer.ok ? "The answer is not of a registry. Does a proxy answer in its place?" : `The answer was ${answer.status}, without a reason.`;
  const { error_code: code = answer.status, message = without } = read ?? {};
  return new Failure(answer.status, code, message);
}

/**
 * A token that the registry does not know any more is renewed, and the same is asked once more; so it is where it was
 * refused because of a key that is not that of the tab any more.
 *
 * @param {string} path @param {AbortSignal} [signal] @param {Change} [change] @param {boolean} [isFirst] @returns {Promise<{answer: Response, body: string}>}
 */
async function answered(path, signal, change, isFirst = true) {
  const said = await authorization();
  /** @type {Record<string, string>} */
  const headers = { accept: JSON_OF_REGISTRY };
  if (said) headers.authorization = said;
  if (change?.body !== undefined) headers["content-type"] = JSON_OF_REGISTRY;
  let answer;
  let body;
  try {
    // Without credentials of its own the browser does not ask for a password in a window of its own.
    const sent = { method: change?.method ?? "GET", body: change?.body === undefined ? undefined : JSON.stringify(change.body) };
    answer = await fetch(new URL(path, REGISTRY), { ...sent, headers, credentials: "omit", signal });
    body = await answer.text();
  } catch (problem) {
    const unsure = change?.isChange ? " It may have made the change: look before you try again." : "";
    const isLate = signal?.reason === GIVEN_UP || signal?.reason?.name === "TimeoutError";
    if (isLate) throw new Failure(0, 0, `The registry has not answered for a minute.${unsure}`);
    if (signal?.aborted) throw problem;
    throw new Failure(0, 0, `The registry does not answer. Is it running, and is the network there?${unsure}`);
  }
  const token = heldToken();
  if (answer.status !== 401 || !isFirst) return { answer, body };
  if (token?.refresh && said === `Bearer ${token.access}`) await renew(token);
  // Who has signed in, or was given another token, since it was sent is not the one that is refused.
  if (said !== credentials()) return answered(path, signal, change, false);
  return { answer, body };
}

/** @type {Set<() => void>} */
const changes = new Set();

/**
 * Carries out a change; whatever is shown is asked anew then. Raises Failure.
 *
 * @param {string} method @param {string} path @param {any} [body]
 */
export async function change(method, path, body) {
  try {
    return await ask(path, AbortSignal.timeout(GIVEN_UP_MS), { method, body, isChange: true });
  } finally {
    // Also where it failed: it may have been carried out.
    for (const each of changes) each();
  }
}

const CALLER = "console/api/caller";

/** Every page builds on it: another answer is told, and no page is blank. @param {any} read */
function asCaller(read) {
  if (Array.isArray(read?.may) && Array.isArray(read.has)) return read;
  throw new Failure(200, 200, "This answer cannot be shown: it does not say who asks.");
}

/** Who asks, as the frame and every part of a page know it: one that is shown later begins with what is known. @type {{value?: any, failure?: Failure, isSlow: boolean}} */
let caller = { isSlow: false };
let callerTurn = 0;

/** @type {Set<() => void>} */
const callers = new Set();

/** Asks who asks. An answer that comes after one has asked anew is not taken. */
function askCaller() {
  callerTurn += 1;
  const turn = callerTurn;
  const settle = (/** @type {typeof caller} */ found) => {
    if (turn !== callerTurn) return;
    caller = found;
    for (const each of callers) each();
  };
  settle({ value: caller.value, isSlow: false });
  const slow = setTimeout(() => settle({ value: caller.value, isSlow: true }), SLOW_MS);
  ask(CALLER, AbortSignal.timeout(GIVEN_UP_MS))
    .then(asCaller)
    .finally(() => clearTimeout(slow))
    .then(
      (value) => settle({ value, isSlow: false }),
      (failure) => settle({ failure, isSlow: false }),
    );
}

/** Who asks and what it may do, as it was asked. @returns {Asked} */
export function useAskedCaller() {
  useCount(callers);
  useEffect(() => void (callerTurn || askCaller()), []);
  return { ...caller, again: askCaller };
}

/** Who asks and what it may do; undefined until that is known. @returns {{name: string, may: string[], everything: boolean, has: string[]} | undefined} */
export function useCaller() {
  return useAskedCaller().value;
}

/** Whether each read costs money; undefined until that is known. */
export function useIsPaid() {
  const { value, failure } = useAskedCaller();
  return failure ? false : value?.has.includes("paid-reads");
}

/** @param {string} body */
function asJson(body) {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

const GIVEN_UP = "given up";

/** @typedef {{value?: any, failure?: Failure, isSlow: boolean, again: () => void}} Asked */

/**
 * What the registry answers to a path, asked anew whenever the path or the key is another one.
 *
 * @param {string} path empty: nothing is asked @param {any} [body] what is sent there, by POST
 * @param {(path: string, signal?: AbortSignal, change?: Change) => Promise<any>} [read] another way to read the answer @returns {Asked}
 */
export function useAsked(path, body, read = ask) {
  const session = useSession();
  const changed = useCount(changes);
  const [turn, setTurn] = useState(0);
  const [state, setState] = useState(/** @type {any} */ ({ isSlow: false }));
  useEffect(() => {
    // What was shown stays until it is known anew, unless it was about something else.
    setState((/** @type {any} */ before) => (before.path === path ? { path, value: before.value, isSlow: false } : { isSlow: false }));
    if (!path) return undefined;
    const stop = new AbortController();
    const slow = setTimeout(() => setState((/** @type {any} */ before) => ({ ...before, isSlow: true })), SLOW_MS);
    const end = setTimeout(() => stop.abort(GIVEN_UP), GIVEN_UP_MS);
    const done = (/** @type {any} */ found) => {
      clearTimeout(slow);
      clearTimeout(end);
      if (!stop.signal.aborted || stop.signal.reason === GIVEN_UP) setState({ isSlow: false, path, ...found });
    };
    read(path, stop.signal, body && { method: "POST", body }).then(
      (value) => done({ value }),
      (failure) => done({ failure }),
    );
    return () => {
      clearTimeout(slow);
      clearTimeout(end);
      stop.abort();
    };
  }, [path, JSON.stringify(body), session, turn, changed]);
  return { ...state, again: () => setTurn(turn + 1) };
}

// --- what answers are made of: one of another shape is not shown as if nothing were there -------------------------

/** Each item of a list is of this kind. @param {string} items @returns {(read: any) => boolean} */
const listOf = (items) => (read) => Array.isArray(read) && read.every((each) => kindOf(each) === items);

/** An object with members of these kinds, and others. @param {Record<string, string>} members @returns {(read: any) => boolean} */
const objectWith = (members) => (read) => kindOf(read) === "object" && Object.entries(members).every(([name, kind]) => kindOf(read[name]) === kind);

/** An object with one of these members at least. @param {string[]} members @returns {(read: any) => boolean} */
const objectWithAny = (...members) => (read) => kindOf(read) === "object" && members.some((name) => read[name] !== undefined);

const SCHEMA = objectWith({ schema: "string" });
const PART = objectWith({ found: "list" });
const OBJECTS = listOf("object");
const NAMES = listOf("string");

/** The first pattern that fits a path without its query counts. @type {[RegExp, (read: any) => boolean][]} */
const SHAPES = [
  [/^subjects$/, NAMES],
  [/^subjects\/[^/]+\/versions$/, listOf("number")],
  [/^subjects\/[^/]+\/versions\/[^/]+$/, objectWith({ schema: "string", version: "number" })],
  [/^subjects\/[^/]+\/history$/, OBJECTS],
  [/^subjects\/[^/]+\/diff\/[^/]+\/[^/]+$/, objectWith({ changes: "list", backward: "object", forward: "object" })],
  [/^schemas\/(ids|guids)\/[^/]+$/, SCHEMA],
  [/^schemas\/(ids|guids)\/[^/]+\/(versions|ids)$/, OBJECTS],
  [/^config(\/[^/]+)?$/, objectWithAny("compatibilityLevel", "alias", "normalize", "compatibilityGroup", "compatibilityPolicy", "validateFields", "validateRules", "defaultMetadata", "overrideMetadata", "defaultRuleSet", "overrideRuleSet", "aliasForDeks")],
  [/^mode(\/[^/]+)?$/, objectWith({ mode: "string" })],
  [/^console\/api\/in-force\/[^/]+$/, objectWith({ subject: "string", config: "object", mode: "string", from: "object" })],
  [/^settings$/, OBJECTS],
  [/^zones$/, OBJECTS],
  [/^associations\//, OBJECTS],
  [/^dek-registry\/v1\/keks\/[^/]+\/deks$/, NAMES],
  [/^v1\/metadata\/version$/, objectWith({ version: "string" })],
  [/^console\/api\/subjects$/, OBJECTS],
  [/^console\/api\/subjects\/[^/]+\/versions$/, objectWith({ subject: "string", name: "string", found: "list" })],
  [/^console\/api\/subjects\/[^/]+\/(referrers|usage|fields\/[^/]+)$/, PART],
  [/^console\/api\/subjects\/[^/]+\/stakes$/, (read) => objectWith({ versions: "object", referrers: "object", reads: "object" })(read) && kindOf(read.referrers.found) === "list"],
  [/^console\/api\/subjects\/[^/]+\/verdict$/, objectWith({ accepted: "boolean", problems: "list" })],
  [/^console\/api\/search$/, objectWith({ found: "list", searched: "number" })],
  [/^console\/api\/(contexts|settings|names|keks|associations|ids\/[^/]+)$/, PART],
  [/^console\/api\/graph$/, objectWith({ subject: "string", nodes: "list", edges: "list" })],
  [/^console\/api\/decode$/, objectWith({ bytes: "string" })],
  [/^console\/api\/(log|keys)$/, OBJECTS],
  [/^console\/api\/keys\/[^/]+\/use$/, objectWith({ key: "string" })],
  [/^console\/api\/regions$/, objectWith({ role: "string", waiting: "list" })],
  [/^console\/api\/regions\/other$/, objectWithAny("url", "region", "why", "lacking")],
];

/** @param {any} value */
function kindOf(value) {
  if (Array.isArray(value)) return "list";
  return value === null ? "null" : typeof value;
}

/** Whether an answer is what a page can show that has asked for a path. @param {string} path with its query @param {any} read */
function isOfShape(path, read) {
  const asked = path.split("?")[0];
  const [, fits] = SHAPES.find(([pattern]) => pattern.test(asked)) ?? [];
  return fits ? fits(read) : true;
}
