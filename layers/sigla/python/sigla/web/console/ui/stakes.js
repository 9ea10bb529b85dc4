/** What hangs on a subject or a version, as a question tells it before that is deleted or restored. */

import { html } from "./vendor/preact.js";
import { counted } from "./parts.js";
import { useNames } from "./names.js";
import { query, segment, useIsPaid } from "./registry.js";

/** @typedef {import("./referrers.js").Referrer} Referrer */
/** @typedef {{stored: number, active: number, highest: number, more: boolean}} Versions counted from the highest on; active: others than the one that was asked for. more: there are others */
/** @typedef {{versions: number, readers: number, more?: boolean, since?: string, last?: {day: string, by: string, name?: string}}} Reads versions: of so many, the highest ones. more: there are other readers, and the last may be among these */
/** @typedef {{subject: string, latest?: number, versions: Versions, referrers: {found: Referrer[], more: boolean}, reads: Reads}} Stakes latest: the highest version that is not soft-deleted */

/** Where that is told. @param {string} subject @param {number} [version] who refers to this one alone, and who reads it */
export function useStakesPath(subject, version) {
  return `console/api/subjects/${segment(subject)}/stakes${query({ version, tokens: useIsPaid() })}`;
}

/** What happens to versions. @param {{count: number, highest?: number, hasMore: boolean, one: string, many: string}} given highest: of those that it happens to. hasMore: there may be others below */
export function Happens({ count, highest, hasMore, one, many }) {
  if (!hasMore) return html`<p>${counted(count, "version")} ${count === 1 ? one : many}.</p>`;
  return html`<p>All versions up to version ${highest}${count > 0 && `, at least ${count} of them,`} ${many}.</p>`;
}

/** Whether anybody still reads what is about to go. @param {{stakes: Stakes, isOne?: boolean}} given isOne: it is a version */
export function ReadBy({ stakes: { versions, reads }, isOne }) {
  const isPart = !isOne && (versions.more || reads.versions < versions.stored);
  const what = isPart ? `the newest ${counted(reads.versions, "version")} by their ids` : "it by its ids";
  const { readers, since, last, more: hasMore } = reads;
  const { named, more } = useNames(last ? [last] : []);
  const name = last && named(last).name;
  if (last) return html`<p class="bad-text">${hasMore && "At least "}${counted(readers, "reader")} asked for ${isPart ? `the ids of the newest ${counted(reads.versions, "version")}` : "its ids"}, ${hasMore ? "one of them" : "last"} on ${last.day}${name ? ` (${name})` : ""}.</p>${more}`;
  if (!since) return html`<p>Whether anybody reads it is not known: no reads were counted.</p>`;
  return html`<p>Nobody has read ${what} since ${since}, when counting began.${isPart && " Older ones were not looked at."}</p>`;
}
