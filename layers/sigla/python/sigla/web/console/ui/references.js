/** References of a draft: picked from the registry's subjects, under the name by which the schema calls them. */

import { html, useState } from "./vendor/preact.js";
import { asFailure, Asked, Name, split, told } from "./parts.js";
import { ask, query, segment } from "./registry.js";

const SHOWN = 8;

/** @typedef {{name: string, subject: string, version: number}} Reference */

/** @param {{subject: string, type: string, chosen: Reference[], choose: (references: Reference[]) => void}} given */
export function References({ subject, type, chosen, choose }) {
  const [part, setPart] = useState("");
  const [failure, setFailure] = useState("");
  const { context } = split(subject);
  const put = (/** @type {number} */ at, /** @type {Partial<Reference>} */ what) => choose(chosen.map((each, place) => (place === at ? { ...each, ...what } : each)));
  const add = async (/** @type {any} */ found) => {
    setFailure("");
    try {
      const { schema } = await ask(`subjects/${segment(found.subject)}/versions/${found.version}`);
      choose([...chosen, { name: nameIn(schema, type) || found.subject, subject: named(found.subject, context), version: found.version }]);
      setPart("");
    } catch (problem) {
      setFailure(told(asFailure(problem)));
    }
  };
  return html`<fieldset class="references">
    <legend>References</legend>
    ${chosen.map(
      (each, at) => html`<div class="reference" key=${`${each.subject} ${at}`}>
        <label>Name in the schema <input value=${each.name} spellcheck="false" onInput=${(/** @type {any} */ event) => put(at, { name: event.target.value })} /></label>
        <span>is <${Name} subject=${each.subject} /></span>
        <label>version <input type="number" min="1" value=${each.version} onInput=${(/** @type {any} */ event) => put(at, { version: Number(event.target.value) })} /></label>
        <button class="quiet" aria-label=${`Remove the reference to ${each.subject}`} onClick=${() => choose(chosen.filter((_, place) => place !== at))}>Remove</button>
      </div>`,
    )}
    <label>Find a schema to refer to <input type="search" value=${part} autocomplete="off" spellcheck="false" onInput=${(/** @type {any} */ event) => setPart(event.target.value)} /></label>
    ${failure && html`<p class="bad-text" role="alert">${failure}</p>`}
    ${part &&
    html`<${Asked} path=${`console/api/search${query({ contains: part, type, limit: SHOWN })}&subjectPrefix=${encodeURIComponent(context === "." ? ":*:" : ":.")}`}>
      ${(/** @type {{found: any[], searched: number, through?: string}} */ { found, searched, through }) => {
        const others = found.filter((each) => each.subject !== subject && (context === "." || each.subject.startsWith(":")));
        return others.length
          ? html`<ul class="found">${others.map((each) => html`<li><button type="button" class="quiet" onClick=${() => add(each)}><${Name} subject=${each.subject} /> version ${each.version}</button></li>`)}</ul>`
          : html`<p class="hint">No other schema of this language has that in its name${through ? ` among the first ${searched}: the page of subjects searches them all` : ""}.</p>`;
      }}
    <//>`}
  </fieldset>`;
}

/** A subject as a schema of a context names it. @param {string} subject @param {string} context */
function named(subject, context) {
  const found = split(subject);
  return found.context === context ? found.name : subject;
}

/** What other schemas call it. @param {string} schema @param {string} type */
function nameIn(schema, type) {
  if (type === "PROTOBUF") return "";
  try {
    const { name, namespace, $id } = JSON.parse(schema);
    if (type === "JSON") return $id ?? "";
    return namespace && !name.includes(".") ? `${namespace}.${name}` : name ?? "";
  } catch {
    return "";
  }
}
