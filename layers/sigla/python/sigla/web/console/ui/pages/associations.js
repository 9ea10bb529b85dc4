/** Associations: which topics have which subjects for their keys and values. */

import { html } from "../vendor/preact.js";
import { Listed } from "../lists.js";
import { Asked, follow, Heading, Link, Name, Table } from "../parts.js";
import { query, segment, useIsPaid } from "../registry.js";

const PER_PAGE = 20;

/** @typedef {{subject: string, resourceName: string, resourceNamespace: string, associationType?: string, lifecycle?: string, frozen?: boolean}} Association */

/** @param {{query: URLSearchParams}} given */
export default function AssociationsPage({ query: said }) {
  const sought = said.get("topic") ?? "";
  // To the API it stands for every topic.
  const topic = sought === "-" ? "" : sought;
  const search = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    const given = new FormData(/** @type {HTMLFormElement} */ (event.currentTarget));
    follow(`associations${query({ topic: String(given.get("topic")).trim() })}`);
  };
  return html`
    <${Heading} title="Associations" />
    <p class="lead">Topics that say which subject their keys and values have. Others go by their names.</p>
    <form class="filter" key=${topic} onSubmit=${search}>
      <label>Name of a topic <input name="topic" type="search" defaultValue=${topic} autocomplete="off" spellcheck="false" /></label>
      <button>Show</button>
    </form>
    ${topic
      ? html`<${Asked} path=${`associations/resources/-/${segment(topic)}?limit=100`}>
          ${(/** @type {Association[]} */ found) => (found.length ? html`<${Rows} found=${found} />` : html`<p>This topic is not associated with a subject.</p>`)}
        <//>`
      : html`<${Listed} path=${`console/api/associations?limit=${PER_PAGE}`}>
          ${(/** @type {Association[]} */ found) => (found.length ? html`<${Rows} found=${found} /><${Order} />` : html`<p>No topic is associated with a subject.</p>`)}
        <//>`}
  `;
}

/** In AWS they are kept by digests, and read as they are kept. */
function Order() {
  return useIsPaid() ? html`<p class="hint">In the order in which they are kept, which is not that of their names.</p>` : null;
}

/** @param {{found: Association[]}} given */
function Rows({ found }) {
  return html`<${Table} label="Associations" head=${["Topic", "Cluster", "For", "Subject", "Lifecycle"]}>
    ${found.map(
      (each) => html`<tr>
        <th scope="row">${each.resourceName}</th>
        <td>${each.resourceNamespace}</td>
        <td>${each.associationType}</td>
        <td><${Link} to=${`subjects/${segment(each.subject)}`}><${Name} subject=${each.subject} /><//></td>
        <td>${each.lifecycle}${each.frozen ? html` <span class="tag">frozen</span>` : ""}</td>
      </tr>`,
    )}
  <//>`;
}
