/** Subjects: found by a part of their names, their context and their type, page by page. */

import { html } from "../vendor/preact.js";
import { Asked, counted, follow, Heading, Link, Pager, split, Table, useGoingOn } from "../parts.js";
import { ask, contextSegment, query, segment, useCaller } from "../registry.js";

/** Of so many the newest versions are read for 20 read units of DynamoDB. */
const PER_PAGE = 20;
const TYPES = ["", "AVRO", "JSON", "PROTOBUF"];

/** @typedef {{subject: string, version: number, id: number, schemaType: string, deleted: boolean}} FoundSubject */

/** @typedef {{q: string, context: string, type: string, deleted: boolean, offset: number, after: string}} Wanted */

/** @param {{query: URLSearchParams}} given */
export default function Subjects({ query: said }) {
  const wanted = {
    q: said.get("q") ?? "",
    context: said.get("context") ?? "",
    type: TYPES.includes(said.get("type") ?? "") ? said.get("type") ?? "" : "",
    deleted: said.get("deleted") === "true",
    offset: Math.max(0, Number(said.get("offset")) || 0),
    after: said.get("after") ?? "",
  };
  const asked = query({
    contains: wanted.q,
    type: wanted.type,
    deleted: wanted.deleted,
    offset: wanted.after ? 0 : wanted.offset,
    after: wanted.after,
    limit: PER_PAGE + 1,
  });
  const scope = wanted.context === "." ? "" : `:${wanted.context || "*"}:`;
  const isSearch = wanted.q || wanted.type || wanted.deleted || wanted.context;
  return html`
    <${Heading} title="Subjects"><${NewSubject} /><//>
    <${Filter} key=${to(wanted, 0)} wanted=${wanted} />
    ${isSearch
      ? html`<${Search} path=${`console/api/search?${new URLSearchParams({ contains: wanted.q, type: wanted.type, deleted: String(wanted.deleted), subjectPrefix: scope })}`} />`
      : html`<${Asked} path=${`console/api/subjects${asked}&subjectPrefix=${encodeURIComponent(scope)}`}>
          ${(/** @type {FoundSubject[]} */ found) => html`<${Found} found=${found} wanted=${wanted} />`}
        <//>`}
  `;
}

/** @typedef {{found: FoundSubject[], searched: number, through?: string}} Looked */

/** What a search has found so far. It goes on where the list is not searched to its end. @param {{path: string}} given */
function Search({ path }) {
  return html`<${Asked} key=${path} path=${path}>
    ${(/** @type {Looked} */ first) => html`<${Further} key=${JSON.stringify(first)} path=${path} first=${first} />`}
  <//>`;
}

/** @param {{path: string, first: Looked}} given */
function Further({ path, first }) {
  const { now: looked, failure, isBusy, goOn, stop } = useGoingOn(
    first,
    async ({ found, searched, through }, signal) => {
      /** @type {Looked} */
      const more = await ask(`${path}&after=${encodeURIComponent(through ?? "")}`, signal);
      return { found: [...found, ...more.found], searched: searched + more.searched, through: more.through };
    },
    (now, before) => !now.through || now.found.length > before.found.length,
  );
  return html`
    ${looked.found.length > 0 && html`<${Rows} found=${looked.found} />`}
    <p role="status">${outcome(looked)}</p>
    ${failure && html`<p class="bad-text" role="alert">${failure}</p>`}
    ${looked.through &&
    html`<p>${isBusy ? html`<button class="quiet" onClick=${stop}>Stop</button>` : html`<button onClick=${goOn}>Search on</button>`}</p>`}
  `;
}

/** @param {Looked} looked */
function outcome({ found, searched, through }) {
  if (!through) return found.length ? `${counted(found.length, "subject")} found.` : "No subject matches.";
  return `${found.length ? `${counted(found.length, "subject")} found` : "Nothing found"} so far, in ${counted(searched, "name")} up to ${through}.`;
}

function NewSubject() {
  if (!useCaller()?.may.includes("write")) return null;
  return html`<p><${Link} to="edit">New subject<//></p>`;
}

/** @param {Wanted} wanted @param {number} offset @param {string} [after] the subject before, where that is known */
function to(wanted, offset, after) {
  return `subjects${query({ ...wanted, offset, after })}`;
}

/** @param {{wanted: Wanted}} given */
function Filter({ wanted }) {
  const search = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    const said = new FormData(/** @type {HTMLFormElement} */ (event.currentTarget));
    const q = String(said.get("q") ?? "");
    const type = String(said.get("type") ?? "");
    follow(to({ q, context: wanted.context, type, deleted: said.get("deleted") === "on", offset: 0, after: "" }, 0));
  };
  return html`<form class="filter" onSubmit=${search}>
    <label>Part of the name <input name="q" type="search" defaultValue=${wanted.q} autocomplete="off" spellcheck="false" /></label>
    <label>Type
      <select name="type">
        ${TYPES.map((each) => html`<option value=${each} selected=${each === wanted.type}>${each || "any"}</option>`)}
      </select>
    </label>
    <label class="check"><input name="deleted" type="checkbox" defaultChecked=${wanted.deleted} /> Soft-deleted ones too</label>
    <button>Show</button>
    ${wanted.context &&
    html`<p class="hint">
      in the context <span class="context">${wanted.context === "." ? "default" : wanted.context}</span>
      ${" "}<${Link} to=${to({ ...wanted, context: "" }, 0)}>All contexts<//>
    </p>`}
  </form>`;
}

/** @param {{found: FoundSubject[], wanted: Wanted}} given */
function Found({ found, wanted }) {
  const shown = found.slice(0, PER_PAGE);
  if (!shown.length) {
    return html`<p>${to(wanted, 0) === "subjects" ? "Nothing is registered yet." : "No subject matches."}</p>`;
  }
  return html`
    <${Rows} found=${shown} />
    <${Pager} at=${wanted.offset} per=${PER_PAGE} shown=${shown.length} hasMore=${found.length > PER_PAGE}
      to=${(/** @type {number} */ offset) => to(wanted, offset, offset > wanted.offset ? shown.at(-1)?.subject : undefined)} />
  `;
}

/** @param {{found: FoundSubject[]}} given */
function Rows({ found }) {
  return html`<${Table} label="Subjects" head=${["Subject", "Context", "Type", "Version", "Id"]}>
    ${found.map((each) => html`<${Row} key=${each.subject} found=${each} />`)}
  <//>`;
}

/** @param {{found: FoundSubject}} given */
function Row({ found: { subject, version, id, schemaType, deleted } }) {
  const { context, name } = split(subject);
  return html`<tr>
    <th scope="row">
      <${Link} to=${`subjects/${segment(subject)}`}>${name}<//>${deleted && html` <span class="tag">soft-deleted</span>`}
    </th>
    <td>${context === "." ? html`<span class="hint">default</span>` : context}</td>
    <td>${schemaType}</td>
    <td>${version}</td>
    <td><${Link} to=${`ids/${contextSegment(context)}/${id}`}>${id}<//></td>
  </tr>`;
}
