/** Subjects: found by how their names begin, page by page. */

import { html } from "../vendor/preact.js";
import { Asked, follow, Heading, Link, Pager, split } from "../parts.js";
import { query, segment } from "../registry.js";

const PER_PAGE = 50;

/** @typedef {{q: string, context: string, deleted: boolean, offset: number}} Wanted */

/** @param {{query: URLSearchParams}} given */
export default function Subjects({ query: said }) {
  const wanted = {
    q: said.get("q") ?? "",
    context: said.get("context") ?? "",
    deleted: said.get("deleted") === "true",
    offset: Math.max(0, Number(said.get("offset")) || 0),
  };
  const prefix = wanted.q.startsWith(":") ? wanted.q : `${wanted.context === "." ? "" : `:${wanted.context || "*"}:`}${wanted.q}`;
  const asked = query({ deleted: wanted.deleted, offset: wanted.offset, limit: PER_PAGE + 1 });
  return html`
    <${Heading} title="Subjects" />
    <${Filter} key=${to(wanted, 0)} wanted=${wanted} />
    <${Asked} path=${`subjects${asked}&subjectPrefix=${encodeURIComponent(prefix)}`}>
      ${(/** @type {string[]} */ found) => html`<${Found} found=${found} wanted=${wanted} />`}
    <//>
  `;
}

/** @param {Wanted} wanted @param {number} offset */
function to(wanted, offset) {
  return `subjects${query({ ...wanted, offset })}`;
}

/** @param {{wanted: Wanted}} given */
function Filter({ wanted }) {
  const search = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    const said = new FormData(/** @type {HTMLFormElement} */ (event.currentTarget));
    const q = String(said.get("q") ?? "");
    follow(to({ q, context: wanted.context, deleted: said.get("deleted") === "on", offset: 0 }, 0));
  };
  return html`<form class="filter" onSubmit=${search}>
    <label>Name begins with <input name="q" type="search" value=${wanted.q} autocomplete="off" spellcheck="false" /></label>
    <label class="check"><input name="deleted" type="checkbox" checked=${wanted.deleted} /> Soft-deleted ones too</label>
    <button>Show</button>
    ${wanted.context &&
    html`<p class="hint">
      in the context <span class="context">${wanted.context === "." ? "default" : wanted.context}</span>
      ${" "}<${Link} to=${to({ ...wanted, context: "" }, 0)}>All contexts<//>
    </p>`}
  </form>`;
}

/** @param {{found: string[], wanted: Wanted}} given */
function Found({ found, wanted }) {
  const shown = found.slice(0, PER_PAGE);
  if (!shown.length) {
    return html`<p>${wanted.q || wanted.context ? "No subject begins so." : "Nothing is registered yet."}</p>`;
  }
  return html`
    <div class="scroll" tabindex="0" role="region" aria-label="Subjects">
      <table>
        <thead>
          <tr><th scope="col">Subject</th><th scope="col">Context</th></tr>
        </thead>
        <tbody>
          ${shown.map((subject) => html`<${Row} key=${subject} subject=${subject} />`)}
        </tbody>
      </table>
    </div>
    <${Pager} at=${wanted.offset} per=${PER_PAGE} shown=${shown.length} hasMore=${found.length > PER_PAGE}
      to=${(/** @type {number} */ offset) => to(wanted, offset)} />
  `;
}

/** @param {{subject: string}} given */
function Row({ subject }) {
  const { context, name } = split(subject);
  return html`<tr>
    <th scope="row"><${Link} to=${`subjects/${segment(subject)}`}>${name}<//></th>
    <td>${context === "." ? html`<span class="hint">default</span>` : context}</td>
  </tr>`;
}
