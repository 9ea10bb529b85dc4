/** What is between two versions of a subject: who can read whom, every change, and the texts line by line. */

import { html, useState } from "../vendor/preact.js";
import { Answer, Asked, Heading, Link, Name, Table } from "../parts.js";
import { segment, useAsked } from "../registry.js";
import { coloured, readable } from "../schema_text.js";
import { lineDiff } from "../line_diff.js";

const AROUND = 3;

/** @type {Record<string, string>} */
const SAMENESS = {
  IDENTICAL: "The two are the same text.",
  SPELLING: "The same schema, spelled otherwise.",
  DOCUMENTATION: "The same schema, with other documentation.",
};

/** @param {{params: Record<string, string>}} given */
export default function DiffPage({ params }) {
  const place = `subjects/${segment(params.subject)}`;
  const [old, now] = [params.old, params.new].map(segment);
  // Side by side, and beside the comparison: the texts are there while references are still read for that.
  const oldText = useAsked(`${place}/versions/${old}?deleted=true`);
  const newText = useAsked(`${place}/versions/${now}?deleted=true`);
  return html`
    <${Heading} title=${`Version ${params.old} to ${params.new}`}>
      <p class="lead">of <${Link} to=${place}><${Name} subject=${params.subject} /><//></p>
    <//>
    <${Asked} path=${`${place}/diff/${old}/${now}?deleted=true`}>
      ${(/** @type {any} */ found) => html`<${Changes} found=${found} />`}
    <//>
    <section aria-labelledby="texts">
      <h2 id="texts">Text</h2>
      <${Answer} asked=${oldText}>
        ${(/** @type {any} */ before) => html`<${Answer} asked=${newText}>
          ${(/** @type {any} */ after) => html`<${Texts} before=${before} after=${after} />`}
        <//>`}
      <//>
    </section>
  `;
}

/** @param {{found: any}} given */
function Changes({ found }) {
  const { old, new: now, backward, forward, changes, sameness } = found;
  return html`
    <div class="cards">
      <${Verdict} name="Backward" told=${backward} reader=${now.version} writer=${old.version} />
      <${Verdict} name="Forward" told=${forward} reader=${old.version} writer=${now.version} />
    </div>
    <section aria-labelledby="changes">
      <h2 id="changes">Changes</h2>
      ${SAMENESS[sameness] && html`<p>${SAMENESS[sameness]}</p>`}
      ${changes.length > 0 &&
      html`<${Table} label="Changes" head=${["Change", "What", "Where", "Was", "Is", "Breaks"]}>
            ${changes.map(
              (/** @type {any} */ each) => html`<tr>
                <td><span class=${`change ${each.kind}`}>${each.kind}</span></td>
                <td>${each.what}${each.documentation ? html` <span class="hint">for people alone</span>` : ""}</td>
                <td class="code"><${Path} of=${each.path} />${each.inside ? html` <span class="hint">in ${each.inside}</span>` : ""}</td>
                <td class="code">${each.was}</td>
                <td class="code">${each.is}</td>
                <td><${Broken} name="backward" rules=${each.breaks.backward} /><${Broken} name="forward" rules=${each.breaks.forward} /></td>
              </tr>`,
            )}
      <//>`}
    </section>
  `;
}

/** A path, which may go on in the next line behind each of its parts. @param {{of: string}} given */
function Path({ of }) {
  return of.split("/").map((each, at) => html`${at > 0 && html`/<wbr />`}${each}`);
}

/** @param {{name: string, told: any, reader: number, writer: number}} given */
function Verdict({ name, told, reader, writer }) {
  const id = `verdict-${name}`;
  return html`<section aria-labelledby=${id} class=${told.compatible ? "good" : "bad"}>
    <h2 id=${id}>${name}</h2>
    <p class="fact">${told.compatible ? "Compatible" : "Incompatible"}</p>
    <p>Version ${reader} ${told.compatible ? "can" : "cannot"} read what version ${writer} wrote.</p>
    <${Findings} of=${told.findings} />
  </section>`;
}

/** @param {{of: any[]}} given */
export function Findings({ of }) {
  if (!of.length) return null;
  return html`<ul class="findings">
    ${of.map((each) => (each.rule ? html`<li><span class="code">${each.rule}</span> at <span class="code">${each.path || "/"}</span></li>` : html`<li>${each.message}</li>`))}
  </ul>`;
}

/** @param {{name: string, rules: string[]}} given */
function Broken({ name, rules }) {
  return rules.map((rule) => html`<div><span class="tag bad">${name}</span> <span class="code">${rule}</span></div>`);
}

/** @param {{before: any, after: any}} given */
export function Texts({ before, after }) {
  const [isWhole, setWhole] = useState(false);
  const type = after.schemaType ?? "AVRO";
  const lines = lineDiff(readable(before.schema, before.schemaType ?? "AVRO"), readable(after.schema, type));
  if (!lines) return html`<p>The two texts have too little in common to be shown line by line.</p>`;
  const near = lines.map((_, at) => lines.slice(Math.max(0, at - AROUND), at + AROUND + 1).some((each) => each.kind !== "same"));
  if (!near.includes(true)) return html`<p>The two texts are the same, laid out alike.</p>`;
  return html`
    ${near.includes(false) && html`<p><button class="quiet" aria-pressed=${isWhole} onClick=${() => setWhole(!isWhole)}>Show all lines</button></p>`}
    <div class="scroll diff" tabindex="0" role="region" aria-label="Text, line by line">
      <table>
        <thead class="unseen">
          <tr><th scope="col">Line before</th><th scope="col">Line after</th><th scope="col">Change</th><th scope="col">Text</th></tr>
        </thead>
        <tbody>
          ${lines.flatMap((each, at) => {
            if (!isWhole && !near[at]) return near[at - 1] || !at ? html`<tr class="gap"><td colspan="4">…</td></tr>` : [];
            return html`<tr class=${each.kind}>
              <td>${each.old}</td><td>${each.new}</td>
              <td>${{ same: "", added: html`<span aria-label="added">+</span>`, removed: html`<span aria-label="removed">−</span>` }[each.kind]}</td>
              <td><code>${coloured(each.text, type)}</code></td>
            </tr>`;
          })}
        </tbody>
      </table>
    </div>
  `;
}
