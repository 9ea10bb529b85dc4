/** What pages are made of: links, answers with what goes wrong on the way, schemas as text, times, pages of lists. */

import { html, useEffect, useErrorBoundary, useLayoutEffect, useRef, useState } from "./vendor/preact.js";
import { CONSOLE, Failure, heldToken, useAsked, useIsPaid } from "./registry.js";

// --- addresses ---------------------------------------------------------------------------------------------------

/** Where we are: the path below the console, encoded, without a slash at its end; and the query. */
export function here() {
  const path = location.pathname.slice(CONSOLE.pathname.length).replace(/\/$/, "");
  return { path, query: new URLSearchParams(location.search) };
}

/** @param {string} to below the console */
export function href(to) {
  return new URL(to, CONSOLE).pathname + new URL(to, CONSOLE).search;
}

const MOVED = "sigla:moved";

/** @param {() => void} moved is called whenever another page is to be shown */
export function onMove(moved) {
  addEventListener("popstate", moved);
  addEventListener(MOVED, moved);
  return () => {
    removeEventListener("popstate", moved);
    removeEventListener(MOVED, moved);
  };
}

/** @param {string} to */
export function follow(to) {
  history.pushState(null, "", href(to));
  scrollTo(0, 0);
  dispatchEvent(new Event(MOVED));
}

const MOST_PATIENCE_MS = 5000;

/**
 * Each page is where it was when one comes back to it, also by loading it again; and an address with a part of the page
 * leads there. What is shown comes later than the page, so it is waited for, unless somebody scrolls meanwhile.
 */
export function keepPlaces() {
  history.scrollRestoration = "manual";
  let stop = () => {};
  const comeBack = () => {
    stop();
    const y = history.state?.y;
    const part = location.hash.slice(1);
    if (!y && !part) {
      scrollTo(0, 0);
      return;
    }
    const isThere = () => document.documentElement.scrollHeight - innerHeight >= y;
    const look = new ResizeObserver(() => {
      if (!y) document.getElementById(part)?.scrollIntoView();
      else if (isThere()) {
        scrollTo(0, y);
        stop();
      }
    });
    look.observe(document.body);
    const ended = new AbortController();
    const patience = setTimeout(() => stop(), MOST_PATIENCE_MS);
    stop = () => {
      look.disconnect();
      clearTimeout(patience);
      ended.abort();
    };
    for (const each of ["wheel", "touchmove", "keydown", "pointerdown"]) addEventListener(each, stop, { signal: ended.signal, passive: true });
  };
  addEventListener("popstate", comeBack);
  addEventListener(MOVED, () => stop());
  addEventListener("scrollend", () => history.replaceState({ ...history.state, y: scrollY }, ""));
  comeBack();
}

/** @param {{to: string, children?: any, class?: string, current?: boolean, label?: string}} given */
export function Link({ to, children, class: name, current, label }) {
  const go = (/** @type {MouseEvent} */ event) => {
    if (event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    follow(to);
  };
  return html`<a href=${href(to)} class=${name} aria-current=${current ? "page" : undefined} aria-label=${label} onClick=${go}>${children}</a>`;
}

/** The heading of a page, and the title of its window. @param {{title: string, children?: any}} given */
export function Heading({ title, children }) {
  useEffect(() => void (document.title = `${title} · Sigla`), [title]);
  return html`<div class="heading"><h1 tabindex="-1">${title}</h1>${children}</div>`;
}

// --- answers -----------------------------------------------------------------------------------------------------

/**
 * What the registry answers to a path, shown by the child, a function of it. Until then, and where it goes wrong, it
 * says so in its place; what is around it goes on.
 *
 * @param {{path: string, body?: any, children: (value: any) => any, unset?: any, absent?: any}} given body: what is sent there.
 *   unset: stands for what is not set. absent: says why, where this registry has nothing at that path
 */
export function Asked({ path, body, children, unset, absent }) {
  return html`<${Answer} asked=${useAsked(path, body)} unset=${unset} absent=${absent}>${children}<//>`;
}

/** The same of what was asked already. An answer that cannot be shown says so here: it takes no other one along. @param {{asked: import("./registry.js").Asked, children: (value: any) => any, unset?: any, absent?: any}} given */
export function Answer({ asked, children, unset, absent }) {
  const [broken] = useErrorBoundary();
  const culprit = useRef(/** @type {{wrong?: any, value?: any}} */ ({}));
  // Another answer is tried. To mend the boundary in an effect would be done between the error and what tells of it.
  if (broken !== culprit.current.wrong) culprit.current = { wrong: broken, value: asked.value };
  if (broken && culprit.current.value === asked.value) return html`<${Problem} failure=${new Failure(0, 0, `This answer cannot be shown: ${broken.message ?? broken}`)} again=${asked.again} />`;
  if (asked.failure?.isNotSet && unset !== undefined) return unset;
  if (asked.failure?.isAbsent && absent !== undefined) return absent;
  if (asked.failure) return html`<${Problem} failure=${asked.failure} again=${asked.again} />`;
  if (asked.value === undefined) return html`<${Waiting} isSlow=${asked.isSlow} />`;
  return html`<${Shown} value=${asked.value}>${children}<//>`;
}

/** @param {{value: any, children: (value: any) => any}} given */
function Shown({ value, children }) {
  return children(value);
}

/** @param {{isSlow: boolean}} given */
export function Waiting({ isSlow }) {
  return html`<p class="waiting" role="status">${isSlow ? "The registry is slow to answer; still waiting …" : ""}</p>`;
}

/** @param {{failure: Failure, again: () => void}} given */
export function Problem({ failure, again }) {
  const said = failure.status === 403 ? `Your ${heldToken() ? "token" : "key"} does not permit this. ` : "";
  return html`<div class="problem" role="alert">
    <p>${said}${failure.message} ${failure.code ? html`<span class="code">${failure.code}</span>` : ""}</p>
    ${failure.status !== 401 && failure.status !== 403 && html`<button type="button" class="quiet" onClick=${again}>Try again</button>`}
  </div>`;
}

/**
 * What is read when it is asked for, where each read costs money; elsewhere at once.
 *
 * @param {{label: string, heading?: any, children: () => any}} given label: of the button. heading: stands above it until then
 */
export function Later({ label, heading, children }) {
  const isPaid = useIsPaid();
  const [isAsked, setAsked] = useState(false);
  if (isPaid === undefined) return html`<${Waiting} isSlow=${false} />`;
  if (isAsked || !isPaid) return children();
  return html`${heading}<p><button class="quiet" aria-label=${label} onClick=${() => setAsked(true)}>Show</button></p>`;
}

/**
 * What was told so far, and how to go on: by one call after another, until it is enough.
 *
 * @template T @param {T} first @param {(before: T, signal: AbortSignal) => Promise<T>} call what is told after one more of them
 * @param {(now: T, before: T) => boolean} [isEnough] before: when going on began
 */
export function useGoingOn(first, call, isEnough = () => true) {
  const [now, setNow] = useState(first);
  const [failure, setFailure] = useState("");
  const [isBusy, setBusy] = useState(false);
  const controller = useRef(/** @type {AbortController | undefined} */ (undefined));
  const stop = () => controller.current?.abort();
  useEffect(() => stop, []);
  const goOn = async () => {
    const { signal } = (controller.current = new AbortController());
    setFailure("");
    setBusy(true);
    let grown = now;
    try {
      do setNow((grown = await call(grown, signal)));
      while (!isEnough(grown, now));
    } catch (problem) {
      if (!signal.aborted) setFailure(told(asFailure(problem)));
    }
    setBusy(false);
  };
  return { now, failure, isBusy, goOn, stop };
}

// --- times, lists ------------------------------------------------------------------------------------------------

/** @param {{at: number | string}} given milliseconds since 1970, or as ISO 8601 has it */
export function Time({ at }) {
  const when = new Date(at);
  if (Number.isNaN(when.getTime())) return html`<span>${String(at)}</span>`;
  const shown = when.toISOString();
  return html`<time datetime=${shown} title=${when.toString()}>${shown.slice(0, 10)} ${shown.slice(11, 16)} UTC</time>`;
}

/** The context of a qualified name, `.` for the default one, and the name in it. @param {string} qualified */
export function split(qualified) {
  const found = /^:(\.[^:]*):(.*)$/s.exec(qualified);
  return found ? { context: found[1], name: found[2] } : { context: ".", name: qualified };
}

/** A name, with its context where it is a named one. @param {{subject: string}} given */
export function Name({ subject }) {
  const { context, name } = split(subject);
  return html`<span class="name">${context !== "." && html`<span class="context">${context}</span> `}${name}</span>`;
}

/**
 * A table. In a narrow window each row is a card of its own, in which each cell says which column it is of.
 *
 * @param {{label: string, head: string[], children: any, class?: string}} given children: its rows. head: an empty one is of buttons
 */
export function Table({ label, head, children, class: name }) {
  const body = useRef(/** @type {HTMLTableSectionElement | undefined} */ (undefined));
  useLayoutEffect(() => {
    for (const row of body.current?.rows ?? []) {
      let column = 0;
      for (const cell of row.cells) {
        if (cell.colSpan === 1) cell.dataset.column = head[column];
        column += cell.colSpan;
      }
    }
  });
  return html`<div class="scroll" tabindex="0" role="region" aria-label=${label}>
    <table class=${`rows ${name ?? ""}`}>
      <thead><tr>${head.map((each) => html`<th scope="col">${each || html`<span class="unseen">Changes</span>`}</th>`)}</tr></thead>
      <tbody ref=${body}>${children}</tbody>
    </table>
  </div>`;
}

/** A command. @param {{text: string}} given */
export function Command({ text }) {
  return html`<code>${text.split(" ").map((each, at) => html`${at > 0 && " "}<span class="word">${each}</span>`)}</code>`;
}

/** As a word of a shell. @param {string} word */
export function quoted(word) {
  return /^[\w:/.@%-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** A sentence in which what stands between backticks is a command. @param {{text: string}} given */
export function Sentence({ text }) {
  return text.split("`").map((each, at) => (at % 2 ? html`<${Command} text=${each} />` : each));
}

/** Tokens that stand for no key and no person. @type {Record<string, string>} */
const PLAIN = { anyone: "anyone", sigla: "the registry itself" };

/** @typedef {{by?: string, name?: string}} Doer by: a token */

/** Whether a token stands where a name is expected. @param {Doer} of */
export function isUnnamed({ by, name }) {
  return Boolean(by) && name === undefined && !PLAIN[by ?? ""];
}

/** Who did something: a name, or a token for it. @param {{of: Doer}} given */
export function Author({ of: { by = "unknown", name } }) {
  return name ?? PLAIN[by] ?? html`<span class="code">${by}</span>`;
}

/** Why tokens stand where names are expected; nothing where none does. @param {{of: Doer[]}} given what may be named */
export function WhyTokens({ of }) {
  const token = of.find(isUnnamed)?.by;
  if (!token) return null;
  return html`<p class="hint">A token as <span class="code">${token}</span> stands for a key or a person, the same one everywhere. Names are told to administrators, and to each its own.</p>`;
}

/**
 * Buttons to the page before and the one after it.
 *
 * @param {{at: number, per: number, shown: number, hasMore: boolean, to: (offset: number) => string}} given
 */
export function Pager({ at, per, shown, hasMore, to }) {
  if (!at && !hasMore) return null;
  return html`<nav class="pager" aria-label="Pages of this list">
    ${at > 0 ? html`<${Link} to=${to(Math.max(0, at - per))}>Previous<//>` : html`<span aria-hidden="true">Previous</span>`}
    <span>${at + 1} to ${at + shown}</span>
    ${hasMore ? html`<${Link} to=${to(at + per)}>Next<//>` : html`<span aria-hidden="true">Next</span>`}
  </nav>`;
}

/** A number with its noun. @param {number} count @param {string} one @param {string} [many] */
export function counted(count, one, many = `${one}s`) {
  return `${count} ${count === 1 ? one : many}`;
}

// --- what was done -----------------------------------------------------------------------------------------------

/** @typedef {{text: string, isBad?: boolean, undo?: {label: string, run: () => Promise<any>}}} Done isBad: it was not done, or perhaps not */

/** @type {Done | undefined} */
let done;
let notify = () => {};

/** Tells what was done, until another page is shown. @param {Done | undefined} what */
export function tellDone(what) {
  done = what;
  notify();
}

/** What was done last, above the page. */
export function Notice() {
  const [, setTurn] = useState(0);
  const [failure, setFailure] = useState(/** @type {Failure | undefined} */ (undefined));
  const [isBusy, setBusy] = useState(false);
  useEffect(() => {
    notify = () => {
      setFailure(undefined);
      setTurn((/** @type {number} */ before) => before + 1);
    };
    return onMove(() => tellDone(undefined));
  }, []);
  const undo = async () => {
    setBusy(true);
    try {
      const label = done?.undo?.label;
      await done?.undo?.run();
      tellDone({ text: `${label}: done.` });
    } catch (problem) {
      setFailure(asFailure(problem));
    }
    setBusy(false);
  };
  return html`<div role="status" class="notice-place">
    ${done &&
    html`<div class=${done.isBad ? "notice bad" : "notice"}>
      <p>${done.text}</p>
      ${done.undo && html`<button class="quiet" disabled=${isBusy} onClick=${undo}>${done.undo.label}</button>`}
      <button class="quiet" onClick=${() => tellDone(undefined)}>Close</button>
      ${failure && html`<p class="bad-text">${told(failure)}</p>`}
    </div>`}
  </div>`;
}

/** @param {any} problem */
export function asFailure(problem) {
  return problem instanceof Failure ? problem : new Failure(0, 0, String(problem?.message ?? problem));
}

/** @param {Failure} failure */
export function told(failure) {
  return `${failure.message}${failure.code ? ` (${failure.code})` : ""}`;
}
