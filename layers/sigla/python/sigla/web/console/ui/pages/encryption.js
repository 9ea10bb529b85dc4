/** Field encryption: the keys that encrypt keys, and for which subjects there are data keys under each. */

import { html } from "../vendor/preact.js";
import { Asked, Heading, Later, Link, Name, Pager, Table } from "../parts.js";
import { query, segment } from "../registry.js";

const PER_PAGE = 20;
const KEKS = "dek-registry/v1/keks";

/** @param {{query: URLSearchParams}} given */
export default function EncryptionPage({ query: said }) {
  const offset = Math.max(0, Number(said.get("offset")) || 0);
  return html`
    <${Heading} title="Encryption" />
    <p class="lead">Key encryption keys (KEKs), and the subjects that have data keys (DEKs) under them. No key material is shown.</p>
    <${Asked} path=${`${KEKS}${query({ deleted: true, offset, limit: PER_PAGE + 1 })}`}>
      ${(/** @type {string[]} */ found) =>
        found.length
          ? html`<${Table} label="Key encryption keys" head=${["KEK", "Key service, and its key", "Subjects"]}>
                ${found.slice(0, PER_PAGE).map((name) => html`<${Kek} key=${name} name=${name} />`)}
              <//>
              <${Pager} at=${offset} per=${PER_PAGE} shown=${Math.min(found.length, PER_PAGE)} hasMore=${found.length > PER_PAGE}
                to=${(/** @type {number} */ at) => `encryption${query({ offset: at })}`} />`
          : html`<p>This registry keeps no keys.</p>`}
    <//>
  `;
}

/** @param {{name: string}} given */
function Kek({ name }) {
  const place = `${KEKS}/${segment(name)}`;
  return html`<tr>
    <th scope="row">${name}</th>
    <td><${Later} label=${`Show the key of ${name}`}>${() => html`<${Asked} path=${`${place}?deleted=true`}>
      ${(/** @type {any} */ found) => html`${found.kmsType}${found.shared ? html` <span class="tag">shared</span>` : ""}${found.deleted ? html` <span class="tag">soft-deleted</span>` : ""} <div class="code">${found.kmsKeyId}</div>`}
    <//>`}<//></td>
    <td><${Later} label=${`Show the subjects of ${name}`}>${() => html`<${Asked} path=${`${place}/deks?deleted=true&limit=51`}>
      ${(/** @type {string[]} */ subjects) => (subjects.length ? subjects.slice(0, 50).map((each) => html`<div><${Link} to=${`subjects/${segment(each)}`}><${Name} subject=${each} /><//></div>`) : html`<span class="hint">none</span>`)}
    <//>`}<//></td>
  </tr>`;
}
