/** The contexts: spaces of ids and subjects that know nothing of each other. */

import { html } from "../vendor/preact.js";
import { Listed } from "../lists.js";
import { Asked, Heading, Later, Link, Table } from "../parts.js";
import { segment } from "../registry.js";
import { ConfigChange, ModeChange, scopeOf } from "../scope_settings.js";

export default function Contexts() {
  return html`
    <${Heading} title="Contexts" />
    <p class="lead">A context is a space of subjects and ids of its own. The default one has no name.</p>
    <${Listed} path="console/api/contexts?limit=50">
      ${(/** @type {string[]} */ found) => html`
        <${Table} label="Contexts" head=${["Context", "Compatibility", "Mode", ""]}>
          ${found.map((context) => html`<${Row} key=${context} context=${context} />`)}
        <//>
      `}
    <//>
  `;
}

/** @param {{context: string}} given */
function Row({ context }) {
  const isDefault = context === ".";
  const scope = isDefault ? "" : `/${segment(`:${context}:`)}`;
  const inherited = html`<span class="hint">inherited</span>`;
  return html`<tr>
    <th scope="row">
      <${Link} to=${`subjects?context=${encodeURIComponent(context)}`}>${isDefault ? "default" : context}<//>
    </th>
    <td><${Later} label=${`Show the compatibility of ${context}`}>${() => html`<${Asked} path=${`config${scope}${isDefault ? "?defaultToGlobal=true" : ""}`} unset=${inherited}>${(/** @type {any} */ found) => found.compatibilityLevel ?? inherited}<//>`}<//></td>
    <td><${Later} label=${`Show the mode of ${context}`}>${() => html`<${Asked} path=${`mode${scope}${isDefault ? "?defaultToGlobal=true" : ""}`} unset=${inherited}>${(/** @type {any} */ found) => found.mode ?? inherited}<//>`}<//></td>
    <td><div class="actions"><${ConfigChange} scope=${scopeOf(context)} /><${ModeChange} scope=${scopeOf(context)} /></div></td>
  </tr>`;
}
