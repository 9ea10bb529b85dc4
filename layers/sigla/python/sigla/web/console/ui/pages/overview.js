/** What this registry is, and where to go from here. */

import { html } from "../vendor/preact.js";
import { Entries } from "../entries.js";
import { Answer, Asked, follow, Heading, Link, Name, Waiting } from "../parts.js";
import { askCounters, segment, useAsked, useCaller } from "../registry.js";
import { inForcePath } from "../scope_settings.js";

const SHOWN = 10;
const CHANGES = 5;
const MOST_COUNTED = 100;

/** @typedef {import("../scope_settings.js").Applying} Applying */

export default function Overview() {
  const caller = useCaller();
  const inForce = useAsked(inForcePath(""));
  const hasLog = caller?.has.includes("log") && caller.may.includes("admin") && caller.everything;
  const search = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    const said = new FormData(/** @type {HTMLFormElement} */ (event.target));
    follow(`ids/default/${encodeURIComponent(String(said.get("id")).trim())}`);
  };
  return html`
    <${Heading} title="Overview" />
    <div class="cards">
      <section aria-labelledby="level">
        <h2 id="level">Compatibility</h2>
        <${Answer} asked=${inForce}>${(/** @type {Applying} */ { config }) => html`<p class="fact">${config.compatibilityLevel}</p>`}<//>
        <p class="hint">of the default context, where a subject sets nothing of its own. <${Link} to="settings">Settings<//></p>
      </section>
      <section aria-labelledby="mode">
        <h2 id="mode">Mode</h2>
        <${Answer} asked=${inForce}>${(/** @type {Applying} */ { mode }) => html`<p class="fact">${mode}</p>`}<//>
        <p class="hint">of the default context.</p>
      </section>
      ${caller?.has.includes("counters") && html`<${Registered} />`}
      <section aria-labelledby="contexts">
        <h2 id="contexts">Contexts</h2>
        <${Asked} path=${`console/api/contexts?limit=${MOST_COUNTED}`}>
          ${(/** @type {import("../lists.js").Part} */ { found, after }) => html`<p class="fact">${after ? "more than " : ""}${found.length}</p>`}
        <//>
        <p class="hint"><${Link} to="contexts">All contexts<//></p>
      </section>
      <${IfAny} path="console/api/associations?limit=1" to="associations" title="Associations">Topics that say which subject is theirs.<//>
      <${IfAny} path="console/api/keks?limit=1" to="encryption" title="Encryption">Keys for fields that are encrypted.<//>
      <section aria-labelledby="id">
        <h2 id="id">What does an id mean?</h2>
        <form class="row" onSubmit=${search}>
          <input name="id" required inputmode="numeric" pattern="\\s*[0-9]{1,10}\\s*" aria-label="An id of the default context" placeholder="An id, as 42" />
          <button>Show</button>
        </form>
        <p class="hint">of the default context; those of others are on their subjects' pages.</p>
      </section>
    </div>
    ${hasLog &&
    html`<section aria-labelledby="changes">
      <h2 id="changes">Recent changes</h2>
      <${Asked} path=${`console/api/log?limit=${CHANGES}`}>
        ${(/** @type {any[]} */ found) => (found.length ? html`<${Entries} entries=${found} label="Recent changes" hasSubjects /><p><${Link} to="log">All changes<//></p>` : html`<p>Nothing was changed yet.</p>`)}
      <//>
    </section>`}
    <section aria-labelledby="subjects">
      <h2 id="subjects">Subjects</h2>
      <${Asked} path=${`console/api/subjects?names=true&limit=${SHOWN}`}>
        ${(/** @type {{subject: string}[]} */ found) =>
          found.length
            ? html`<ul class="names">
                  ${found.map(({ subject }) => html`<li><${Link} to=${`subjects/${segment(subject)}`}><${Name} subject=${subject} /><//></li>`)}
                </ul>
                ${found.length === SHOWN && html`<p><${Link} to="subjects">All subjects<//></p>`}`
            : html`<p>Nothing is registered yet.</p>`}
      <//>
    </section>
    <${Asked} path="v1/metadata/version">
      ${(/** @type {any} */ found) => html`<p class="hint">Sigla, which speaks version ${found.version} of Confluent's API.</p>`}
    <//>
  `;
}

/** How many schemas there are, as the server counts them for Prometheus. */
function Registered() {
  const asked = useAsked("metrics", undefined, askCounters);
  return html`<section aria-labelledby="registered">
    <h2 id="registered">Schemas</h2>
    <${Answer} asked=${asked}>
      ${(/** @type {string} */ found) => html`<p class="fact">${/^kafka_schema_registry_registered_count (\d+)/m.exec(found)?.[1] ?? "not told"}</p>`}
    <//>
    <p class="hint">in all subjects and contexts. <${Link} to="counters">What is counted<//></p>
  </section>`;
}

/** A card for what not every registry has; where that cannot be known, it says so. @param {{path: string, to: string, title: string, children?: any}} given */
function IfAny({ path, to, title, children }) {
  const asked = useAsked(path);
  if (!asked.failure && !asked.value?.found.length) return asked.value ? null : html`<${Waiting} isSlow=${asked.isSlow} />`;
  return html`<section aria-labelledby=${to}>
    <h2 id=${to}>${title}</h2>
    <${Answer} asked=${asked}>${() => html`<p>${children}</p><p class="hint"><${Link} to=${to}>All of them<//></p>`}<//>
  </section>`;
}
