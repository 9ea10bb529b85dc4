/** The contexts: spaces of ids and subjects that know nothing of each other. */

import { html, useState } from "../vendor/preact.js";
import { Listed } from "../lists.js";
import { Answer, Heading, Link, Table } from "../parts.js";
import { useAsked, useIsPaid } from "../registry.js";
import { ConfigChange, fromWhere, inForcePath, ModeChange, scopeOf } from "../scope_settings.js";

/** @typedef {import("../scope_settings.js").Applying} Applying */

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
  const scope = scopeOf(context);
  const isPaid = useIsPaid();
  const [isWanted, setWanted] = useState(false);
  const isAsked = isWanted || isPaid === false;
  const asked = useAsked(isAsked ? inForcePath(scope) : "");
  const what = (/** @type {string} */ shown, /** @type {string | undefined} */ origin) =>
    html`${shown} ${origin !== scope && html`<span class="hint">${fromWhere(origin)}</span>`}`;
  return html`<tr>
    <th scope="row">
      <${Link} to=${`subjects?context=${encodeURIComponent(context)}`}>${context === "." ? "default" : context}<//>
    </th>
    <td>${isAsked
      ? html`<${Answer} asked=${asked}>${(/** @type {Applying} */ { config, from }) => what(config.compatibilityLevel, from.compatibilityLevel)}<//>`
      : isPaid && html`<button class="quiet" aria-label=${`Show compatibility and mode of ${context}`} onClick=${() => setWanted(true)}>Show</button>`}</td>
    <td>${isAsked && html`<${Answer} asked=${asked}>${(/** @type {Applying} */ { mode, from }) => what(mode, from.mode)}<//>`}</td>
    <td><div class="actions"><${ConfigChange} scope=${scope} /><${ModeChange} scope=${scope} /></div></td>
  </tr>`;
}
