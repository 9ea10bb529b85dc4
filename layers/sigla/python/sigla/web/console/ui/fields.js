/** The fields of a version as a tree, searched by name, each with the version that added it. */

import { html, useState } from "./vendor/preact.js";
import { Going } from "./lists.js";
import { Asked, Later, Link, Table } from "./parts.js";
import { segment } from "./registry.js";

const MOST_SHOWN = 500;
/** So many are told of at most: a schema may have others behind them. */
const MOST_TOLD = 5000;

/** @typedef {{depth: number, name: string, what: string, path: string, type?: string, doc?: string, since?: number}} SchemaField since: undefined where all versions have it that were looked at */
/** @typedef {{found: SchemaField[], after?: string}} FieldPart */

/** @param {{subject: string, version: number}} given */
export function Fields({ subject, version }) {
  const path = `console/api/subjects/${segment(subject)}/fields/${version}`;
  return html`<section aria-labelledby="fields">
    <h3 id="fields">Fields</h3>
    <${Later} label="Show fields">${() => html`<${Asked} path=${path}>
      ${(/** @type {FieldPart} */ first) =>
        first.found.length
          ? html`<${Going} key=${JSON.stringify(first)} path=${path} first=${first} label="Look at earlier versions">
              ${(/** @type {SchemaField[]} */ found) => html`<${Tree} fields=${dated(found, first.found.length)} subject=${subject} />`}
            <//>`
          : html`<p class="hint">This schema has no fields.</p>`}
    <//>`}<//>
  </section>`;
}

/**
 * The fields of a version, as the first part tells them; the further ones are of earlier versions, and say since when
 * those are there that the first versions all have.
 *
 * @param {SchemaField[]} found @param {number} own so many are of the version @returns {SchemaField[]}
 */
function dated(found, own) {
  /** @type {Map<string, number>} */
  const since = new Map();
  for (const each of found.slice(own)) if (each.since && !since.has(each.path)) since.set(each.path, each.since);
  return found.slice(0, own).map((each) => ({ ...each, since: each.since ?? since.get(each.path) }));
}

/** @param {{fields: SchemaField[], subject: string}} given */
function Tree({ fields, subject }) {
  const [part, setPart] = useState("");
  const shown = found(fields, part.trim().toLowerCase());
  const isCut = fields.length === MOST_TOLD;
  return html`
    <p><label class="check">Find a field <input type="search" value=${part} autocomplete="off" spellcheck="false" onInput=${(/** @type {any} */ event) => setPart(event.target.value)} /></label></p>
    ${shown.length
      ? html`<${Table} label="Fields" class="fields" head=${["Field", "Type", "Since", "Meaning"]}>
              ${shown.slice(0, MOST_SHOWN).map(
                (each) => html`<tr key=${each.path} class=${`depth-${Math.min(each.depth, 8)}`}>
                  <th scope="row">${each.name}${["field", "property"].includes(each.what) ? "" : html` <span class="hint">${each.what}</span>`}</th>
                  <td class="code">${each.type}</td>
                  <td>${each.since ? html`<${Link} to=${`subjects/${segment(subject)}/versions/${each.since}`}>version ${each.since}<//>` : html`<span class="hint">long ago</span>`}</td>
                  <td>${each.doc}</td>
                </tr>`,
              )}
        <//>
        ${shown.length > MOST_SHOWN && html`<p class="hint">${MOST_SHOWN} of ${isCut && !part ? "more than " : ""}${shown.length} are shown.</p>`}`
      : html`<p class="hint" role="status">${isCut ? `None of the first ${MOST_TOLD} fields` : "No field"} has that in its name.${isCut ? " The text has the others." : ""}</p>`}
  `;
}

/** The fields with a part in their names, below those that they are in. @param {SchemaField[]} fields @param {string} part */
function found(fields, part) {
  if (!part) return fields;
  const kept = new Set();
  /** @type {number[]} */
  const way = [];
  fields.forEach((each, at) => {
    way[each.depth] = at;
    if (each.name.toLowerCase().includes(part)) way.slice(0, each.depth + 1).forEach((above) => kept.add(above));
  });
  return fields.filter((_, at) => kept.has(at));
}
