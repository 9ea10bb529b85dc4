/** Usage: who still reads the versions of a subject by their ids, and on which day last. */

import { html } from "./vendor/preact.js";
import { Asked, Author, counted, Later, Link, Name, Sentence, Table, WhyTokens } from "./parts.js";
import { segment } from "./registry.js";

/** @typedef {{day: string, by: string, name?: string, subject?: string}} Read */
/** @typedef {{subject: string, counting: boolean, since?: string, versions: {version: number, id: number, deleted: boolean, reads: Read[]}[], limits: string[]}} Usage */

/** @param {{subject: string}} given */
export function UsageOf({ subject }) {
  return html`<section aria-labelledby="usage">
    <h2 id="usage">Usage</h2>
    <${Later} label="Show usage">${() => html`<${Asked} path=${`subjects/${segment(subject)}/usage`}>
      ${(/** @type {Usage} */ usage) => {
        const isRead = usage.versions.some((each) => each.reads.length);
        return html`
          ${isRead
            ? html`<${Table} label="Reads" head=${["Version", "Last read", "By", "For"]}>
                  ${usage.versions.map((each) => {
                    const version = html`<th scope="row"><${Link} to=${`subjects/${segment(usage.subject)}/versions/${each.version}`}>Version ${each.version}<//></th>`;
                    if (!each.reads.length) return html`<tr>${version}<td colspan="3">nobody since ${usage.since}</td></tr>`;
                    return each.reads.map((one) => html`<tr>
                      ${version}
                      <td>${one.day}</td>
                      <td><${Author} of=${one} /></td>
                      <td>${one.subject ? html`<${Name} subject=${one.subject} />` : ""}</td>
                    </tr>`);
                  })}
                <//>
                <${WhyTokens} of=${usage.versions.flatMap((each) => each.reads)} />`
            : html`<p>${usage.since ? `Nobody has read it by its ids since ${usage.since}.` : "No reads were counted yet."}</p>`}
          <details><summary>What this does not say</summary><ul>${usage.limits.map((each) => html`<li><${Sentence} text=${each} /></li>`)}</ul></details>
        `;
      }}
    <//>`}<//>
  </section>`;
}

/** Whether anybody still reads what is about to go. @param {{subject: string, version?: number}} given without a version: any of them */
export function ReadBy({ subject, version }) {
  return html`<${Asked} path=${`subjects/${segment(subject)}/usage${version ? `?version=${version}` : ""}`}>
    ${(/** @type {Usage} */ { since, versions }) => {
      const reads = versions.flatMap((each) => each.reads).sort((a, b) => (a.day < b.day ? 1 : -1));
      if (!reads.length) return html`<p>${since ? `Nobody has read it by its ids since ${since}, when counting began.` : "Whether anybody reads it is not known: no reads were counted."}</p>`;
      const readers = new Set(reads.map((each) => each.by));
      return html`<p class="bad-text">${counted(readers.size, "reader")} asked for its ids, last on ${reads[0].day}${reads[0].name ? ` (${reads[0].name})` : ""}.</p>`;
    }}
  <//>`;
}
