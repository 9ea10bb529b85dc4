/** The frame of the console: which page an address is, what stands around it, and where a key is asked for. */

import { html, render, useEffect, useErrorBoundary, useRef, useState } from "./vendor/preact.js";
import { CONSOLE, forgetDrafts, hasDrafts, heldToken, isKeyWanted, keyName, LOGINS, loginProblem, settleLogin, signIn, signOut, useAskedCaller, useSession } from "./registry.js";
import { follow, Heading, here, keepPlaces, Link, Notice, onMove, Problem, Waiting } from "./parts.js";

/** @typedef {{params: Record<string, string>, query: URLSearchParams}} Place */

/** Every page: its address below the console, and the module that shows it. A module is loaded with its first page. */
const PAGES = [
  ["", () => import("./pages/overview.js")],
  ["subjects", () => import("./pages/subjects.js")],
  ["subjects/{subject}", () => import("./pages/subject.js")],
  ["subjects/{subject}/versions/{version}", () => import("./pages/subject.js")],
  ["subjects/{subject}/edit", () => import("./pages/edit.js")],
  ["edit", () => import("./pages/edit.js")],
  ["subjects/{subject}/diff/{old}/{new}", () => import("./pages/diff.js")],
  ["ids/{context}/{id}", () => import("./pages/meanings.js")],
  ["guids/{guid}", () => import("./pages/meanings.js")],
  ["contexts", () => import("./pages/contexts.js")],
  ["settings", () => import("./pages/settings.js")],
  ["decode", () => import("./pages/decode.js")],
  ["log", () => import("./pages/log.js")],
  ["zones", () => import("./pages/zones.js")],
  ["counters", () => import("./pages/counters.js")],
  ["regions", () => import("./pages/regions.js")],
  ["associations", () => import("./pages/associations.js")],
  ["keys", () => import("./pages/keys.js")],
  ["encryption", () => import("./pages/encryption.js")],
];

/** What is always there, and what is shown to whom the registry has it for. @type {[string, string, ((caller: any) => boolean)?][]} */
const PLACES = [
  ["subjects", "Subjects"],
  ["contexts", "Contexts"],
  ["settings", "Settings"],
  ["decode", "Decode"],
  ["log", "Log", (caller) => caller.has.includes("log") && caller.may.includes("admin") && caller.everything],
  ["keys", "Keys", (caller) => caller.has.includes("keys") && caller.may.includes("admin") && caller.everything],
  ["zones", "Zones", (caller) => caller.has.includes("zones")],
  ["counters", "Counters", (caller) => caller.has.includes("counters")],
  ["regions", "Regions", (caller) => caller.has.includes("regions") && caller.may.includes("admin") && caller.everything],
];

/** Pages that are under a place of another name. @type {Record<string, string>} */
const UNDER = { ids: "subjects", guids: "subjects", edit: "subjects" };

/** @param {string} path below the console, encoded */
function pageOf(path) {
  const segments = path.split("/");
  for (const [pattern, load] of /** @type {[string, () => Promise<any>][]} */ (PAGES)) {
    const parts = pattern.split("/");
    if (parts.length !== segments.length) continue;
    /** @type {Record<string, string>} */
    const params = {};
    const fits = parts.every((part, at) => {
      if (!part.startsWith("{")) return part === segments[at];
      const said = decoded(segments[at]);
      params[part.slice(1, -1)] = said ?? "";
      return Boolean(said);
    });
    if (fits) return { load, params };
  }
  return undefined;
}

/** @param {string} said */
function decoded(said) {
  try {
    return decodeURIComponent(said);
  } catch {
    return undefined;
  }
}

function App() {
  const [at, setAt] = useState(here());
  const session = useSession();
  const { value: caller, failure, again } = useAskedCaller();
  // Whoever is not known would see refusals alone.
  const isOut = isKeyWanted() && !caller;
  const [first] = at.path.split("/");
  const main = useRef(/** @type {HTMLElement | undefined} */ (undefined));
  const isFirst = useRef(true);
  useEffect(() => onMove(() => setAt(here())), []);
  useEffect(() => {
    if (isFirst.current) isFirst.current = false;
    else main.current?.querySelector("h1")?.focus({ preventScroll: true });
  }, [at.path]);
  return html`
    <a class="skip" href="#main" onClick=${skip}>Skip to the content</a>
    <header class="frame" aria-busy=${!caller && !failure}>
      <${Link} to="" class="mark">Sigla<//>
      ${!isOut &&
      html`<nav aria-label="Pages">
          ${PLACES.filter(([, , isThere]) => !isThere || (caller && isThere(caller))).map(
            ([path, name]) => html`<${Link} to=${path} current=${(UNDER[first] ?? first) === path}>${name}<//>`,
          )}
        </nav>
        <${Finder} />
        <${Who} key=${session} />`}
    </header>
    <main id="main" ref=${main} tabindex="-1">
      <${Notice} />
      ${isOut && html`<${Heading} title="Sign in" />`}
      ${isKeyWanted() && html`<${SignIn} />`}
      ${failure && failure.status !== 401 && html`<p>What may be changed here is not known.</p><${Problem} failure=${failure} again=${again} />`}
      ${!isOut && html`<${Page} key=${`${at.path} ${session}`} at=${at} />`}
    </main>
  `;
}

/** @param {MouseEvent} event */
function skip(event) {
  event.preventDefault();
  document.getElementById("main")?.focus();
}

/** @param {{at: {path: string, query: URLSearchParams}}} given */
function Page({ at }) {
  const found = pageOf(at.path);
  const [shown, setShown] = useState(/** @type {any} */ ({}));
  const [broken, mend] = useErrorBoundary();
  useEffect(() => {
    let isWanted = true;
    found?.load().then(
      (module) => isWanted && setShown({ page: module.default }),
      () => isWanted && setShown({ isLost: true }),
    );
    return () => void (isWanted = false);
  }, [at.path]);
  if (broken) {
    return html`<section class="problem" role="alert">
      <h1 tabindex="-1">This page could not be shown</h1>
      <p>${String(broken.message ?? broken)}</p>
      <button onClick=${mend}>Try again</button>
    </section>`;
  }
  if (!found) {
    return html`<h1 tabindex="-1">No such page</h1>
      <p>The console has no page at this address. <${Link} to="subjects">All subjects<//></p>`;
  }
  if (shown.isLost) {
    return html`<section class="problem" role="alert">
      <h1 tabindex="-1">This page could not be loaded</h1>
      <p>The registry has another release now, or does not answer.</p>
      <button onClick=${() => location.reload()}>Load it again</button>
    </section>`;
  }
  return shown.page ? html`<${shown.page} params=${found.params} query=${at.query} />` : null;
}

/** Leads from any page to subjects by name. */
function Finder() {
  const search = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    const form = /** @type {HTMLFormElement} */ (event.target);
    const said = String(new FormData(form).get("q") ?? "");
    follow(`subjects${said ? `?q=${encodeURIComponent(said)}` : ""}`);
    form.reset();
  };
  return html`<form class="finder" role="search" onSubmit=${search}>
    <input name="q" type="search" aria-label="Find subjects" placeholder="Find subjects" autocomplete="off" spellcheck="false" />
  </form>`;
}

function Who() {
  const token = heldToken();
  const name = token?.who ?? keyName();
  if (!name) return null;
  const leave = async () => {
    forgetDrafts();
    signOut();
    const way = token && (await import("./login.js")).wayOut(token);
    if (way) location.assign(way);
  };
  return html`<p class="who"><span>${name}</span> <button class="quiet" onClick=${leave}>Sign out</button></p>`;
}

function SignIn() {
  const wrong = keyName();
  const [failure, setFailure] = useState(loginProblem());
  const [isBusy, setBusy] = useState(false);
  const enter = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    const said = new FormData(/** @type {HTMLFormElement} */ (event.target));
    signIn(String(said.get("name")), String(said.get("secret")));
  };
  const lead = async (/** @type {import("./login.js").Login} */ login) => {
    setBusy(true);
    setFailure("");
    try {
      await (await import("./login.js")).begin(login);
    } catch (problem) {
      setFailure(/** @type {Error} */ (problem).message);
      setBusy(false);
    }
  };
  return html`<section class="sign-in" aria-labelledby="sign-in">
    <h2 id="sign-in">This registry asks ${LOGINS.length ? "who you are" : "for a key"}</h2>
    ${failure && html`<p role="alert">${failure}</p>`}
    ${wrong && html`<p role="alert">The registry does not know the key <strong>${wrong}</strong> with that secret.</p>`}
    ${LOGINS.length > 0 &&
    html`<div class="actions">
        ${LOGINS.map((each) => html`<button disabled=${isBusy} onClick=${() => lead(each)}>Sign in at ${each.issuer.replace(/^https:\/\//, "")}</button>`)}
      </div>
      <p>Or by an API key:</p>`}
    <form onSubmit=${enter}>
      <label>Name of the key <input name="name" defaultValue=${wrong} required autocomplete="username" spellcheck="false" /></label>
      <label>Secret <input name="secret" type="password" required autocomplete="off" /></label>
      <button class=${LOGINS.length ? "quiet" : ""}>Sign in</button>
    </form>
    <p class="hint">It is kept for this tab alone, and forgotten when the tab is closed.</p>
    ${hasDrafts() && html`<p>What you have written is kept: it is there again when you are signed in.</p>`}
  </section>`;
}

/** An issuer leads back here. What it says is taken out of the address at once, and the page where the login began is shown. */
async function comeBack() {
  const answer = new URLSearchParams(location.search);
  if (here().path || !answer.has("state") || !(answer.has("code") || answer.has("error"))) return;
  history.replaceState(null, "", CONSOLE.pathname);
  render(html`<main><${Waiting} isSlow=${false} /></main>`, root);
  const found = await (await import("./login.js")).finish(answer);
  history.replaceState(null, "", found.back);
  settleLogin(found);
}

const root = /** @type {HTMLElement} */ (document.getElementById("app"));
await comeBack();
// What stood there while the scripts were on their way.
root.replaceChildren();
render(html`<${App} />`, root);
keepPlaces();

