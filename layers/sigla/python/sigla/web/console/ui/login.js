/** Signing in at an issuer: OpenID Connect's code flow with PKCE (RFC 7636), for this tab alone. */

import { CONSOLE } from "./registry.js";

/** @typedef {{issuer: string, client: string, scope: string}} Login */
/** @typedef {import("./registry.js").Token} Token */

const PENDING = "sigla.login";
const GIVEN_UP_MS = 20_000;
const LONGEST_WORDS = 300;

/** Why nobody is signed in, in a sentence. isOver: whether the issuer has said so, and asking again would not help. */
export class LoginFailure extends Error {
  /** @param {string} message @param {boolean} [isOver] */
  constructor(message, isOver = false) {
    super(message);
    this.isOver = isOver;
  }
}

/** Leads to the issuer, which leads back to the console. Raises LoginFailure. @param {Login} login */
export async function begin(login) {
  if (!globalThis.crypto?.subtle) throw new LoginFailure("A browser signs in at an issuer from pages with https:// alone. A key can be used here.");
  const found = await discovered(login.issuer);
  const [state, nonce, verifier] = [random(), random(), random()];
  const challenge = encoded(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier)));
  const back = location.pathname + location.search + location.hash;
  const pending = { ...login, state, nonce, verifier, back, at: found.token_endpoint, end: found.end_session_endpoint, tellsIssuer: found.authorization_response_iss_parameter_supported === true };
  try {
    sessionStorage.setItem(PENDING, JSON.stringify(pending));
  } catch {
    throw new LoginFailure("The browser keeps nothing for this tab, so it cannot come back from the issuer. A key can be used here.");
  }
  const asked = new URL(found.authorization_endpoint);
  const said = {
    response_type: "code",
    client_id: login.client,
    redirect_uri: CONSOLE.href,
    scope: login.scope,
    state,
    nonce,
    code_challenge: challenge,
    code_challenge_method: "S256",
  };
  for (const [name, value] of Object.entries(said)) asked.searchParams.set(name, value);
  location.assign(asked);
}

/**
 * What the issuer has led back with. `back` is the address where the login began.
 *
 * @param {URLSearchParams} answer @returns {Promise<{token?: Token, problem?: string, back: string}>}
 */
export async function finish(answer) {
  const pending = taken();
  if (!pending || answer.get("state") !== pending.state) {
    return { problem: "An issuer has answered, but not to a login of this tab: sign in again.", back: CONSOLE.pathname };
  }
  try {
    return { token: await tokenOf(pending, answer), back: pending.back };
  } catch (problem) {
    if (problem instanceof LoginFailure) return { problem: problem.message, back: pending.back };
    throw problem;
  }
}

/** @param {any} pending @param {URLSearchParams} answer @returns {Promise<Token>} */
async function tokenOf(pending, answer) {
  const name = nameOf(pending.issuer);
  const from = answer.get("iss");
  if (from === null ? pending.tellsIssuer : from !== pending.issuer) {
    throw new LoginFailure(`The answer is not of ${name}, where the login began: sign in again.`);
  }
  if (answer.has("error")) throw refusal(name, Object.fromEntries(answer));
  const given = await granted(pending.issuer, pending.at, {
    grant_type: "authorization_code",
    code: answer.get("code") ?? "",
    redirect_uri: CONSOLE.href,
    client_id: pending.client,
    code_verifier: pending.verifier,
  });
  const claims = claimsOf(given.id_token);
  const audience = [claims?.aud].flat();
  // It came by TLS from the issuer itself, which stands for a signature (OpenID Connect Core, 3.1.3.7, 6). What the
  // access token is good for, and how long, the registry judges: the clock of this machine may be any.
  if (!claims || claims.iss !== pending.issuer || claims.nonce !== pending.nonce || !audience.includes(pending.client)) {
    throw new LoginFailure(`What ${name} has answered is not of this login: sign in again.`);
  }
  const { client, issuer, at, end } = pending;
  return kept(given, { client, issuer, at, end, who: text(claims.preferred_username ?? claims.email ?? claims.name ?? claims.sub) });
}

/** A token for the one that ends. Raises LoginFailure. @param {Token} token @returns {Promise<Token>} */
export async function renewed(token) {
  const given = await granted(token.issuer, token.at, { grant_type: "refresh_token", refresh_token: token.refresh ?? "", client_id: token.client });
  return kept(given, token);
}

/** Where the issuer ends its own session, if it says so. @param {Token} token */
export function wayOut(token) {
  if (!token.end) return undefined;
  const way = new URL(token.end);
  way.searchParams.set("client_id", token.client);
  way.searchParams.set("post_logout_redirect_uri", CONSOLE.href);
  return way;
}

/** The issuer, for people. @param {string} issuer */
export function nameOf(issuer) {
  return issuer.replace(/^https:\/\//, "");
}

// --- what is asked of an issuer ----------------------------------------------------------------------------------

/** Its discovery document. @param {string} issuer */
async function discovered(issuer) {
  const found = await asked(issuer, `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`);
  const name = nameOf(issuer);
  const own = new URL(issuer).origin;
  if (found.issuer !== issuer) throw new LoginFailure(`${name} calls itself ${text(found.issuer)}: the registry's setting has to be that.`);
  if (!isHttps(found.authorization_endpoint) || !isHttps(found.token_endpoint)) throw new LoginFailure(`${name} does not say where people sign in.`);
  if (new URL(found.token_endpoint).origin !== own) throw new LoginFailure(`${name} gives tokens at another host, ${new URL(found.token_endpoint).host}, which this page may not ask. A key can be used here.`);
  const methods = found.code_challenge_methods_supported;
  if (Array.isArray(methods) && !methods.includes("S256")) throw new LoginFailure(`${name} does not know PKCE with S256. A key can be used here.`);
  return { ...found, end_session_endpoint: isHttps(found.end_session_endpoint) ? found.end_session_endpoint : undefined };
}

/** @param {string} issuer @param {string} at @param {Record<string, string>} form */
async function granted(issuer, at, form) {
  const given = await asked(issuer, at, new URLSearchParams(form));
  if (typeof given.access_token !== "string" || String(given.token_type).toLowerCase() !== "bearer") {
    throw new LoginFailure(`${nameOf(issuer)} has given no bearer token.`, true);
  }
  return given;
}

/** An object that the issuer answers. @param {string} issuer @param {string} at @param {URLSearchParams} [body] @returns {Promise<any>} */
async function asked(issuer, at, body) {
  const name = nameOf(issuer);
  let answer;
  let said;
  try {
    answer = await fetch(at, { method: body ? "POST" : "GET", body, credentials: "omit", redirect: "error", cache: "no-store", signal: AbortSignal.timeout(GIVEN_UP_MS) });
    said = await answer.text();
  } catch {
    throw new LoginFailure(`${name} does not answer, or does not let pages of this registry ask.`);
  }
  let told;
  try {
    told = JSON.parse(said);
  } catch {
    told = undefined;
  }
  if (!answer.ok) throw refusal(name, told ?? {}, answer.status);
  if (typeof told !== "object" || told === null) throw new LoginFailure(`${name} has answered what is not understood.`);
  return told;
}

/** @param {string} name @param {any} said what the issuer says @param {number} [status] */
function refusal(name, said, status = 400) {
  if (status >= 500) return new LoginFailure(`${name} has failed (${status}): try again.`);
  if (said.error === "access_denied" && !said.error_description) return new LoginFailure(`The login at ${name} was cancelled.`, true);
  const why = [said.error, said.error_description].filter(Boolean).map(text).join(": ");
  return new LoginFailure(`${name} refused the login: ${why || `status ${status}`}.`, true);
}

// --- values ------------------------------------------------------------------------------------------------------

/** @param {any} given @param {{issuer: string, client: string, at: string, end?: string, who: string, refresh?: string}} of @returns {Token} */
function kept(given, { issuer, client, at, end, who, refresh }) {
  const lasts = Number(given.expires_in);
  const until = Date.now() + 1000 * (lasts > 0 ? lasts : 300);
  const again = typeof given.refresh_token === "string" ? given.refresh_token : refresh;
  return { access: given.access_token, refresh: again, until, issuer, client, at, end, who };
}

/** What was begun in this tab, once. */
function taken() {
  try {
    const said = sessionStorage.getItem(PENDING);
    sessionStorage.removeItem(PENDING);
    return said ? JSON.parse(said) : undefined;
  } catch {
    return undefined;
  }
}

/** The claims of a token, whoever signed it; undefined for what is none. @param {unknown} token */
function claimsOf(token) {
  try {
    const part = String(token).split(".")[1].replaceAll("-", "+").replaceAll("_", "/");
    return JSON.parse(new TextDecoder().decode(Uint8Array.from(atob(part), (each) => each.charCodeAt(0))));
  } catch {
    return undefined;
  }
}

/** What an issuer says, as a text of a sentence. @param {unknown} said */
function text(said) {
  return String(said).slice(0, LONGEST_WORDS).replace(/[.\s]+$/, "");
}

/** @param {unknown} said */
function isHttps(said) {
  return typeof said === "string" && URL.canParse(said) && new URL(said).protocol === "https:";
}

/** 256 random bits. */
function random() {
  return encoded(crypto.getRandomValues(new Uint8Array(32)));
}

/** In base64url. @param {ArrayBuffer | Uint8Array} bytes */
function encoded(bytes) {
  return btoa(String.fromCharCode(...new Uint8Array(bytes))).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
