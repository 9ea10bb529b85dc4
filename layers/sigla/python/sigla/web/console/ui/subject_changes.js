/** What can be done to a version or to a whole subject: deleted, restored, deleted for good. */

import { html, useState } from "./vendor/preact.js";
import { Answer, Asked, counted, follow, Link, split, tellDone } from "./parts.js";
import { ask, change, query, segment, useAsked, useCaller } from "./registry.js";
import { Change } from "./changes.js";
import { ReferrerNames } from "./referrers.js";
import { Happens, ReadBy, useStakesPath } from "./stakes.js";

/** @typedef {import("./stakes.js").Stakes} Stakes */

/** Of those that have an id so many are looked at: enough to say whether another subject is among them. */
const HOLDERS = 2;

/** @param {string} subject @param {number} version */
function placeOf(subject, version) {
  return `subjects/${segment(subject)}/versions/${version}`;
}

/** What a registration sends that brings a version back. @param {any} record */
function sent({ schema, schemaType, references, metadata, ruleSet }) {
  return { schema, schemaType, references, metadata, ruleSet };
}

/** Registers again what versions were, oldest first. @param {string} subject @param {number[]} versions */
async function restore(subject, versions) {
  const made = [];
  for (const version of versions) {
    const record = await ask(`${placeOf(subject, version)}?deleted=true`);
    made.push(await change("POST", `subjects/${segment(subject)}/versions`, sent(record)));
  }
  return made;
}

/** @param {{subject: string, version: number, record: any}} given */
export function VersionChanges({ subject, version, record }) {
  const may = useCaller()?.may ?? [];
  if (record.deleted) {
    return html`<div class="actions">
      ${may.includes("write") && html`<${Restore} subject=${subject} version=${version} record=${record} />`}
      ${may.includes("admin") && html`<${Purge} subject=${subject} version=${version} record=${record} />`}
    </div>`;
  }
  if (!may.includes("delete")) return null;
  const run = async () => {
    await change("DELETE", placeOf(subject, version));
    follow(placeOf(subject, version));
    const undo = { label: `Restore version ${version}`, run: () => restore(subject, [version]) };
    return { text: `Version ${version} of ${split(subject).name} is soft-deleted.`, undo: may.includes("write") ? undo : undefined };
  };
  return html`<div class="actions">
    <${Guarded} label=${`Delete version ${version}`} title=${`Delete version ${version} of ${split(subject).name}?`} does="Delete" run=${run} isGrave
      subject=${subject} version=${version} isOwnToo>
      ${(/** @type {Stakes} */ stakes) => html`
        <${Stays} stakes=${stakes} version=${version} />
        <p>Its id ${record.id} goes on meaning the same, so data in Kafka can still be read. It can be restored: then it gets a new number and keeps its id.</p>
        <${ReadBy} stakes=${stakes} isOne />
      `}
    <//>
  </div>`;
}

/** What of a subject is left without one of its versions. @param {{stakes: Stakes, version: number}} given */
function Stays({ stakes: { versions, latest }, version }) {
  // The latest one may be further down than was looked.
  const stay = versions.active || (latest && latest !== version ? 1 : 0);
  if (stay) return html`<p>${versions.more && "At least "}${counted(stay, "version")} of the subject ${stay === 1 ? "stays" : "stay"}.</p>`;
  if (versions.more) return html`<p>Of the newest ${counted(versions.stored, "version")} no other one is left. Without any the subject is soft-deleted, too.</p>`;
  return html`<p>It is the only one that is left: the subject is soft-deleted with it.</p>`;
}

/** @param {{subject: string, isDeleted: boolean}} given isDeleted: all of its versions are */
export function SubjectChanges({ subject, isDeleted }) {
  const may = useCaller()?.may ?? [];
  const { name } = split(subject);
  const stakesPath = useStakesPath(subject);
  const runDelete = async () => {
    const gone = await change("DELETE", `subjects/${segment(subject)}`);
    follow(`subjects/${segment(subject)}`);
    const undo = { label: `Restore ${counted(gone.length, "version")}`, run: () => restore(subject, gone) };
    return { text: `${name} is soft-deleted, with ${counted(gone.length, "version")}.`, undo: may.includes("write") ? undo : undefined };
  };
  const runRestore = async () => {
    const made = await restore(subject, await ask(`subjects/${segment(subject)}/versions?deleted=true`));
    follow(`subjects/${segment(subject)}`);
    return { text: `${counted(made.length, "version")} of ${name} ${made.length === 1 ? "is" : "are"} registered again.` };
  };
  const runPurge = async () => {
    const gone = await change("DELETE", `subjects/${segment(subject)}?permanent=true`);
    follow("subjects");
    return { text: `${name} is gone for good, with ${counted(gone.length, "version")}.` };
  };
  return html`<div class="actions">
    ${may.includes("write") && html`<${Link} to=${`subjects/${segment(subject)}/edit`} class="as-button">New version<//>`}
    ${!isDeleted && may.includes("delete") &&
    html`<${Guarded} label="Delete subject" title=${`Delete ${name}?`} does="Delete" run=${runDelete} subject=${subject} isGrave>
      ${(/** @type {Stakes} */ stakes) => html`
        <${Happens} count=${stakes.versions.active} highest=${stakes.latest} hasMore=${stakes.versions.more} one="will be soft-deleted" many="will be soft-deleted" />
        <p>Ids go on meaning the same, so data in Kafka can still be read. What is deleted can be restored: it gets new numbers and keeps its ids.</p>
        <${ReadBy} stakes=${stakes} />
      `}
    <//>`}
    ${isDeleted && may.includes("write") &&
    html`<${Change} label="Restore subject" title=${`Restore ${name}?`} does="Restore" run=${runRestore}>
      <${Asked} path=${stakesPath}>
        ${(/** @type {Stakes} */ { versions: { stored, highest, more } }) => html`
          <${Happens} count=${stored} highest=${highest} hasMore=${more} one="will be registered again" many="will be registered again, oldest first" />
          <p>${stored === 1 ? "It keeps its id and gets a new number." : "They keep their ids and get new numbers."}</p>
        `}
      <//>
    <//>`}
    ${isDeleted && may.includes("admin") &&
    html`<${Guarded} label="Delete subject for good" title=${`Delete ${name} for good?`} does="Delete for good" run=${runPurge} subject=${subject} isDeletedToo isGrave>
      ${(/** @type {Stakes} */ stakes) => html`
        <${Happens} count=${stakes.versions.stored} highest=${stakes.versions.highest} hasMore=${stakes.versions.more} one="goes, with the subject's own config and mode" many="go, with the subject's own config and mode" />
        <p>This cannot be undone. An id that no other subject has means nothing from then on: data in Kafka with it cannot be read any more.</p>
        <${ReadBy} stakes=${stakes} />
      `}
    <//>`}
  </div>`;
}

/** @param {{subject: string, version: number, record: any}} given */
function Restore({ subject, version, record }) {
  const { name } = split(subject);
  const run = async () => {
    const [made] = await restore(subject, [version]);
    follow(placeOf(subject, made.version));
    return { text: `It is version ${made.version} of ${name} now, with the id ${made.id}.` };
  };
  return html`<${Change} label=${`Restore version ${version}`} title=${`Restore version ${version} of ${name}?`} does="Restore" run=${run}>
    <${Asked} path=${`console/api/subjects/${segment(subject)}/verdict`} body=${sent(record)}>
      ${(/** @type {any} */ found) =>
        found.accepted
          ? html`<p>It becomes version ${found.version}, the latest one, and keeps its id ${found.id ?? record.id}.</p>`
          : html`<p class="bad-text">The registry will refuse it: ${found.problems.map((/** @type {any} */ each) => each.message).join(" ")}</p>`}
    <//>
  <//>`;
}

/** @param {{subject: string, version: number, record: any}} given */
function Purge({ subject, version, record }) {
  const { name, context } = split(subject);
  const run = async () => {
    await change("DELETE", `${placeOf(subject, version)}?permanent=true`);
    follow("subjects?deleted=true");
    tellDone({ text: `Version ${version} of ${name} is gone for good.` });
  };
  return html`<${Guarded} label=${`Delete version ${version} for good`} title=${`Delete version ${version} of ${name} for good?`} does="Delete for good" run=${run}
    subject=${subject} version=${version} isOwnToo isDeletedToo isGrave>
    ${(/** @type {Stakes} */ stakes) => html`
      <p>This cannot be undone.</p>
      <${ReadBy} stakes=${stakes} isOne />
      <${Asked} path=${`console/api/ids/${record.id}${query({ limit: HOLDERS, subject: context === "." ? "" : `:${context}:` })}`}>
        ${(/** @type {{found: any[], after?: string}} */ { found, after }) => {
          const others = found.filter((each) => each.subject !== record.subject);
          return others.length
            ? html`<p>Its id ${record.id} goes on meaning the same: ${after && "at least "}${counted(others.length, "other subject")} ${others.length === 1 ? "has" : "have"} it.</p>`
            : html`<p>No other subject has its id ${record.id}: data in Kafka with it cannot be read any more.</p>`;
        }}
      <//>
    `}
  <//>`;
}

/**
 * A delete, which the registry refuses while others refer to what would go.
 *
 * @param {{label: string, title: string, does: string, run: () => Promise<any>, subject: string, version?: number, children: (stakes: Stakes) => any, isGrave?: boolean, isOwnToo?: boolean, isDeletedToo?: boolean}} given
 *   version: without it, all of them. children: a function of what hangs on it. isOwnToo, isDeletedToo: which referrers count
 */
function Guarded({ label, title, does, run, subject, version, children, isGrave, isOwnToo, isDeletedToo }) {
  const [isOpen, setOpen] = useState(false);
  const path = useStakesPath(subject, version);
  const asked = useAsked(isOpen ? path : "");
  const found = asked.value && counting(asked.value.referrers.found, (each) => (isOwnToo || each.subject !== asked.value.subject) && (isDeletedToo || !each.deleted));
  return html`<${Change} label=${label} title=${title} does=${does} run=${run} isGrave=${isGrave} whenOpen=${setOpen}
    may=${Boolean(asked.failure) || found?.length === 0}>
    <${Answer} asked=${asked}>
      ${(/** @type {Stakes} */ stakes) => html`
        ${children(stakes)}
        <${Referrers} found=${found} hasMore=${stakes.referrers.more} />
      `}
    <//>
  <//>`;
}

/** Each version that counts, once: it may refer to several. @param {import("./referrers.js").Referrer[]} found @param {(each: import("./referrers.js").Referrer) => boolean} counts */
function counting(found, counts) {
  return [...new Map(found.filter(counts).map((each) => [`${each.version} ${each.subject}`, each])).values()];
}

/** @param {{found: import("./referrers.js").Referrer[], hasMore: boolean}} given */
function Referrers({ found, hasMore }) {
  const subjects = new Set(found.map((each) => each.subject));
  if (!found.length) return html`<p>${hasMore ? "Others may refer to it, more than are looked at here: then the registry refuses." : "No other schema refers to it."}</p>`;
  return html`<p class="bad-text">
      ${hasMore ? "At least " : ""}${counted(subjects.size, "subject")} ${subjects.size === 1 ? "refers" : "refer"} to it, with ${counted(found.length, "version")}. It cannot be deleted until they are gone.
    </p>
    <${ReferrerNames} found=${found} />`;
}
