/** A subject: its versions, one of them in full, who refers to it, what is in force for it, and what became of it. */

import { html, useState } from "../vendor/preact.js";
import { Answer, Asked, Author, follow, Heading, Later, Link, Name, split, Time, useGoingOn } from "../parts.js";
import { ask, contextSegment, query, segment, useAsked, useIsPaid } from "../registry.js";
import { SchemaText } from "../schema_text.js";
import { Entries } from "../entries.js";
import { Fields } from "../fields.js";
import { GraphPicture, joined } from "../graph.js";
import { Going, Listed } from "../lists.js";
import { useNames } from "../names.js";
import { ReferrerNames, useReferrersPath } from "../referrers.js";
import { InForce } from "../scope_settings.js";
import { SubjectChanges, VersionChanges } from "../subject_changes.js";
import { UsageOf } from "../usage.js";

const ENTRIES = 20;
/** So many are listed at first, and with each *Show more*. */
const VERSIONS = 20;
/** What is below on the page. */
const PARTS = [["version", "Version"], ["fields", "Fields"], ["in-force", "Compatibility and mode"], ["usage", "Usage"], ["history", "History"]];

/** @typedef {{version: number, deleted: boolean}} ToldVersion */
/** @typedef {{subject: string, name: string, found: ToldVersion[], after?: string, latest?: number, near?: ToldVersion[]}} VersionPart subject: whose they are; another one than was asked for, where that is an alias. name: by which the registry finds them. latest: the highest that is not soft-deleted. near: the version that is wanted, and the one before it */

/** @param {{params: Record<string, string>}} given */
export default function SubjectPage({ params }) {
  const { subject } = params;
  const { context, name } = split(subject);
  const isNumber = /^[1-9]\d{0,8}$/.test(params.version ?? "");
  return html`
    <${Heading} title=${name || subject}>
      <p class="lead">
        ${context === "." ? "in the default context" : html`in the context <span class="context">${context}</span>`}
      </p>
    <//>
    <${Asked} path=${`${listOf(subject)}?limit=${VERSIONS}${isNumber ? `&version=${params.version}` : ""}`}>
      ${(/** @type {VersionPart} */ first) => html`<${Whole} subject=${subject} first=${first} wanted=${params.version} />`}
    <//>
  `;
}

/** Where versions are listed, the newest first. @param {string} subject */
function listOf(subject) {
  return `console/api/subjects/${segment(subject)}/versions`;
}

/** @param {{subject: string, first: VersionPart, wanted?: string}} given */
function Whole({ subject, first, wanted }) {
  const newest = first.latest ?? (wanted ? 0 : first.found[0]?.version ?? 0);
  const shown = wanted && wanted !== "latest" ? Number(wanted) || 0 : newest;
  const at = first.found.findIndex((each) => each.version === shown);
  const before = first.near?.length ? first.near[1] : at < 0 ? undefined : first.found[at + 1];
  const isThere = at >= 0 || shown === first.latest || Boolean(first.near?.length);
  const [limit, setLimit] = useState(ENTRIES);
  const isPaid = useIsPaid();
  const history = useAsked(isPaid === undefined ? "" : `subjects/${segment(first.name)}/history${query({ tokens: isPaid, limit: limit + 1 })}`);
  const { named, more } = useNames(Array.isArray(history.value) ? history.value : []);
  return html`
    <nav class="jumps" aria-label="On this page">
      ${PARTS.map(([id, name]) => html`<a href=${`#${id}`}>${name}</a>`)}
    </nav>
    ${first.subject !== subject &&
    html`<p class="alias">This name is an alias. It leads to <${Link} to=${`subjects/${segment(first.subject)}`}><${Name} subject=${first.subject} /><//>, whose versions are shown and changed here.</p>`}
    <${SubjectChanges} subject=${first.name} isDeleted=${first.latest === undefined} />
    <div class="columns">
      <${Versions} subject=${subject} first=${first} shown=${shown} />
      <div class="whole">
        ${isThere
          ? html`<${Version} subject=${first.name} version=${shown} before=${before?.version ?? 0} entries=${history.value} named=${named} />`
          : html`<p role="alert">There is no version ${wanted} of this subject.</p>`}
      </div>
    </div>
    <div id="in-force"><${Later} label="Show compatibility and mode" heading=${html`<h2>Compatibility and mode</h2>`}>${() => html`<${InForce} subject=${subject} leadsTo=${first.subject === subject ? undefined : first.subject} />`}<//></div>
    <${UsageOf} subject=${first.name} />
    <${History} asked=${history} named=${named} moreNames=${more} limit=${limit} more=${() => setLimit(limit + 100)} />
  `;
}

/** @param {{subject: string, first: VersionPart, shown: number}} given */
function Versions({ subject, first, shown }) {
  const place = `subjects/${segment(subject)}`;
  const compare = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    const said = new FormData(/** @type {HTMLFormElement} */ (event.currentTarget));
    follow(`${place}/diff/${said.get("old")}/${said.get("new")}`);
  };
  const options = (/** @type {ToldVersion[]} */ found, /** @type {ToldVersion | undefined} */ chosen) =>
    found.toReversed().map((each) => html`<option value=${each.version} selected=${each === chosen}>${each.version}</option>`);
  return html`<nav class="versions" aria-label="Versions">
    <h2>Versions</h2>
    <${Going} key=${JSON.stringify(first)} path=${`${listOf(subject)}?limit=${VERSIONS}`} first=${first}>
      ${(/** @type {ToldVersion[]} */ found) => html`
        <ol>
          ${found.map(
            ({ version, deleted }) => html`<li key=${version}>
              <${Link} to=${`${place}/versions/${version}`} current=${version === shown}>Version ${version}<//>
              ${deleted && html` <span class="tag">soft-deleted</span>`}
            </li>`,
          )}
        </ol>
        ${found.length > 1 &&
        html`<form class="compare" onSubmit=${compare}>
          <label>From <select name="old">${options(found, found[1])}</select></label>
          <label>to <select name="new">${options(found, found[0])}</select></label>
          <button>Compare</button>
        </form>`}
      `}
    <//>
  </nav>`;
}

/** Who made a version, if an entry of the history that is at hand says so. @param {any} entries @param {number} version */
function makerOf(entries, version) {
  const made = (/** @type {any} */ each) => each.type === "SCHEMA" && each.version === version && !each.gone;
  return Array.isArray(entries) ? entries.find((each) => each.about?.some(made)) : undefined;
}

/** @param {{subject: string, version: number, before: number, entries: any, named: Named}} given before: the version before it; 0 without one. entries: of the history, as far as it is known */
function Version({ subject, version, before, entries, named }) {
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
            ${found.ts && html`<div><dt>Registered</dt><dd><${Time} at=${found.ts} />${maker && html` by <${Author} of=${named(maker)} />`}</dd></div>`}
            <div><dt>GUID</dt><dd><${Link} to=${`guids/${segment(found.guid)}`} class="code">${found.guid}<//></dd></div>
            ${found.deleted && html`<div><dt>State</dt><dd><span class="tag">soft-deleted</span></dd></div>`}
          </dl>
          ${before > 0 &&
          html`<p><${Link} to=${`subjects/${segment(subject)}/diff/${before}/${version}`}>What has changed since version ${before}<//></p>`}
          <${VersionChanges} subject=${subject} version=${version} record=${found} />
          <${SchemaText} text=${found.schema} type=${type} label=${`Text of version ${version}`} />
          <${Fields} subject=${subject} version=${version} />
          <${References} references=${found.references ?? []} context=${context} />
          <h3>Referred to by</h3>
          <${Later} label="Show references">${() => html`<${Referrers} subject=${subject} version=${version} />`}<//>
          <${Later} label="Show all references" heading=${html`<h3>All references</h3>`}>${() => html`<${Picture} key=${`${subject} ${version}`} subject=${subject} version=${version} />`}<//>
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
  const path = useReferrersPath(subject, version);
  return path && html`<${Listed} path=${path}>
    ${(/** @type {import("../referrers.js").Referrer[]} */ found) => (found.length ? html`<${ReferrerNames} found=${found} />` : html`<p class="hint">No schema refers to it.</p>`)}
  <//>`;
}

/** So many versions are drawn at once. */
const DRAWN = 500;
/** So many one call tells for 20 read units, in two trips, and of so many ends. */
const STEP = 14;
const ENDS = 5;
/** So many are added with each *Show more*, as far as there are others. */
const ADDED = 10;

/** @typedef {import("../graph.js").Graph} Graph */

/** @param {{subject: string, version: number}} given */
function Picture({ subject, version }) {
  const isPaid = useIsPaid();
  const path = `console/api/graph${query({ subject, version, limit: isPaid ? STEP : DRAWN, step: isPaid })}`;
  return html`<${Asked} path=${path}>
    ${(/** @type {Graph} */ first) =>
      !first.edges.length && !first.more
        ? isPaid && html`<h3>All references</h3><p class="hint">There are none.</p>`
        : html`<h3>All references</h3><${Growing} key=${JSON.stringify(first)} path=${path} first=${first} />`}
  <//>`;
}

/** @param {{path: string, first: Graph}} given */
function Growing({ path, first }) {
  const begun = { graph: first, ends: first.ends ?? [], known: first.ends ?? [] };
  const { now, failure, isBusy, goOn } = useGoingOn(
    begun,
    async ({ graph, ends, known }, signal) => {
      const at = ends.slice(0, ENDS).map((each) => `&at=${encodeURIComponent(each)}`);
      /** @type {Graph} */
      const part = await ask(path + at.join(""), signal);
      // A version that is met again has its ends again.
      const found = (part.ends ?? []).filter((each) => !known.includes(each));
      const left = [...ends.slice(ENDS), ...found];
      return { graph: { ...graph, ...joined(graph, part), more: left.length > 0 }, ends: left, known: [...known, ...found] };
    },
    (after, before) => !after.graph.more || after.graph.nodes.length >= before.graph.nodes.length + ADDED,
  );
  const { graph, ends } = now;
  return html`
    <${GraphPicture} key=${graph.nodes.length} graph=${graph} label="References from left to right" />
    ${graph.more && html`<p class="hint">This is a part, of ${graph.nodes.length} versions: there may be others that they refer to, or that refer to them.</p>`}
    ${failure && html`<p class="bad-text" role="alert">${failure}</p>`}
    ${ends.length > 0 && html`<p><button class="quiet" disabled=${isBusy} onClick=${goOn}>Show more</button></p>`}
  `;
}

/** @param {{title: string, value: object}} given */
function Beside({ title, value }) {
  return html`<h3>${title}</h3><${SchemaText} text=${JSON.stringify(value)} type="JSON" label=${title} isOurs />`;
}

// --- history -----------------------------------------------------------------------------------------------------

/** @typedef {ReturnType<typeof useNames>["named"]} Named */

/** @param {{asked: import("../registry.js").Asked, named: Named, moreNames: any, limit: number, more: () => void}} given moreNames: how to look for others */
function History({ asked, named, moreNames, limit, more }) {
  return html`<section aria-labelledby="history">
    <h2 id="history">History</h2>
    <${Answer} asked=${asked}>
      ${(/** @type {any[]} */ found) =>
        found.length
          ? html`<${Entries} entries=${found.slice(0, limit).map(named)} label="History" />
              ${moreNames}
              ${found.length > limit && html`<button class="quiet" onClick=${more}>Show earlier entries</button>`}`
          : html`<p class="hint">Nothing was told of it since this registry keeps histories.</p>`}
    <//>
  </section>`;
}
