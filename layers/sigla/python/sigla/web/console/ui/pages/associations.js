/** Associations: which topics have which subjects for their keys and values. */

import { html } from "../vendor/preact.js";
import { Asked, Heading, Link, Name, Pager, Table } from "../parts.js";
import { query, segment } from "../registry.js";

const PER_PAGE = 50;

/** @typedef {{subject: string, resourceName: string, resourceNamespace: string, associationType?: string, lifecycle?: string, frozen?: boolean}} Association */

/** @param {{query: URLSearchParams}} given */
export default function AssociationsPage({ query: said }) {
  const offset = Math.max(0, Number(said.get("offset")) || 0);
  return html`
    <${Heading} title="Associations" />
    <p class="lead">Topics that say which subject their keys and values have. Others go by their names.</p>
    <${Asked} path=${`associations/resources/-/-${query({ offset, limit: PER_PAGE + 1 })}`}>
      ${(/** @type {Association[]} */ found) =>
        found.length
          ? html`<${Table} label="Associations" head=${["Topic", "Cluster", "For", "Subject", "Lifecycle"]}>
                    ${found.slice(0, PER_PAGE).map(
                      (each) => html`<tr>
                        <th scope="row">${each.resourceName}</th>
                        <td>${each.resourceNamespace}</td>
                        <td>${each.associationType}</td>
                        <td><${Link} to=${`subjects/${segment(each.subject)}`}><${Name} subject=${each.subject} /><//></td>
                        <td>${each.lifecycle}${each.frozen ? html` <span class="tag">frozen</span>` : ""}</td>
                      </tr>`,
                    )}
              <//>
              <${Pager} at=${offset} per=${PER_PAGE} shown=${Math.min(found.length, PER_PAGE)} hasMore=${found.length > PER_PAGE}
                to=${(/** @type {number} */ at) => `associations${query({ offset: at })}`} />`
          : html`<p>No topic is associated with a subject.</p>`}
    <//>
  `;
}
