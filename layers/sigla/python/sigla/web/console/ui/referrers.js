/** Which versions refer to a subject, as lists tell them. */

import { html } from "./vendor/preact.js";
import { Link, Name } from "./parts.js";
import { query, segment, useIsPaid } from "./registry.js";

/** So many cost 20 read units of DynamoDB. */
const PAID = 14;
const MOST = 100;

/** @typedef {{subject: string, version: number, id: number, deleted: boolean, referenced: number}} Referrer */

/** Where those are told that refer to a subject; undefined until it is known what that costs. @param {string} subject @param {number} [version] this one alone */
export function useReferrersPath(subject, version) {
  const isPaid = useIsPaid();
  if (isPaid === undefined) return undefined;
  return `console/api/subjects/${segment(subject)}/referrers${query({ version, limit: isPaid ? PAID : MOST })}`;
}

/** @param {{found: Referrer[]}} given */
export function ReferrerNames({ found }) {
  return html`<ul class="names">
    ${found.map((each) => html`<li><${Link} to=${`subjects/${segment(each.subject)}/versions/${each.version}`}><${Name} subject=${each.subject} /> version ${each.version}<//>${each.deleted && html` <span class="tag">soft-deleted</span>`}</li>`)}
  </ul>`;
}
