/** Field encryption: the keys that encrypt keys, and for which subjects there are data keys under each. */

import { html } from "../vendor/preact.js";
import { Listed } from "../lists.js";
import { Asked, Heading, Later, Link, Name, Table } from "../parts.js";
import { segment } from "../registry.js";

/** @typedef {{name: string, kmsType: string, kmsKeyId: string, shared?: boolean, deleted?: boolean}} KeyOfKeys */

export default function EncryptionPage() {
  return html`
    <${Heading} title="Encryption" />
    <p class="lead">Key encryption keys (KEKs), and the subjects that have data keys (DEKs) under them. No key material is shown.</p>
    <${Listed} path="console/api/keks?limit=20">
      ${(/** @type {KeyOfKeys[]} */ found) =>
        found.length
          ? html`<${Table} label="Key encryption keys" head=${["KEK", "Key service, and its key", "Subjects"]}>
              ${found.map((each) => html`<${Kek} key=${each.name} kek=${each} />`)}
            <//>`
          : html`<p>This registry keeps no keys.</p>`}
    <//>
  `;
}

const SHOWN = 50;

/** @param {{kek: KeyOfKeys}} given */
function Kek({ kek: { name, kmsType, kmsKeyId, shared, deleted } }) {
  const deks = `dek-registry/v1/keks/${segment(name)}/deks?deleted=true&limit=${SHOWN + 1}`;
  return html`<tr>
    <th scope="row">${name}</th>
    <td>${kmsType}${shared && html` <span class="tag">shared</span>`}${deleted && html` <span class="tag">soft-deleted</span>`} <div class="code">${kmsKeyId}</div></td>
    <td><${Later} label=${`Show the subjects of ${name}`}>${() => html`<${Asked} path=${deks}>
      ${(/** @type {string[]} */ subjects) => html`
        ${subjects.slice(0, SHOWN).map((each) => html`<div><${Link} to=${`subjects/${segment(each)}`}><${Name} subject=${each} /><//></div>`)}
        ${subjects.length === 0 && html`<span class="hint">none</span>`}
        ${subjects.length > SHOWN && html`<div class="hint">and more than these ${SHOWN}</div>`}
      `}
    <//>`}<//></td>
  </tr>`;
}
