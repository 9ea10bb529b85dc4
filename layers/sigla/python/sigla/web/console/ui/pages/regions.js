/** Two regions of the registry: who takes writes, how far the other one is, what waits; and the commands that change it. */

import { html } from "../vendor/preact.js";
import { Answer, Command, counted, Heading, Link, quoted, Sentence, Table, Time } from "../parts.js";
import { REGISTRY, segment, useAsked } from "../registry.js";
import { Copy } from "../schema_text.js";

/**
 * @typedef {{role: string, epoch: number, writes: boolean, reconciled: boolean, out: Out[], waiting: Waiting[],
 *   url?: string, registry?: string, name?: string, peer?: string, problem?: string, setting?: string, behind?: number, commits?: number, newest?: number,
 *   ids?: {context: string, given: number, ceiling: number}[], moreContexts: boolean}} Region
 * @typedef {{name: string, url?: string}} Out a region that may have what this one lacks
 * @typedef {{why: string, number: number, more: boolean, oldest: number, subjects: string[]}} Waiting
 * @typedef {{url?: string, region?: Region, why?: string, lacking?: string[]}} Other
 */

const HERE = "console/api/regions";

export default function RegionsPage() {
  const asked = useAsked(HERE);
  const across = useAsked(`${HERE}/other`);
  const again = () => {
    asked.again();
    across.again();
  };
  return html`
    <${Heading} title="Regions"><p><button class="quiet" onClick=${again}>Look again</button></p><//>
    <p class="lead">Two registries that are one: a primary takes writes, and a follower has the same a moment later. A command alone changes which is which.</p>
    <${Answer} asked=${asked} absent=${html`<p>This registry is in one region alone.</p>`}>${(/** @type {Region} */ here) => html`<${Both} here=${here} across=${across} />`}<//>
  `;
}

/** @param {{here: Region, across: import("../registry.js").Asked}} given */
function Both({ here, across }) {
  return html`
    <div class="cards">
      <${Card} id="here" title="This region" region=${here} url=${here.url ?? REGISTRY.href.replace(/\/$/, "")} />
      <section aria-labelledby="other" class=${across.value?.why || across.failure ? "bad" : across.value?.region?.writes ? "good" : ""}>
        <h2 id="other">The other region</h2>
        <${Answer} asked=${across}>
          ${(/** @type {Other} */ { region, url, why }) =>
            region
              ? html`<${State} region=${region} url=${url} />`
              : html`<p class="fact">not known</p><p>${why}</p>${url && html`<p class="code">${url}</p>`}`}
        <//>
      </section>
    </div>
    ${across.value && html`<${Loss} here=${here} other=${across.value} />`}
    <${Commands} here=${here} other=${across.value ?? {}} />
    <${WaitingHere} waiting=${here.waiting} problem=${here.problem} />
    <${Ids} region=${here} />
  `;
}

/** @param {{id: string, title: string, region: Region, url?: string}} given */
function Card({ id, title, region, url }) {
  return html`<section aria-labelledby=${id} class=${region.problem || region.setting ? "bad" : region.writes ? "good" : ""}>
    <h2 id=${id}>${title}</h2>
    <${State} region=${region} url=${url} />
  </section>`;
}

/** @param {{region: Region, url?: string}} given */
function State({ region, url }) {
  const { role, epoch, writes, behind, newest, problem, setting } = region;
  const missing = unreconciled(region);
  return html`
    <p class="fact">${role}</p>
    <p>${writes ? "takes writes" : role === "primary" ? "closed: takes no writes" : "takes no writes itself"}, epoch ${epoch}</p>
    ${behind !== undefined && html`<p>at most ${seconds(behind)} behind</p>`}
    ${newest !== undefined && html`<p>newest commit <${Time} at=${newest} /></p>`}
    ${problem && html`<p class="bad-text">It does not go on: ${problem}.</p>`}
    ${setting && html`<p class="bad-text">${setting}.</p>`}
    ${missing && html`<p class="bad-text"><${Sentence} text=${missing} /></p>`}
    ${url && html`<p class="code">${url}</p>`}
  `;
}

/** What is not here that another region had; empty where all is. @param {Region} region */
function unreconciled({ role, writes, reconciled, out }) {
  if (reconciled) return "";
  if (role === "primary" && !writes) return "It takes no writes again before `sigla rejoin` has brought it back.";
  return `What ${out.map(shown).join(" and ") || "another region"} had was not brought ${role === "primary" ? "here" : "to its primary"} yet.`;
}

/** @param {Out} out */
function shown({ name, url }) {
  return url ?? name;
}

/** What would be lost, and what to do then. @param {{here: Region, other: Other}} given */
function Loss({ here, other }) {
  const regions = [here, ...(other.region ? [other.region] : [])];
  const follower = regions.find(({ role }) => role === "follower");
  const isJoining = regions.some(({ role }) => role === "joining");
  if (!follower && !isJoining) return null;
  return html`<section aria-labelledby="loss">
    <h2 id="loss">If the primary were lost now</h2>
    ${loss(isJoining, follower?.behind, other.lacking).map((each) => html`<p>${each}</p>`)}
  </section>`;
}

/** @param {boolean} isJoining @param {number | undefined} behind @param {string[] | undefined} lacking */
function loss(isJoining, behind, lacking) {
  if (isJoining) return ["A region that joins does not have everything yet: it cannot be promoted."];
  if (lacking?.length) return lacking.map((each) => `A forced promotion would lose: ${each}`);
  if (lacking) return ["A forced promotion would lose nothing."];
  if (behind === undefined) return ["What a forced promotion would lose is not known here: the first command below looks at both."];
  return [`A forced promotion would lose what the primary has acknowledged in the last ${seconds(behind)}, at most.`];
}

/** What can be done as things stand, each with its command. @param {Region} here @param {Other} other @returns {[string, string][]} */
function commandsOf(here, other) {
  const ours = quoted(here.url ?? REGISTRY.href.replace(/\/$/, ""));
  const there = other.url ?? (here.peer?.includes("://") ? here.peer : undefined);
  const theirs = there ? quoted(there) : "URL-OF-THE-OTHER-REGION";
  const leads = here.role === "primary";
  const [primary, follower] = leads ? [ours, theirs] : [theirs, ours];
  const named = here.registry ? ` --registry ${quoted(here.registry)}` : "";
  const also = here.url ? ` --primary ${primary}` : "";
  /** @type {[string, string][]} */
  const commands = [["Look at both", `sigla regions ${follower} ${primary}`]];
  if (leads && !here.writes) {
    commands.push(["Bring this region back, which was passed over", `sigla rejoin ${ours} --primary ${theirs}`]);
    if (here.reconciled) {
      commands.push(
        ["Take back a promotion that was cut off", `sigla promote ${theirs}${here.url ? ` --primary ${ours}` : ""} --undo`],
        ["Open it again, because the other region is lost", `sigla promote ${ours} --force`],
      );
    }
  }
  for (const each of here.writes ? here.out : []) {
    const which = here.out.length > 1 ? ` ${quoted(each.name)}` : "";
    commands.push(
      [`Bring ${shown(each)} back`, `sigla rejoin ${each.url ? quoted(each.url) : "URL-OF-THAT-REGION"} --primary ${ours}`],
      [`Give ${shown(each)} up: it never comes back`, `sigla regions abandon ${ours}${which}`],
    );
  }
  if (here.role === "follower" || (here.writes && (here.reconciled || other.region?.role === "follower"))) {
    commands.push(
      ["Promote the follower, and lose nothing", `sigla promote ${follower}${also}`],
      ["Promote it, because the primary is lost", `sigla promote ${follower}${also} --force`],
    );
    if (leads) commands.push(["Give the follower up, which is lost", `sigla regions dismiss ${primary}`]);
  }
  return commands.map(([what, command]) => [what, `${command}${named}`]);
}

/** @param {{here: Region, other: Other}} given */
function Commands({ here, other }) {
  return html`<section aria-labelledby="commands">
    <h2 id="commands">Commands</h2>
    <p class="hint">This page changes nothing. Each command says first what it will do, and asks.</p>
    <ul class="names commands">
      ${commandsOf(here, other).map(
        ([what, command]) => html`<li key=${command}><span>${what}</span><div><${Command} text=${command} /><${Copy} text=${command} label=${`Copy: ${what}`} /></div></li>`,
      )}
    </ul>
  </section>`;
}

/** @param {{waiting: Waiting[], problem?: string}} given */
function WaitingHere({ waiting, problem }) {
  return html`<section aria-labelledby="waiting">
    <h2 id="waiting">What waits here</h2>
    ${!waiting.length && html`<p>${problem ? `Everything after the last commit that is here: ${problem}.` : "No commit of the other region waits."}</p>`}
    ${waiting.map(
      ({ why, number, more, oldest, subjects }) => html`<p>
        ${more ? `${number} commits and more` : counted(number, "commit")} ${why}, the first one since <${Time} at=${oldest} />${subjects.length > 0 && ", about "}
        ${subjects.map((each, at) => html`${at > 0 && ", "}<${Link} to=${`subjects/${segment(each)}`}>${each}<//>`)}
      </p>`,
    )}
  </section>`;
}

/** @param {{region: Region}} given */
function Ids({ region: { ids, moreContexts } }) {
  if (!ids) return null;
  return html`<section aria-labelledby="ids">
    <h2 id="ids">Ids that are left</h2>
    <p class="hint">Above its ceiling no id of a context is given before the other region knows of a higher one.</p>
    <${Table} label="Ids that are left" head=${["Context", "Last id", "Ceiling", "Left"]}>
          ${ids.map(
            ({ context, given, ceiling }) => html`<tr key=${context}>
              <th scope="row">${context === "." ? "default" : context}</th><td>${given}</td><td>${ceiling}</td><td>${Math.max(0, ceiling - given)}</td>
            </tr>`,
          )}
    <//>
    ${moreContexts && html`<p class="hint">There are more contexts.</p>`}
  </section>`;
}

/** @param {number} milliseconds */
function seconds(milliseconds) {
  return milliseconds < 60_000 ? `${(milliseconds / 1000).toFixed(1)} s` : `${Math.round(milliseconds / 60_000)} min`;
}
