/** What is set, and where: for the default context, for contexts, and for subjects. */

import { html } from "../vendor/preact.js";
import { Listed } from "../lists.js";
import { Asked, Heading, Later, Link, Name, split, Table } from "../parts.js";
import { ConfigChange, fromWhere, inForcePath, ModeChange, others } from "../scope_settings.js";

export default function SettingsPage() {
  return html`
    <${Heading} title="Settings" />
    <p class="lead">
      A subject without settings of its own has those of its context, and a context without any has what is set for all
      contexts.
    </p>
    <section aria-labelledby="default"><h2 id="default">Default context</h2><${Later} label="Show what the default context has">${() => html`<${OfDefault} />`}<//><div class="actions"><${ConfigChange} scope="" /><${ModeChange} scope="" /></div></section>
    <section aria-labelledby="set"><h2 id="set">What is set</h2>
    <${Listed} path="console/api/settings?limit=20">${(/** @type {any[]} */ found) => html`<${Settings} rows=${found} />`}<//></section>
  `;
}

/** What holds in it where nothing else is set. */
function OfDefault() {
  return html`<${Asked} path=${inForcePath("")}>
    ${(/** @type {import("../scope_settings.js").Applying} */ { config, mode, from }) => html`<dl class="facts">
      <div><dt>Compatibility</dt><dd><strong>${config.compatibilityLevel}</strong> ${from.compatibilityLevel !== "" && html`<span class="hint">${fromWhere(from.compatibilityLevel)}</span>`}</dd></div>
      <div><dt>Mode</dt><dd><strong>${mode}</strong> ${from.mode !== "" && html`<span class="hint">${fromWhere(from.mode)}</span>`}</dd></div>
    </dl>`}
  <//>`;
}

/** @param {{rows: any[]}} given */
function Settings({ rows }) {
  if (!rows.length) return html`<p>Nothing is set: everything is as the registry has it from the start.</p>`;
  return html`<${Table} label="Settings" head=${["Of", "Compatibility", "Mode", "More"]}>
        ${rows.map(
          ({ subject, config = {}, mode }) => html`<tr key=${subject}>
            <th scope="row"><${Scope} subject=${subject} /></th>
            <td>${config.compatibilityLevel}</td>
            <td>${mode}</td>
            <td>${others(config).map(([name, value]) => html`<div><span class="hint">${name}</span> ${value}</div>`)}</td>
          </tr>`,
        )}
  <//>`;
}

/** @param {{subject: string}} given the global one has no name */
function Scope({ subject }) {
  const { context, name } = split(subject);
  if (!name) return html`${context === "." ? "default context" : html`context <span class="context">${context}</span>`}`;
  return html`<${Link} to=${`subjects/${encodeURIComponent(subject)}`}><${Name} subject=${subject} /><//>`;
}
