/** What an id means, or a GUID: the schema, and who uses it. */

import { html } from "../vendor/preact.js";
import { Listed } from "../lists.js";
import { Asked, Heading, Link, Name } from "../parts.js";
import { contextOf, contextSegment, segment } from "../registry.js";
import { SchemaText } from "../schema_text.js";

/** For so many subjects 9 read units of DynamoDB are paid. */
const USERS = 16;

/** @param {{params: Record<string, string>}} given */
export default function Meaning({ params }) {
  return params.guid ? html`<${OfGuid} guid=${params.guid} />` : html`<${OfId} context=${contextOf(params.context)} id=${params.id} />`;
}

/** @param {{context: string, id: string}} given */
function OfId({ context, id }) {
  const path = `schemas/ids/${segment(id)}`;
  const scope = context === "." ? "" : `subject=${encodeURIComponent(`:${context}:`)}`;
  return html`
    <${Heading} title=${`Id ${id}`}>
      ${context !== "." && html`<p class="lead">in the context <span class="context">${context}</span></p>`}
    <//>
    <${Asked} path=${`${path}?${scope}`}>
      ${(/** @type {any} */ found) => html`<${Schema} schema=${found} />
        ${found.guid && html`<p class="hint">Other ids may mean the same: <${Link} to=${`guids/${segment(found.guid)}`}>the ids of this schema<//>.</p>`}`}
    <//>
    <section aria-labelledby="users">
      <h2 id="users">Versions with this id</h2>
      <${Listed} path=${`console/api/ids/${segment(id)}?limit=${USERS}&${scope}`}>
        ${(/** @type {any[]} */ found) => html`<ul class="names">
          ${found.map(
            ({ subject, version }) =>
              html`<li><${Link} to=${`subjects/${segment(subject)}/versions/${version}`}><${Name} subject=${subject} /> version ${version}<//></li>`,
          )}
        </ul>`}
      <//>
    </section>
  `;
}

/** @param {{guid: string}} given */
function OfGuid({ guid }) {
  const path = `schemas/guids/${segment(guid)}`;
  return html`
    <${Heading} title="GUID"><p class="lead code">${guid}</p><//>
    <${Asked} path=${path}>${(/** @type {any} */ found) => html`<${Schema} schema=${found} />`}<//>
    <section aria-labelledby="ids">
      <h2 id="ids">Ids of this schema</h2>
      <${Asked} path=${`${path}/ids`}>
        ${(/** @type {any[]} */ found) => html`<ul class="names">
          ${found.map(
            ({ context, id }) =>
              html`<li><${Link} to=${`ids/${contextSegment(context)}/${id}`}>Id ${id}<//> ${context !== "." && html`in <span class="context">${context}</span>`}</li>`,
          )}
        </ul>`}
      <//>
    </section>
  `;
}

/** @param {{schema: any}} given */
function Schema({ schema }) {
  const type = schema.schemaType ?? "AVRO";
  return html`<p class="lead">${type}</p><${SchemaText} text=${schema.schema} type=${type} label="Text of the schema" />`;
}
