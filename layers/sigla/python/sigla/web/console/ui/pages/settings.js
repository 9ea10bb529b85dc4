/** What is set, and where: for the default context, for contexts, and for subjects. */

import { html } from "../vendor/preact.js";
import { Asked, Heading, Link, Name, Pager, split } from "../parts.js";
import { ConfigChange, ModeChange, others } from "../scope_settings.js";

const PER_PAGE = 100;

/** @param {{query: URLSearchParams}} given */
export default function SettingsPage({ query: said }) {
  const offset = Number(said.get("offset")) || 0;
  return html`
    <${Heading} title="Settings" />
    <p class="lead">
      A subject without settings of its own has those of its context; a context without any, those of the default
      context.
    </p>
    <${Asked} path=${`settings?limit=${PER_PAGE + 1}&offset=${offset}`}>
      ${(/** @type {any[]} */ found) => html`<${Table} rows=${found.slice(0, PER_PAGE)} />
        <${Pager} at=${offset} per=${PER_PAGE} shown=${Math.min(found.length, PER_PAGE)} hasMore=${found.length > PER_PAGE}
          to=${(/** @type {number} */ to) => `settings${to ? `?offset=${to}` : ""}`} />`}
    <//>
    <section aria-labelledby="default"><h2 id="default">Default context</h2><div class="actions"><${ConfigChange} scope="" /><${ModeChange} scope="" /></div></section>
  `;
}

/** @param {{rows: any[]}} given */
function Table({ rows }) {
  if (!rows.length) return html`<p>Nothing is set: everything is as the registry has it from the start.</p>`;
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Settings">
    <table>
      <thead>
        <tr><th scope="col">Of</th><th scope="col">Compatibility</th><th scope="col">Mode</th><th scope="col">More</th></tr>
      </thead>
      <tbody>
        ${rows.map(
          ({ subject, config = {}, mode }) => html`<tr key=${subject}>
            <th scope="row"><${Scope} subject=${subject} /></th>
            <td>${config.compatibilityLevel}</td>
            <td>${mode}</td>
            <td>${others(config).map(([name, value]) => html`<div><span class="hint">${name}</span> ${value}</div>`)}</td>
          </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

/** @param {{subject: string}} given the global one has no name */
function Scope({ subject }) {
  const { context, name } = split(subject);
  if (!name) return html`${context === "." ? "default context" : html`context <span class="context">${context}</span>`}`;
  return html`<${Link} to=${`subjects/${encodeURIComponent(subject)}`}><${Name} subject=${subject} /><//>`;
}
