/** A new version of a subject, or the first one of a new subject: written, judged while it is written, registered. */

import { html, useEffect, useMemo, useRef, useState } from "../vendor/preact.js";
import { counted, follow, Heading, Link, Name, Problem, split, tellDone, Waiting } from "../parts.js";
import { ask, change, draftOf, Failure, GIVEN_UP_MS, keepDraft, query, segment, useAsked, useCaller } from "../registry.js";
import { Change } from "../changes.js";
import { Editor } from "../editor.js";
import { References } from "../references.js";
import { offsetOf, telling } from "../places.js";
import { readable } from "../schema_text.js";
import { fromWhere } from "../scope_settings.js";
import { Findings, FindingsOfStored, Texts } from "./diff.js";

/** @typedef {{name: string, subject: string, version: number}} Reference */
/** @typedef {{text: string, type: string, references: Reference[], normalize: boolean, since: number}} Draft since: the newest version when it was begun; 0 without one */

/** What a new schema begins as. @type {Record<string, string>} */
const BEGINNINGS = {
  AVRO: '{\n  "type": "record",\n  "name": "Order",\n  "namespace": "com.example",\n  "fields": [\n    {"name": "id", "type": "string"}\n  ]\n}\n',
  JSON: '{\n  "$schema": "http://json-schema.org/draft-07/schema#",\n  "title": "Order",\n  "type": "object",\n  "properties": {\n    "id": {"type": "string"}\n  },\n  "required": ["id"],\n  "additionalProperties": false\n}\n',
  PROTOBUF: 'syntax = "proto3";\n\npackage com.example;\n\nmessage Order {\n  string id = 1;\n}\n',
};


/** @param {{params: Record<string, string>, query: URLSearchParams}} given */
export default function EditPage({ params, query: said }) {
  const type = said.get("type") ?? "AVRO";
  if (!params.subject) return html`<${NewSubject} />`;
  return html`<${Edit} subject=${params.subject} type=${type in BEGINNINGS ? type : "AVRO"} />`;
}

function NewSubject() {
  const go = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    const given = new FormData(/** @type {HTMLFormElement} */ (event.currentTarget));
    follow(`subjects/${segment(String(given.get("name")))}/edit?type=${given.get("type")}`);
  };
  return html`
    <${Heading} title="New subject" />
    <form class="stack" onSubmit=${go}>
      <label>Name <input name="name" required autocomplete="off" spellcheck="false" /></label>
      <p class="hint">As a serializer names it: <span class="code">orders-value</span> for the values of the topic <span class="code">orders</span>; in a context <span class="code">:.eu:orders-value</span>.</p>
      <label>Language <select name="type">${Object.keys(BEGINNINGS).map((each) => html`<option value=${each}>${each}</option>`)}</select></label>
      <p><button>Write its schema</button></p>
    </form>
  `;
}

/** @param {{subject: string, type: string}} given */
function Edit({ subject, type }) {
  const latest = useAsked(`subjects/${segment(subject)}/versions/latest`);
  const isNew = latest.failure?.status === 404;
  const { context, name } = split(subject);
  return html`
    <${Heading} title=${isNew ? `New subject ${name}` : `New version of ${name}`}>
      ${isNew
        ? html`<p class="lead">${context === "." ? "in the default context" : html`in the context <span class="context">${context}</span>`}</p>`
        : html`<p class="lead">of <${Link} to=${`subjects/${segment(subject)}`}><${Name} subject=${subject} /><//></p>`}
    <//>
    ${latest.failure && !isNew && html`<${Problem} failure=${latest.failure} again=${latest.again} />`}
    ${latest.value === undefined && !latest.failure
      ? html`<${Waiting} isSlow=${latest.isSlow} />`
      : html`<${Written} key=${latest.value ? "" : type} subject=${subject} latest=${latest.value} lookAgain=${latest.again} type=${type} />`}
  `;
}

/** @param {{subject: string, latest?: any, lookAgain: () => void, type: string}} given latest: the newest version, where there is one. lookAgain: asks for it anew */
function Written({ subject, latest, lookAgain, type }) {
  const [draft, setDraft] = useState(/** @type {Draft} */ (draftOf(subject) ?? begun(latest, type)));
  const judged = useVerdict(subject, draft);
  const editor = useRef(/** @type {HTMLTextAreaElement | undefined} */ (undefined));
  const caller = useCaller();
  const [target, setTarget] = useState(/** @type {import("./diff.js").Target | undefined} */ (undefined));
  const write = (/** @type {Partial<Draft>} */ part) =>
    setDraft((/** @type {Draft} */ before) => {
      const now = { ...before, ...part };
      keepDraft(subject, now);
      return now;
    });
  const startAgain = () => {
    keepDraft(subject, undefined);
    setDraft(begun(latest, type));
  };
  const problems = judged.verdict?.problems ?? [];
  const lines = draft.text.split("\n");
  const newest = latest?.version ?? 0;
  const isPassed = Boolean(latest) && newestOf(judged.verdict) > newest;
  useEffect(() => {
    if (isPassed) lookAgain();
  }, [isPassed]);
  const missed = newest > draft.since ? newest : 0;
  const isSame = judged.verdict?.new && judged.verdict.schema === latest?.schema && JSON.stringify(draft.references) === JSON.stringify(latest.references ?? []);
  return html`
    ${missed > 0 && html`<${Missed} subject=${subject} since=${draft.since} newest=${missed} looked=${() => write({ since: newest })} />`}
    <div class="writing">
      <div class="written">
        <div class="bar">
          <label>Language <select value=${draft.type} onChange=${(/** @type {any} */ event) => write({ type: event.target.value })}>
            ${Object.keys(BEGINNINGS).map((each) => html`<option value=${each}>${each}</option>`)}
          </select></label>
          <button class="quiet" onClick=${() => write({ text: readable(draft.text, draft.type) })} disabled=${draft.type === "PROTOBUF"}>Lay out</button>
          <button class="quiet" onClick=${startAgain}>Start again</button>
        </div>
        <${Editor} text=${draft.text} marked=${problems.map((/** @type {Place} */ each) => placeOf(lines, each).line)} write=${(/** @type {string} */ text) => write({ text })} field=${editor} />
      </div>
      <div class="judged">
        <${Verdict} judged=${judged} lines=${lines} latest=${latest} isSame=${isSame} show=${(/** @type {any} */ at) => point(editor.current, at)} showOld=${setTarget} />
        ${draft.normalize && judged.isCurrent && judged.verdict?.schema && judged.verdict.schema !== draft.text &&
        html`<p><button class="quiet" onClick=${() => write({ text: readable(judged.verdict.schema, draft.type) })}>Show the normal form</button></p>`}
        <${Register} subject=${subject} draft=${draft} judged=${judged} missed=${missed} caller=${caller} />
      </div>
      <div class="beside">
        <${References} subject=${subject} type=${draft.type} chosen=${draft.references} choose=${(/** @type {Reference[]} */ references) => write({ references })} />
        <p><label class="check"><input type="checkbox" checked=${draft.normalize} onChange=${(/** @type {any} */ event) => write({ normalize: event.target.checked })} /> Normalise</label>
          ${" "}<span class="hint">Put what has no meaning in one order, as with <span class="code">normalize=true</span>.</span></p>
      </div>
    </div>
    ${latest && html`<${ChangesSince} latest=${latest} text=${draft.text} type=${draft.type} target=${target} />`}
  `;
}

const LONGEST_LAID_OUT = 500_000;

/** @param {{latest: any, text: string, type: string, target?: import("./diff.js").Target}} given */
function ChangesSince({ latest, text, type, target }) {
  const settled = useSettled(text);
  return useMemo(
    () => html`<section aria-labelledby="texts"><h2 id="texts">Changes since version ${latest.version}</h2>
      <${Texts} before=${latest} after=${{ schema: settled, schemaType: type }} target=${target} /></section>`,
    [latest, settled, type, target],
  );
}

/** @param {any} latest @param {string} type @returns {Draft} */
function begun(latest, type) {
  if (!latest) return { text: BEGINNINGS[type], type, references: [], normalize: false, since: 0 };
  const written = latest.schemaType ?? "AVRO";
  const laidOut = readable(latest.schema, written);
  // White space alone shall not make a schema longer than a registry takes.
  return { text: laidOut.length > LONGEST_LAID_OUT ? latest.schema : laidOut, type: written, references: latest.references ?? [], normalize: false, since: latest.version };
}

/** @param {Draft} draft what a registration sends */
function sent({ text, type, references }) {
  return { schema: text, schemaType: type, references };
}

/** @param {string} subject @param {Draft} draft @param {AbortSignal} [stop] @returns {Promise<any>} what the registry says of it */
function judge(subject, draft, stop) {
  const patience = AbortSignal.timeout(GIVEN_UP_MS);
  const path = `console/api/subjects/${segment(subject)}/verdict${query({ normalize: draft.normalize })}`;
  return ask(path, stop ? AbortSignal.any([stop, patience]) : patience, { method: "POST", body: sent(draft) });
}

/** The newest version that a verdict knows of; 0 where it tells of none. @param {any} verdict */
function newestOf(verdict) {
  return verdict?.applied?.version ?? (verdict?.new === false ? verdict.version : 0);
}

/** Says that a version was registered since a draft was begun: to register the draft would undo that. @param {{subject: string, since: number, newest: number, looked: () => void}} given */
function Missed({ subject, since, newest, looked }) {
  const place = `subjects/${segment(subject)}`;
  return html`<div class="alias" role="status">
    <p>Version ${newest} was registered since this was begun${since > 0 && html` from version ${since}`}. What it has changed is not in this text.
      ${" "}<${Link} to=${since > 0 ? `${place}/diff/${since}/${newest}` : `${place}/versions/${newest}`}>${since > 0 ? `Version ${since} to ${newest}` : `Version ${newest}`}<//></p>
    <p><button class="quiet" onClick=${looked}>Close</button></p>
  </div>`;
}

const PAUSE_MS = 300;

/** What a value is when it has not been another one for a moment: what takes long is not done with each letter. @template T @param {T} value @returns {T} */
function useSettled(value) {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const pause = setTimeout(() => setSettled(() => value), PAUSE_MS);
    return () => clearTimeout(pause);
  }, [value]);
  return settled;
}

/** What the registry says of a draft, asked whenever nothing was written for a moment.
 * @param {string} subject @param {Draft} draft @returns {{verdict?: any, failure?: any, isCurrent: boolean, again: () => void}} isCurrent: it is of this draft
 */
function useVerdict(subject, draft) {
  const [state, setState] = useState(/** @type {any} */ ({}));
  const of = `${JSON.stringify(sent(draft))} ${draft.normalize}`;
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    const stop = new AbortController();
    // What could not be checked is being checked now.
    setState((/** @type {any} */ before) => (before.failure ? {} : before));
    const start = setTimeout(async () => {
      try {
        setState({ of, verdict: await judge(subject, draft, stop.signal) });
      } catch (failure) {
        if (!stop.signal.aborted) setState({ of, failure });
      }
    }, PAUSE_MS);
    return () => {
      clearTimeout(start);
      stop.abort();
    };
  }, [subject, of, turn]);
  return { ...state, isCurrent: state.of === of, again: () => setTurn(turn + 1) };
}

/** @typedef {import("../places.js").Place} Place */

/** @param {Place} at */
function isBeginning({ line, column }) {
  return line === 1 && column === 1;
}

/** Where a problem is shown. @param {string[]} lines @param {Place} at */
function placeOf(lines, at) {
  const told = telling(lines, at);
  return isBeginning(at) ? { ...at, says: told.says } : told;
}

/**
 * @param {{judged: any, lines: string[], latest?: any, isSame: boolean, show: (place: Place) => void, showOld: (target: import("./diff.js").Target) => void}} given
 *   latest: the newest version. isSame: its schema and references are these. show, showOld: goes to a place in what is written, and in that version
 */
function Verdict({ judged, lines, latest, isSame, show, showOld }) {
  const { verdict, failure, isCurrent, again } = judged;
  return html`<section class=${`verdict ${verdict ? (verdict.accepted ? "good" : "bad") : ""} ${isCurrent ? "" : "stale"}`} aria-labelledby="verdict">
    <h2 id="verdict">Verdict</h2>
    <div role="status">
      ${!isCurrent && html`<p class="hint waiting">Checking …</p>`}
      ${verdict && html`<p class="fact">${summary(verdict)}</p>`}
    </div>
    ${isSame && html`<p>Its schema is that of version ${latest.version}. It would have other metadata or rules, as the config demands.</p>`}
    ${verdict?.applied && html`<${Rule} applied=${verdict.applied} />`}
    ${failure && html`<p>It cannot be checked.</p><${Problem} failure=${failure} again=${again} />`}
    ${verdict && !verdict.accepted &&
    html`<ol class="problems">
      ${verdict.problems.map((/** @type {any} */ each) => {
        const place = placeOf(lines, each);
        return html`<li>
          <p><button class="quiet" onClick=${() => show(place)}>${isBeginning(each) ? "At the beginning" : `Line ${place.line}, column ${place.column}`}</button> <span class="code">${each.rule}</span></p>
          <p>${each.message}</p>
          ${each.against && html`<p class="hint">${each.reader === "old" ? `Version ${each.against} cannot read data of this schema.` : `This schema cannot read data of version ${each.against}.`}</p>`}
          ${each.remedy && html`<p><strong>What would help:</strong> ${each.remedy}</p>`}
          ${/\w/.test(place.says) && html`<pre class="excerpt"><code>${place.says}</code></pre>`}
        </li>`;
      })}
    </ol>`}
    ${verdict?.applied?.version &&
    html`<${Readers}
      applied=${verdict.applied}
      isAccepted=${verdict.accepted}
      ofNew=${(/** @type {any[]} */ of) => html`<${Findings} of=${of} placeOf=${(/** @type {Place} */ each) => telling(lines, each)} show=${show} />`}
      ofOld=${(/** @type {any[]} */ of) =>
        html`<${FindingsOfStored} of=${of} stored=${latest?.version === verdict.applied.version ? latest : undefined} show=${(/** @type {Place} */ { line }) => showOld({ side: "old", line })} />`}
    />`}
  </section>`;
}

/** What each level asks for. @type {Record<string, string>} */
const ASKS = {
  BACKWARD: "the new schema must read what was written before",
  FORWARD: "readers from before must read what the new schema writes",
  FULL: "the new schema must read what was written before, and readers from before what it writes",
  NONE: "nothing is compared",
};

/** By which rule it was judged. @param {{applied: any}} given */
function Rule({ applied: { level, against, version, group, from } }) {
  const compared = version && level !== "NONE" && (against === "all" ? `, against all versions up to ${version}` : `, against version ${version}`);
  return html`<p><strong>${level}</strong>${compared}${group && html` (of those that have the same <span class="code">${group}</span>)`}:${" "}
    ${ASKS[level.replace("_TRANSITIVE", "")] ?? ""}${version ? "." : ". There is no version yet to compare with."} <span class="hint">The level is ${fromWhere(from)}.</span></p>`;
}

/** Who reads whom, whether or not the level asks. @param {{applied: any, isAccepted: boolean, ofNew: (findings: any[]) => any, ofOld: (findings: any[]) => any}} given ofNew, ofOld: draw what hinders new and old readers */
function Readers({ applied: { level, version, backward, forward }, isAccepted, ofNew, ofOld }) {
  // What the level asks for stands among the problems.
  const isTold = (/** @type {boolean} */ isOfNew) => !isAccepted && (isOfNew ? /^(BACK|FULL)/ : /^(FOR|FULL)/).test(level);
  if (!backward) return html`<p class="hint">Version ${version} cannot be read, so nothing is known of its readers.</p>`;
  return html`<div class="readers">
    <p><strong>New readers</strong> ${backward.compatible ? `can read what version ${version} wrote.` : `may fail on what version ${version} wrote.${isAccepted ? ` ${level} permits it: let old data end before readers have this schema.` : ""}`}</p>
    ${!isTold(true) && ofNew(backward.findings)}
    <p><strong>Old readers</strong> ${forward.compatible ? `with version ${version} can read what this schema writes.` : `with version ${version} may fail on what this schema writes.${isAccepted ? ` ${level} permits it: move readers to this schema before writers.` : ""}`}</p>
    ${!isTold(false) && ofOld(forward.findings)}
  </div>`;
}

/** @param {any} verdict */
function summary(verdict) {
  if (!verdict.accepted) return `Refused: ${counted(verdict.problems.length, "problem")}`;
  if (!verdict.new) return `It is version ${verdict.version} already`;
  return `It would be accepted, as version ${verdict.version}${verdict.id ? `, with the id ${verdict.id}, which this content has already` : ", with a new id"}`;
}

/** Puts the cursor there. @param {HTMLTextAreaElement | undefined} field @param {Place} at */
function point(field, at) {
  if (!field) return;
  const start = offsetOf(field.value.split("\n"), at);
  const end = field.value.indexOf("\n", start);
  field.focus();
  field.setSelectionRange(start, end < 0 ? field.value.length : end);
  field.scrollTop = Math.max(0, (at.line - 4) * parseFloat(getComputedStyle(field).lineHeight));
}

/** @param {{subject: string, draft: Draft, judged: any, missed: number, caller: any}} given missed: a version that was registered since the draft was begun; 0 without one */
function Register({ subject, draft, judged, missed, caller }) {
  const verdict = judged.isCurrent ? judged.verdict : undefined;
  if (!caller) return null;
  if (!caller.may.includes("write")) return html`<p class="hint">Your key does not permit to register it.</p>`;
  if (!verdict?.accepted || !verdict.new) return html`<p><button disabled>Register</button></p>`;
  const target = verdict.subject ?? subject;
  const place = `subjects/${segment(subject)}/versions`;
  const run = async () => {
    // What is refused by now is told why by the registry itself.
    const now = await judge(subject, draft);
    if (now.accepted && now.version !== verdict.version) {
      judged.again();
      throw new Failure(0, 0, "The versions of this subject are other ones by now: look at them, then register yours.");
    }
    const made = await change("POST", `${place}${query({ normalize: draft.normalize })}`, sent(draft));
    keepDraft(subject, undefined);
    const version = made.version ?? verdict.version;
    follow(`subjects/${segment(target)}/versions/${version}`);
    const undo = { label: `Delete version ${version} again`, run: () => change("DELETE", `subjects/${segment(target)}/versions/${version}`) };
    tellDone({ text: `Version ${version} is registered, with the id ${made.id}.`, undo: caller.may.includes("delete") ? undo : undefined });
  };
  return html`<${Change} label="Register" isMain title=${`Register version ${verdict.version} of ${split(target).name}?`} does="Register" run=${run}>
    <p>
      ${verdict.version > 1 ? `It becomes the latest version, which is what clients get who ask for the latest.` : "It is the first version of a new subject."}
      ${verdict.id ? ` Its content keeps the id ${verdict.id}.` : " It gets a new id, which is never given again."}
    </p>
    ${missed > 0 && html`<p class="bad-text">Version ${missed} was registered since it was begun. What that has changed is not in it.</p>`}
    ${draft.references.length > 0 && html`<p>It refers to ${counted(draft.references.length, "other schema")}.</p>`}
    ${target !== subject && html`<p>The name leads to the subject <${Name} subject=${target} />.</p>`}
    <p class="hint">It can be deleted again as long as no other schema refers to it.</p>
  <//>`;
}
