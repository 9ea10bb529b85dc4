/** What is between two versions of a subject: who can read whom, every change, and the texts line by line. */

import { html, useEffect, useMemo, useRef, useState } from "../vendor/preact.js";
import { Answer, Asked, Heading, Link, Name, Table } from "../parts.js";
import { inReadable } from "../places.js";
import { segment, useAsked } from "../registry.js";
import { coloured, readable } from "../schema_text.js";
import { lineDiff } from "../line_diff.js";

const AROUND = 3;

/** @typedef {import("../places.js").Place} Place */
/** @typedef {(finding: Place) => Place & {says: string}} PlaceOf where a finding is in the text as it is shown */
/** @typedef {{side: "old" | "new", line: number}} Target a line of one of two texts, to be looked at */

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
  const [target, setTarget] = useState(/** @type {Target | undefined} */ (undefined));
  return html`
    <${Heading} title=${`Version ${params.old} to ${params.new}`}>
      <p class="lead">of <${Link} to=${place}><${Name} subject=${params.subject} /><//></p>
    <//>
    <${Asked} path=${`${place}/diff/${old}/${now}?deleted=true`}>
      ${(/** @type {any} */ found) => html`<${Changes} found=${found} before=${oldText.value} after=${newText.value} show=${setTarget} />`}
    <//>
    <section aria-labelledby="texts">
      <h2 id="texts">Text</h2>
      <${Answer} asked=${oldText}>
        ${(/** @type {any} */ before) => html`<${Answer} asked=${newText}>
          ${(/** @type {any} */ after) => html`<${Texts} before=${before} after=${after} target=${target} />`}
        <//>`}
      <//>
    </section>
  `;
}

/** @param {{found: any, before?: any, after?: any, show: (target: Target) => void}} given before, after: the two as they are stored */
function Changes({ found, before, after, show }) {
  const { old, new: now, backward, forward, changes, sameness } = found;
  const findings = (/** @type {any[]} */ of, /** @type {any} */ stored, /** @type {Target["side"]} */ side) =>
    html`<${FindingsOfStored} of=${of} stored=${stored} show=${(/** @type {Place} */ { line }) => show({ side, line })} />`;
  return html`
    <div class="cards">
      <${Verdict} name="Backward" told=${backward} reader=${now.version} writer=${old.version}>${findings(backward.findings, after, "new")}<//>
      <${Verdict} name="Forward" told=${forward} reader=${old.version} writer=${now.version}>${findings(forward.findings, before, "old")}<//>
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

/** @param {{name: string, told: any, reader: number, writer: number, children: any}} given children: its findings */
function Verdict({ name, told, reader, writer, children }) {
  const id = `verdict-${name}`;
  return html`<section aria-labelledby=${id} class=${told.compatible ? "good" : "bad"}>
    <h2 id=${id}>${name}</h2>
    <p class="fact">${told.compatible ? "Compatible" : "Incompatible"}</p>
    <p>Version ${reader} ${told.compatible ? "can" : "cannot"} read what version ${writer} wrote.</p>
    ${children}
  </section>`;
}

/** Findings about a version that is stored, and is shown laid out. @param {{of: any[], stored?: any, show: (place: Place) => void}} given stored: once it is known */
export function FindingsOfStored({ of, stored, show }) {
  const placeOf = useMemo(() => stored && of.length && inReadable(stored.schema, stored.schemaType ?? "AVRO"), [stored, of]);
  return html`<${Findings} of=${of} placeOf=${placeOf || undefined} show=${show} whose=${stored && ` of version ${stored.version}`} />`;
}

/** @param {{of: any[], placeOf?: PlaceOf, show: (place: Place) => void, whose?: string}} given placeOf: where the text is shown. whose: the text is */
export function Findings({ of, placeOf, show, whose }) {
  if (!of.length) return null;
  const told = (/** @type {any} */ each) => {
    if (!each.rule) return html`<p>${each.message}</p>`;
    if (!placeOf || !each.line) return html`<p><span class="code">${each.rule}</span> at <span class="code">${each.path || "/"}</span></p>`;
    const { line, column, says } = placeOf(each);
    return html`<p><span class="code">${each.rule}</span></p>
      <p><button class="quiet" onClick=${() => show({ line, column })}>Line ${line}, column ${column}${whose}</button> ${says && html`<code>${says}</code>`}</p>`;
  };
  return html`<ul class="findings">${of.map((each) => html`<li>${told(each)}</li>`)}</ul>`;
}

/** @param {{name: string, rules: string[]}} given */
function Broken({ name, rules }) {
  return rules.map((rule) => html`<div><span class="tag bad">${name}</span> <span class="code">${rule}</span></div>`);
}

/** @param {{before: any, after: any, target?: Target}} given */
export function Texts({ before, after, target }) {
  const [isWhole, setWhole] = useState(false);
  const pointed = useRef(/** @type {HTMLElement | undefined} */ (undefined));
  const type = after.schemaType ?? "AVRO";
  const [old, now] = [readable(before.schema, before.schemaType ?? "AVRO"), readable(after.schema, type)];
  const lines = useMemo(() => lineDiff(old, now), [old, now]);
  useEffect(() => {
    if (!target) return;
    pointed.current?.scrollIntoView({ block: "center" });
    pointed.current?.focus({ preventScroll: true });
  }, [target]);
  if (!lines) {
    const text = target && (target.side === "old" ? old : now).split("\n")[target.line - 1];
    return html`<p>The two texts have too little in common to be shown line by line.</p>
      ${target && html`<pre class="excerpt" tabindex="-1" ref=${pointed}><code>${text}</code></pre>`}`;
  }
  const at = target ? lines.findIndex((each) => each[target.side] === target.line) : -1;
  const isShown = lines.map((each, row) => row === at || each.kind !== "same");
  const near = lines.map((_, row) => isShown.slice(Math.max(0, row - AROUND), row + AROUND + 1).includes(true));
  if (!near.includes(true)) return html`<p>The two texts are the same, laid out alike.</p>`;
  return html`
    ${near.includes(false) && html`<p><button class="quiet" aria-pressed=${isWhole} onClick=${() => setWhole(!isWhole)}>Show all lines</button></p>`}
    <div class="scroll diff" tabindex="0" role="region" aria-label="Text, line by line">
      <table>
        <thead class="unseen">
          <tr><th scope="col">Line before</th><th scope="col">Line after</th><th scope="col">Change</th><th scope="col">Text</th></tr>
        </thead>
        <tbody>
          ${lines.flatMap((each, row) => {
            if (!isWhole && !near[row]) return near[row - 1] || !row ? html`<tr class="gap"><td colspan="4">…</td></tr>` : [];
            return html`<tr class=${`${each.kind} ${row === at ? "pointed" : ""}`} tabindex=${row === at ? -1 : undefined} ref=${row === at ? pointed : undefined}>
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
