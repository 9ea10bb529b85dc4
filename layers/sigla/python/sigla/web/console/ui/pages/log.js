/** The log: every change of the registry, who asked for it and when. */

import { html } from "../vendor/preact.js";
import { Asked, follow, Heading, Pager } from "../parts.js";
import { query } from "../registry.js";
import { Entries } from "../entries.js";

const PER_PAGE = 50;
const ELSEWHERE = html`<p>In AWS no function may read the whole log: <code>sigla log</code> tells it, and the page of a subject tells its history.</p>`;

/** @param {{query: URLSearchParams}} given */
export default function LogPage({ query: said }) {
  const subject = said.get("subject") ?? "";
  const offset = Math.max(0, Number(said.get("offset")) || 0);
  const to = (/** @type {number} */ at) => `log${query({ subject, offset: at })}`;
  const search = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    const given = new FormData(/** @type {HTMLFormElement} */ (event.currentTarget));
    follow(`log${query({ subject: String(given.get("subject")).trim() })}`);
  };
  return html`
    <${Heading} title="Log" />
    <p class="lead">Every change of the registry, the newest first. The whole log, and whether nothing of it is missing, is told by <span class="code">sigla log</span>.</p>
    <form class="filter" key=${subject} onSubmit=${search}>
      <label>Of one subject <input name="subject" type="search" defaultValue=${subject} autocomplete="off" spellcheck="false" /></label>
      <button>Show</button>
    </form>
    <${Asked} path=${`console/api/log${query({ subject, offset, limit: PER_PAGE + 1 })}`} absent=${ELSEWHERE}>
      ${(/** @type {any[]} */ found) =>
        found.length
          ? html`<${Entries} entries=${found.slice(0, PER_PAGE)} label="Log" hasSubjects />
              <${Pager} at=${offset} per=${PER_PAGE} shown=${Math.min(found.length, PER_PAGE)} hasMore=${found.length > PER_PAGE} to=${to} />`
          : html`<p>${subject ? "Nothing was changed of it." : "Nothing was changed yet."}</p>`}
    <//>
  `;
}
