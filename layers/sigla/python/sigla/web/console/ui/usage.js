/** Usage: who still reads the versions of a subject by their ids, and on which day last. */

import { html } from "./vendor/preact.js";
import { Asked, Author, Command, counted, Later, Link, Name, quoted, Sentence, Table, WhyTokens } from "./parts.js";
import { Going } from "./lists.js";
import { useNames } from "./names.js";
import { segment, useIsPaid } from "./registry.js";

/** @typedef {{day: string, by: string, name?: string, subject?: string}} Read */
/** @typedef {{version: number, id: number, deleted: boolean, reads: Read[], more?: boolean}} ReadVersion more: others have read it */
/** @typedef {{subject: string, since?: string, found: ReadVersion[], after?: string, limits: string[]}} Usage */

/** So many versions cost some 10 read units of DynamoDB. */
const PAID = 10;
const MOST = 100;

/** @param {{subject: string}} given */
export function UsageOf({ subject }) {
  return html`<section aria-labelledby="usage">
    <h2 id="usage">Usage</h2>
    <${Later} label="Show usage">${() => html`<${Parts} subject=${subject} />`}<//>
  </section>`;
}

/** @param {{subject: string}} given */
function Parts({ subject }) {
  const path = `console/api/subjects/${segment(subject)}/usage?${useIsPaid() ? `tokens=true&limit=${PAID}` : `limit=${MOST}`}`;
  return html`<${Asked} key=${path} path=${path}>
    ${(/** @type {Usage} */ usage) => html`
      <${Going} key=${JSON.stringify(usage)} path=${path} first=${usage}>
        ${(/** @type {ReadVersion[]} */ found, /** @type {boolean} */ hasMore) => html`<${Reads} subject=${usage.subject} since=${usage.since} found=${found} hasMore=${hasMore} />`}
      <//>
      <details><summary>What this does not say</summary><ul>${usage.limits.map((each) => html`<li><${Sentence} text=${each} /></li>`)}</ul></details>
    `}
  <//>`;
}

/** @param {{subject: string, since?: string, found: ReadVersion[], hasMore: boolean}} given */
function Reads({ subject, since, found, hasMore }) {
  const reads = found.flatMap((each) => each.reads);
  const { named, more } = useNames(reads);
  const what = hasMore ? `the newest ${counted(found.length, "version")} by their ids` : "it by its ids";
  if (!reads.length) return html`<p>${since ? `Nobody has read ${what} since ${since}.` : "No reads were counted yet."}</p>`;
  return html`<${Table} label="Reads" head=${["Version", "Last read", "By", "For"]}>
      ${found.map((each) => {
        const version = html`<th scope="row"><${Link} to=${`subjects/${segment(subject)}/versions/${each.version}`}>Version ${each.version}<//></th>`;
        if (!each.reads.length) return html`<tr>${version}<td colspan="3">nobody since ${since}</td></tr>`;
        return html`${each.reads.map((one) => html`<tr>
          ${version}
          <td>${one.day}</td>
          <td><${Author} of=${named(one)} /></td>
          <td>${one.subject ? html`<${Name} subject=${one.subject} />` : ""}</td>
        </tr>`)}
        ${each.more && html`<tr>${version}<td colspan="3">and others, later ones perhaps among them: <${Command} text=${`sigla usage --subject ${quoted(subject)}`} /> tells all</td></tr>`}`;
      })}
    <//>
    <${WhyTokens} of=${reads.map(named)} />${more}`;
}
