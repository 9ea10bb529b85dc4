/** What a record says: pasted as hex or base64, taken apart as far as it can be read, with the byte that breaks it. */

import { html, useLayoutEffect, useRef, useState } from "../vendor/preact.js";
import { Asked, Heading, Link, Name } from "../parts.js";
import { contextSegment, segment } from "../registry.js";
import { SchemaText } from "../schema_text.js";

const PER_LINE = 16;
const MOST_LINES = 64;

/** @typedef {{record: string, form?: string, id?: number, context?: string}} Pasted */

export default function DecodePage() {
  const [pasted, setPasted] = useState(/** @type {Pasted | undefined} */ (undefined));
  const go = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    const said = new FormData(/** @type {HTMLFormElement} */ (event.currentTarget));
    const [form, id, context] = ["form", "id", "context"].map((name) => String(said.get(name) ?? "").trim());
    setPasted({ record: String(said.get("record")), form: form || undefined, id: id ? Number(id) : undefined, context: context || undefined });
  };
  return html`
    <${Heading} title="Decode a record" />
    <p class="lead">A value or a key of Kafka as it stands in the topic. It is read here and kept nowhere.</p>
    <form class="stack wide" onSubmit=${go}>
      <label>Bytes, as hex or base64 <textarea name="record" required rows="5" spellcheck="false" autocomplete="off" autocapitalize="off"></textarea></label>
      <div class="filter">
        <label>Form <select name="form"><option value="">detect</option><option value="hex">hex</option><option value="base64">base64</option></select></label>
        <label>Id, if the bytes begin without one <input name="id" inputmode="numeric" pattern="[0-9]{1,10}" autocomplete="off" /></label>
        <label>Context of the id <input name="context" placeholder="default" autocomplete="off" spellcheck="false" /></label>
        <button>Decode</button>
      </div>
    </form>
    ${pasted && html`<${Asked} path="console/api/decode" body=${pasted}>${(/** @type {any} */ found) => html`<${Found} found=${found} />`}<//>`}
  `;
}

/** @param {{found: any}} given */
function Found({ found: { bytes, frame, schema, value, failure } }) {
  return html`
    ${failure &&
    html`<section class="problem" role="alert" aria-labelledby="failure">
      <h2 id="failure">It cannot be read${failure.at === undefined ? "" : ` from byte ${failure.at} on`}</h2>
      <p>${failure.detail} <span class="code">${failure.reason}</span></p>
    </section>`}
    ${schema &&
    html`<section aria-labelledby="schema">
      <h2 id="schema">Written with</h2>
      <dl class="facts">
        <div><dt>Schema</dt><dd><${Link} to=${`subjects/${segment(schema.subject)}/versions/${schema.version}`}><${Name} subject=${schema.subject} /> version ${schema.version}<//></dd></div>
        <div><dt>Type</dt><dd>${schema.type}</dd></div>
        <div><dt>Id</dt><dd><${Link} to=${`ids/${contextSegment(schema.context)}/${schema.id}`}>${schema.id}<//></dd></div>
        ${frame?.message && html`<div><dt>Message</dt><dd class="code">${frame.message}</dd></div>`}
        ${frame?.bytes !== undefined && html`<div><dt>Payload</dt><dd>${frame.bytes} bytes</dd></div>`}
      </dl>
    </section>`}
    ${value !== undefined && html`<section aria-labelledby="value"><h2 id="value">Value</h2><${SchemaText} text=${value} type="JSON" label="The value" isOurs /></section>`}
    <section aria-labelledby="bytes"><h2 id="bytes">Bytes</h2><${Dump} hex=${bytes} at=${failure?.at} /></section>
  `;
}

/** @param {{hex: string, at?: number}} given at: the byte to blame */
function Dump({ hex, at }) {
  const frame = useRef(/** @type {HTMLElement | undefined} */ (undefined));
  // In a narrow window the byte to blame may stand beyond its edge.
  useLayoutEffect(() => {
    const blamed = frame.current?.querySelector("mark");
    if (frame.current && blamed) frame.current.scrollLeft = blamed.offsetLeft + 2 * blamed.offsetWidth - frame.current.clientWidth;
  }, [hex, at]);
  const count = hex.length / 2;
  const begin = at === undefined ? 0 : Math.max(0, Math.floor(at / PER_LINE) - MOST_LINES / 2);
  const lines = Math.min(MOST_LINES, Math.ceil(count / PER_LINE) - begin);
  const byte = (/** @type {number} */ place) => {
    const text = hex.slice(2 * place, 2 * place + 2) || (place === at ? "end" : "");
    return place === at ? html`<mark>${text}</mark> ` : `${text} `;
  };
  return html`
    <pre class="code dump" ref=${frame} tabindex="0" role="region" aria-label="Bytes in hex"><code>${Array.from({ length: Math.max(1, lines) }, (_, line) => {
      const start = (begin + line) * PER_LINE;
      return html`<span class="offset">${String(start).padStart(7)}</span>  ${Array.from({ length: PER_LINE + (at === count && start + PER_LINE === count ? 1 : 0) }, (_each, place) => byte(start + place))}${"\n"}`;
    })}</code></pre>
    ${count > (begin + lines) * PER_LINE || begin > 0 ? html`<p class="hint">${lines * PER_LINE} of ${count} bytes are shown.</p>` : ""}
  `;
}
