/** Config and mode: what is in force for a scope, where it comes from, and how it is changed. */

import { html, useState } from "./vendor/preact.js";
import { Answer, counted, Link, Name, Problem, split, Waiting } from "./parts.js";
import { change, segment, useAsked, useCaller, useIsPaid } from "./registry.js";
import { Change } from "./changes.js";

const LEVELS = ["BACKWARD", "BACKWARD_TRANSITIVE", "FORWARD", "FORWARD_TRANSITIVE", "FULL", "FULL_TRANSITIVE", "NONE"];

/** @type {[string, string][]} */
const MODES = [
  ["READWRITE", "Schemas can be registered and deleted."],
  ["READONLY", "Nothing can be registered or deleted."],
  ["IMPORT", "Schemas are registered with ids and numbers that they bring along, and are not checked. It can be set only where nothing is active; what is soft-deleted there goes for good."],
];

/** What can be set beside the level: its name in the API, for people, and what it may be; a text without that.
 * @type {[string, string, string[]?][]} */
const MORE = [
  ["normalize", "Normalise each new schema", ["true", "false"]],
  ["compatibilityPolicy", "Policy of JSON Schema", ["STRICT", "LENIENT"]],
  ["compatibilityGroup", "Metadata property that groups versions"],
  ["alias", "Alias: the subject that is meant"],
  ["validateFields", "Check reserved fields", ["true", "false"]],
];

/** A scope as a segment of a path behind `config` or `mode`. @param {string} scope empty: the default context */
function placeOf(scope) {
  return scope ? `/${segment(scope)}` : "";
}

/** The scope of a context. @param {string} context */
export function scopeOf(context) {
  return context === "." ? "" : `:${context}:`;
}

/** @param {string} scope */
export function nameOf(scope) {
  const { context, name } = split(scope);
  if (name) return name;
  return context === "." ? "the default context" : `the context ${context}`;
}

/** @param {Record<string, any>} config @returns {[string, string][]} */
export function others(config) {
  return Object.entries(config)
    .filter(([name]) => name !== "compatibilityLevel")
    .map(([name, value]) => [name, typeof value === "object" ? JSON.stringify(value) : String(value)]);
}

// --- what is in force --------------------------------------------------------------------------------------------

/** @typedef {{subject: string, config: Record<string, any>, mode: string, from: Record<string, string>}} Applying from: which scope each setting comes from; what is missing there is as the registry has it from the start */

/** Where it is told what is in force for a scope. @param {string} scope empty: the default context */
export function inForcePath(scope) {
  return `console/api/in-force/${segment(scope || ":.:")}`;
}

/** Which scope a setting comes from, in words. @param {string | undefined} origin as it is told */
export function fromWhere(origin) {
  if (origin === undefined) return "as the registry has it from the start";
  if (split(origin).name) return "set for this subject";
  return origin === ":.__GLOBAL:" ? "from what is set for all contexts" : `from ${nameOf(origin)}`;
}

/** Config and mode in force for a subject, each with a way to change it. @param {{subject: string, leadsTo?: string}} given leadsTo: where the subject is an alias, what it stands for */
export function InForce({ subject, leadsTo }) {
  const asked = useAsked(inForcePath(subject));
  return html`${leadsTo !== undefined && html`<p class="hint">This is set for the alias itself. What is registered goes by what is in force for <${Link} to=${`subjects/${segment(leadsTo)}#in-force`}><${Name} subject=${leadsTo} /><//>.</p>`}
  <div class="cards">
    <section aria-labelledby="compatibility">
      <h2 id="compatibility">Compatibility</h2>
      <${Answer} asked=${asked}>
        ${(/** @type {Applying} */ { config, from }) => html`
          <p class="fact">${config.compatibilityLevel}</p>
          <p class="hint">${fromWhere(from.compatibilityLevel)}</p>
          ${others(config).map(
            ([name, value]) => html`<p><span class="hint">${name}</span> ${value}${from[name] !== from.compatibilityLevel && html` <span class="hint">${fromWhere(from[name])}</span>`}</p>`,
          )}
        `}
      <//>
      <${ConfigChange} scope=${subject} />
    </section>
    <section aria-labelledby="mode">
      <h2 id="mode">Mode</h2>
      <${Answer} asked=${asked}>
        ${(/** @type {Applying} */ { mode, from }) => html`<p class="fact">${mode}</p><p class="hint">${fromWhere(from.mode)}</p>`}
      <//>
      <${ModeChange} scope=${subject} />
    </section>
  </div>`;
}

// --- what is changed ---------------------------------------------------------------------------------------------

/** Whether the caller may change what is set for a scope. @param {string} scope */
function useMay(scope) {
  const caller = useCaller();
  return Boolean(caller?.may.includes("admin") && (scope || caller.everything));
}

/** @param {{scope: string}} given empty: the default context */
export function ConfigChange({ scope }) {
  const [isOpen, setOpen] = useState(false);
  const own = useAsked(isOpen ? `config${placeOf(scope)}` : "");
  if (!useMay(scope)) return null;
  const isSet = own.value !== undefined;
  const before = own.value ?? {};
  const run = async (/** @type {FormData} */ said) => {
    const patch = patchOf(before, said);
    if (!Object.keys(patch).length) return undefined;
    const after = { ...before, ...patch };
    const isEmpty = !Object.entries(after).some(([name, value]) => name !== "compatibility" && name !== "compatibilityLevel" && value !== null) && said.get("compatibility") === "";
    if (isSet && isEmpty) await change("DELETE", `config${placeOf(scope)}`);
    else await change("PUT", `config${placeOf(scope)}`, patch);
    return { text: `The config of ${nameOf(scope)} is changed.`, undo: { label: "Change it back", run: () => back(scope, isSet, before, isSet && isEmpty ? wholeOf(before) : patch) } };
  };
  return html`<${Change} label="Change config" title=${`Change the config of ${nameOf(scope)}?`} does="Change" run=${run} whenOpen=${setOpen}
    may=${isSet || Boolean(own.failure?.isNotSet)}>
    ${!isSet && !own.failure && html`<${Waiting} isSlow=${own.isSlow} />`}
    ${own.failure && !own.failure.isNotSet && html`<${Problem} failure=${own.failure} again=${own.again} />`}
    ${(isSet || own.failure?.isNotSet) &&
    html`
      <label>Compatibility <${Choice} name="compatibility" chosen=${before.compatibilityLevel ?? ""} choices=${LEVELS} /></label>
      <details>
        <summary>More</summary>
        ${MORE.map(([name, told, choices]) => html`<label>${told} ${choices ? html`<${Choice} name=${name} chosen=${String(before[name] ?? "")} choices=${choices} />` : html`<input name=${name} defaultValue=${before[name] ?? ""} spellcheck="false" autocomplete="off" />`}</label>`)}
      </details>
      <${Reach} scope=${scope} what="config" />
      <p class="hint">Versions that are there stay. It can be changed back.</p>
    `}
  <//>`;
}

/** @param {{name: string, chosen: string, choices: string[]}} given */
function Choice({ name, chosen, choices }) {
  return html`<select name=${name}>
    <option value="" selected=${!chosen}>as inherited</option>
    ${choices.map((each) => html`<option value=${each} selected=${each === chosen}>${each}</option>`)}
  </select>`;
}

/** The fields that are to be another, as the API takes them. @param {any} before @param {FormData} said */
function patchOf(before, said) {
  /** @type {Record<string, any>} */
  const patch = {};
  for (const [name, was] of /** @type {[string, any][]} */ ([["compatibility", before.compatibilityLevel], ...MORE.map(([name]) => [name, before[name]])])) {
    const wanted = String(said.get(name) ?? "");
    if (wanted === String(was ?? "")) continue;
    patch[name] = wanted === "" ? null : wanted === "true" || wanted === "false" ? wanted === "true" : wanted;
  }
  return patch;
}

/** A config as the API takes it. @param {any} config */
function wholeOf({ compatibilityLevel, ...more }) {
  return { compatibility: compatibilityLevel, ...more };
}

/** Puts a config back to what it was. @param {string} scope @param {boolean} wasSet @param {any} before @param {Record<string, any>} patch */
function back(scope, wasSet, before, patch) {
  if (!wasSet) return change("DELETE", `config${placeOf(scope)}`);
  const whole = wholeOf(before);
  const was = Object.fromEntries(Object.keys(patch).map((name) => [name, /** @type {any} */ (whole)[name] ?? null]));
  return change("PUT", `config${placeOf(scope)}`, was);
}

/** @param {{scope: string}} given empty: the default context */
export function ModeChange({ scope }) {
  const [isOpen, setOpen] = useState(false);
  const own = useAsked(isOpen ? `mode${placeOf(scope)}` : "");
  if (!useMay(scope)) return null;
  const before = own.value?.mode ?? "";
  const put = (/** @type {string} */ mode) =>
    mode ? change("PUT", `mode${placeOf(scope)}`, { mode }) : change("DELETE", `mode${placeOf(scope)}`);
  const run = async (/** @type {FormData} */ said) => {
    const wanted = String(said.get("mode") ?? "");
    if (wanted === before) return undefined;
    await put(wanted);
    return { text: `The mode of ${nameOf(scope)} is ${wanted || "inherited"} now.`, undo: { label: "Change it back", run: () => put(before) } };
  };
  return html`<${Change} label="Change mode" title=${`Change the mode of ${nameOf(scope)}?`} does="Change" run=${run} whenOpen=${setOpen}
    may=${own.value !== undefined || Boolean(own.failure?.isNotSet)}>
    ${own.value === undefined && !own.failure && html`<${Waiting} isSlow=${own.isSlow} />`}
    ${own.failure && !own.failure.isNotSet && html`<${Problem} failure=${own.failure} again=${own.again} />`}
    ${(own.value !== undefined || own.failure?.isNotSet) &&
    html`
      <label>Mode <${Choice} name="mode" chosen=${before} choices=${MODES.map(([name]) => name)} /></label>
      <dl>${MODES.map(([name, told]) => html`<dt class="code">${name}</dt><dd>${told}</dd>`)}</dl>
      <${Reach} scope=${scope} what="mode" />
    `}
  <//>`;
}

const MOST_COUNTED = 1000;
/** Where each read costs money, so many of each, for 20 read units. */
const PAID = 20;

/** For how much a setting holds. @param {{scope: string, what: string}} given */
function Reach({ scope, what }) {
  const isPaid = useIsPaid();
  if (isPaid === undefined) return html`<${Waiting} isSlow=${false} />`;
  if (split(scope).name) return html`<p>It holds for this subject alone.</p>`;
  return html`<${Counted} scope=${scope} what=${what} isPaid=${isPaid} />`;
}

/** @param {{scope: string, what: string, isPaid: boolean}} given scope: of no subject */
function Counted({ scope, what, isPaid }) {
  const prefix = `subjectPrefix=${encodeURIComponent(scope)}`;
  const most = isPaid ? PAID : MOST_COUNTED;
  const subjects = useAsked(`${isPaid ? "console/api/subjects?names=true&" : "subjects?"}${prefix}&limit=${most + 1}`);
  // Behind the scope itself: what stands above it need not be read.
  const settings = useAsked(isPaid ? `console/api/settings?${prefix}&limit=${most}&after=${encodeURIComponent(scope || ":.:")}` : `settings?${prefix}&limit=${most}`);
  return html`<${Answer} asked=${subjects}>
    ${(/** @type {any[]} */ found) => html`<${Answer} asked=${settings}>
      ${(/** @type {any} */ set) => {
        const own = (set.found ?? set).filter((/** @type {any} */ each) => each[what] !== undefined && each.subject !== scope && !each.subject.startsWith(":.__GLOBAL:")).length;
        const many = found.length > most ? `more than ${most} subjects` : counted(found.length, "subject");
        return html`<p>It holds for ${many}${own ? `, except where ${set.after ? "at least " : ""}${counted(own, "scope")} ${own === 1 ? "has a setting" : "have settings"} of ${own === 1 ? "its" : "their"} own` : ""}.</p>`;
      }}
    <//>`}
  <//>`;
}
