/** The zones that have endpoints of their own, and how they are. */

import { html } from "../vendor/preact.js";
import { Asked, Heading, Table, Time } from "../parts.js";

/** @typedef {{id: string, name: string, url: string, healthy: boolean, checked: number, reason?: string}} Zone */

export default function ZonesPage() {
  return html`
    <${Heading} title="Zones" />
    <p class="lead">Clients in a zone that ask its own endpoint pay for no traffic between zones.</p>
    <${Asked} path="zones">
      ${(/** @type {Zone[]} */ found) =>
        found.length
          ? html`<${Table} label="Zones" head=${["Zone", "Endpoint", "State", "Last heard of"]}>
                  ${found.map(
                    (each) => html`<tr key=${each.id}>
                      <th scope="row">${each.name} <span class="hint">${each.id}</span></th>
                      <td class="code">${each.url}</td>
                      <td>${each.healthy ? "healthy" : html`<span class="tag bad">not healthy</span> ${each.reason}`}</td>
                      <td><${Time} at=${each.checked} /></td>
                    </tr>`,
                  )}
            <//>`
          : html`<p>This registry has no zones with endpoints of their own.</p>`}
    <//>
  `;
}
