/** A subject: its versions, one of them in full, who refers to it, what is in force for it, and what became of it. */

import { html, useState } from "../vendor/preact.js";
import { Answer, Asked, follow, Heading, Later, Link, Name, split, Time } from "../parts.js";
import { contextSegment, segment, useAsked } from "../registry.js";
import { SchemaText } from "../schema_text.js";
import { Entries } from "../entries.js";
import { Fields } from "../fields.js";
import { GraphPicture, referrersOf } from "../graph.js";
import { InForce } from "../scope_settings.js";
import { SubjectChanges, VersionChanges } from "../subject_changes.js";
import { UsageOf } from "../usage.js";

const ENTRIES = 20;
/** What is below on the page. */
const PARTS = [["version", "Version"], ["fields", "Fields"], ["in-force", "Compatibility and mode"], ["usage", "Usage"], ["history", "History"]];

/** @param {{params: Record<string, string>}} given */
export default function SubjectPage({ params }) {
  const { subject } = params;
  const { context, name } = split(subject);
  return html`
    <${Heading} title=${name || subject}>
      <p class="lead">
        ${context === "." ? "in the default context" : html`in the context <span class="context">${context}</span>`}
      </p>
    <//>
    <${Asked} path=${`subjects/${segment(subject)}/versions?deletedAsNegative=true&deleted=true`}>
      ${(/** @type {number[]} */ versions) => html`<${Whole} subject=${subject} versions=${versions} wanted=${params.version} />`}
    <//>
  `;
}

/**
 * @param {{subject: string, versions: number[], wanted?: string}} given versions: those that are soft-deleted negated
 */
function Whole({ subject, versions, wanted }) {
  const active = versions.filter((each) => each > 0);
  const shown = wanted ? Number(wanted) || active.at(-1) : active.at(-1) ?? Math.abs(versions.at(-1) ?? 0);
  const at = versions.findIndex((each) => Math.abs(each) === shown);
  const [limit, setLimit] = useState(ENTRIES);
  const history = useAsked(`subjects/${segment(subject)}/history?limit=${limit + 1}`);
  return html`
    <nav class="jumps" aria-label="On this page">
      ${PARTS.map(([id, name]) => html`<a href=${`#${id}`}>${name}</a>`)}
    </nav>
    <${SubjectChanges} subject=${subject} versions=${versions} />
    <div class="columns">
      <${Versions} subject=${subject} versions=${versions} shown=${shown ?? 0} />
      <div class="whole">
        ${at < 0
          ? html`<p role="alert">There is no version ${wanted} of this subject.</p>`
          : html`<${Version} subject=${subject} version=${shown ?? 0} versions=${versions} before=${Math.abs(versions[at - 1] ?? 0)} entries=${history.value} />`}
      </div>
    </div>
    <div id="in-force"><${Later} label="Show compatibility and mode" heading=${html`<h2>Compatibility and mode</h2>`}>${() => html`<${InForce} subject=${subject} />`}<//></div>
    <${UsageOf} subject=${subject} />
    <${History} asked=${history} limit=${limit} more=${() => setLimit(limit + 100)} />
  `;
}

/** @param {{subject: string, versions: number[], shown: number}} given */
function Versions({ subject, versions, shown }) {
  const place = `subjects/${segment(subject)}`;
  const compare = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    const said = new FormData(/** @type {HTMLFormElement} */ (event.currentTarget));
    follow(`${place}/diff/${said.get("old")}/${said.get("new")}`);
  };
  const numbers = versions.map(Math.abs);
  const options = (/** @type {number | undefined} */ chosen) =>
    numbers.map((each) => html`<option value=${each} selected=${each === chosen}>${each}</option>`);
  return html`<nav class="versions" aria-label="Versions">
    <h2>Versions</h2>
    <ol>
      ${versions.toReversed().map((each) => {
        const version = Math.abs(each);
        return html`<li key=${version}>
          <${Link} to=${`${place}/versions/${version}`} current=${version === shown}>Version ${version}<//>
          ${each < 0 && html` <span class="tag">soft-deleted</span>`}
        </li>`;
      })}
    </ol>
    ${numbers.length > 1 &&
    html`<form class="compare" onSubmit=${compare}>
      <label>From <select name="old">${options(numbers.at(-2))}</select></label>
      <label>to <select name="new">${options(numbers.at(-1))}</select></label>
      <button>Compare</button>
    </form>`}
  </nav>`;
}

/** Who made a version, if an entry of the history that is at hand says so. @param {any} entries @param {number} version */
function makerOf(entries, version) {
  const made = (/** @type {any} */ each) => each.type === "SCHEMA" && each.version === version && !each.gone;
  return Array.isArray(entries) ? entries.find((each) => each.about?.some(made)) : undefined;
}

/** @param {{subject: string, version: number, versions: number[], before: number, entries: any}} given before: the version before it; 0 without one. entries: of the history, as far as it is known */
function Version({ subject, version, versions, before, entries }) {
  const place = `subjects/${segment(subject)}/versions/${version}`;
  const maker = makerOf(entries, version);
  return html`<section aria-labelledby="version">
    <h2 id="version">Version ${version}</h2>
    <${Asked} path=${`${place}?deleted=true`}>
      ${(/** @type {any} */ found) => {
        const type = found.schemaType ?? "AVRO";
        const context = split(found.subject).context;
        return html`
          <dl class="facts">
            <div><dt>Type</dt><dd>${type}</dd></div>
            <div><dt>Id</dt><dd><${Link} to=${`ids/${contextSegment(context)}/${found.id}`}>${found.id}<//></dd></div>
            ${found.ts && html`<div><dt>Registered</dt><dd><${Time} at=${found.ts} />${maker && html` by ${maker.name ?? html`<span class="code">${maker.by ?? "unknown"}</span>`}`}</dd></div>`}
            <div><dt>GUID</dt><dd><${Link} to=${`guids/${segment(found.guid)}`} class="code">${found.guid}<//></dd></div>
            ${found.deleted && html`<div><dt>State</dt><dd><span class="tag">soft-deleted</span></dd></div>`}
          </dl>
          ${before > 0 &&
          html`<p><${Link} to=${`subjects/${segment(subject)}/diff/${before}/${version}`}>What has changed since version ${before}<//></p>`}
          <${VersionChanges} subject=${found.subject} version=${version} versions=${versions} record=${found} />
          <${SchemaText} text=${found.schema} type=${type} label=${`Text of version ${version}`} />
          <${Fields} subject=${found.subject} version=${version} />
          <${References} references=${found.references ?? []} context=${context} />
          <${Later} label="Show references" heading=${html`<h3>References</h3>`}>${() => html`<${Referrers} subject=${found.subject} version=${version} />`}<//>
          ${found.metadata && html`<${Beside} title="Metadata" value=${found.metadata} />`}
          ${found.ruleSet && html`<${Beside} title="Rules" value=${found.ruleSet} />`}
        `;
      }}
    <//>
  </section>`;
}

/** @param {{references: any[], context: string}} given context: in which names without one are to be understood */
function References({ references, context }) {
  if (!references.length) return null;
  return html`<h3>Refers to</h3>
    <ul class="names">
      ${references.map(({ name, subject, version }) => {
        const target = subject.startsWith(":") || context === "." ? subject : `:${context}:${subject}`;
        return html`<li>
          <${Link} to=${`subjects/${segment(target)}/versions/${version}`}><${Name} subject=${target} /> version ${version}<//>
          ${" "}<span class="hint">as</span> <span class="code">${name}</span>
        </li>`;
      })}
    </ul>`;
}

/** @param {{subject: string, version: number}} given */
function Referrers({ subject, version }) {
  return html`<${Asked} path=${`console/api/graph?subject=${encodeURIComponent(subject)}&version=${version}`}>
    ${(/** @type {import("../graph.js").Graph} */ graph) => {
      const found = referrersOf(graph, { isOwnToo: true, isDeletedToo: true });
      return html`
        ${found.length > 0 &&
        html`<h3>Referred to by</h3>
          <ul class="names">
            ${found.map((each) => html`<li><${Link} to=${`subjects/${segment(each.subject)}/versions/${each.version}`}><${Name} subject=${each.subject} /> version ${each.version}<//>${each.deleted && html` <span class="tag">soft-deleted</span>`}</li>`)}
          </ul>`}
        ${graph.edges.length > 0 && html`<h3>All references</h3><${GraphPicture} graph=${graph} label="References from left to right" />`}
      `;
    }}
  <//>`;
}

/** @param {{title: string, value: object}} given */
function Beside({ title, value }) {
  return html`<h3>${title}</h3><${SchemaText} text=${JSON.stringify(value)} type="JSON" label=${title} isOurs />`;
}

// --- history -----------------------------------------------------------------------------------------------------

/** @param {{asked: import("../registry.js").Asked, limit: number, more: () => void}} given */
function History({ asked, limit, more }) {
  return html`<section aria-labelledby="history">
    <h2 id="history">History</h2>
    <${Answer} asked=${asked}>
      ${(/** @type {any[]} */ found) =>
        found.length
          ? html`<${Entries} entries=${found.slice(0, limit)} label="History" />
              ${found.length > limit && html`<button class="quiet" onClick=${more}>Show earlier entries</button>`}`
          : html`<p class="hint">Nothing was told of it since this registry keeps histories.</p>`}
    <//>
  </section>`;
}
