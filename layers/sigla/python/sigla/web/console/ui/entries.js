/** What commits did, in words: for the history of a subject and for the log of the registry. */

import { html } from "./vendor/preact.js";
import { Author, Link, Name, Table, Time, WhyTokens } from "./parts.js";
import { segment } from "./registry.js";

/** What is said of the things that a commit is about: where it is there, and where it is gone.
 * @type {Record<string, [string, string]>} */
const DID = {
  DELETE_SUBJECT: ["deleted the subject", ""],
  CLEAR_SUBJECT: ["cleared the subject", ""],
  CONFIG: ["changed its config", "removed its config"],
  MODE: ["changed its mode", "removed its mode"],
  ASSOC: ["associated a topic with it", "ended the association with a topic"],
  CONTEXT: ["made the context", "deleted the context"],
  KEK: ["changed the KEK", "deleted the KEK"],
  DEK: ["changed a DEK under the KEK", "deleted a DEK under the KEK"],
  EXPORTER: ["changed the exporter", "deleted the exporter"],
  NUMBERING: ["set where ids go on", ""],
  BURIED: ["imported the id of a version that was deleted", ""],
};

/** What was done, in words. @param {any} about @param {string} [change] as the journal calls the commit */
function done(about, change) {
  if (about.type === "SCHEMA") {
    const isForGood = about.gone && change?.endsWith("Purged");
    return `${about.gone ? "deleted" : "registered"} version ${about.version}${isForGood ? " for good" : ""}`;
  }
  const [did, undid] = DID[about.type] ?? [about.type.toLowerCase().replaceAll("_", " "), ""];
  return about.gone && undid ? undid : did;
}

/** @param {{entries: any[], label: string, hasSubjects?: boolean}} given hasSubjects: they are about several */
export function Entries({ entries, label, hasSubjects }) {
  return html`<${Table} label=${label} head=${["When", "Who", "What", ...(hasSubjects ? ["Of"] : [])]}>
        ${entries.map(
          (entry) => html`<tr key=${entry.commit}>
            <td><${Time} at=${entry.at} /></td>
            <td><${Author} of=${entry} /></td>
            <td class="did">${entry.about.map((/** @type {any} */ each) => html`<div>${done(each, entry.change)}</div>`)}${entry.more && html`<div>and ${entry.more} more</div>`}</td>
            ${hasSubjects && html`<td class="of">${entry.about.map((/** @type {any} */ each) => html`<div><${Of} about=${each} /></div>`)}</td>`}
          </tr>`,
        )}
    <//>
    <${WhyTokens} of=${entries} />`;
}

/** @param {{about: any}} given */
function Of({ about: { subject, name, version } }) {
  if (!subject) return name ?? "the default context";
  if (/^:\.[^:]*:$/.test(subject)) return html`<${Name} subject=${subject} /> ${name}`;
  return html`<${Link} to=${`subjects/${segment(subject)}${version ? `/versions/${version}` : ""}`}><${Name} subject=${subject} /><//> ${name}`;
}
