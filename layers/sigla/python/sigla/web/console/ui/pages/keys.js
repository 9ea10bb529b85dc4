/** API keys: made, rotated and revoked by administrators who reach everything. A secret is shown once, here alone. */

import { html, useEffect, useRef, useState } from "../vendor/preact.js";
import { Asked, counted, Heading, Table, Time, Waiting } from "../parts.js";
import { change, keyName, segment, useAskedCaller } from "../registry.js";
import { Change } from "../changes.js";

const KEYS = "console/api/keys";
const DAY = 86_400;

/** How many seconds a new key may last, in words; 0 for good. @type {[string, number][]} */
const LASTS = [["until it is revoked", 0], ["30 days", 30 * DAY], ["90 days", 90 * DAY], ["a year", 365 * DAY]];
/** The same of secrets from before a rotation. @type {[string, number][]} */
const FORMER = [["for a day", DAY], ["for an hour", 3600], ["for a week", 7 * DAY], ["no longer", 0]];

/** @typedef {{key: string, secret: string}} Shown */

export default function KeysPage() {
  const asked = useAskedCaller();
  const caller = asked.value;
  // It is here as long as it is on the page: in no storage, no address, and nothing that other pages see.
  const [shown, setShown] = useState(/** @type {Shown | undefined} */ (undefined));
  const [hasRevoked, setHasRevoked] = useState(false);
  if (!caller) return html`<${Heading} title="Keys" />${!asked.failure && html`<${Waiting} isSlow=${asked.isSlow} />`}`;
  if (!caller.has.includes("keys") || !caller.may.includes("admin") || !caller.everything) {
    return html`<${Heading} title="Keys" />
      <p>Keys are shown to administrators who reach everything, where the registry lets them be changed here. <code>sigla keys</code> makes them elsewhere.</p>`;
  }
  return html`
    <${Heading} title="Keys" />
    <p class="lead">Clients show a key and its secret. The registry keeps what verifies a secret, and never the secret itself.</p>
    ${shown && html`<${Secret} shown=${shown} close=${() => setShown(undefined)} />`}
    <div class="actions">
      <${NewKey} show=${setShown} />
      <label class="check"><input type="checkbox" checked=${hasRevoked} onChange=${() => setHasRevoked(!hasRevoked)} /> Revoked ones too</label>
    </div>
    <${Asked} path=${KEYS + (hasRevoked ? "?revoked=true" : "")}>
      ${(/** @type {any[]} */ found) => html`<${Keys} found=${found} show=${setShown} shown=${shown} />`}
    <//>
  `;
}

/** @param {{found: any[], show: (shown: Shown | undefined) => void, shown?: Shown}} given */
function Keys({ found, show, shown }) {
  if (!found.length) return html`<p>There are no keys.</p>`;
  return html`<${Table} label="Keys" head=${["Key", "May", "Subjects", "Made", "Ends", "Last used", ""]}>
    ${found.map((each) => html`<${Row} key=${each.key} of=${each} show=${show} shown=${shown} />`)}
  <//>`;
}

/** @param {{of: any, show: (shown: Shown | undefined) => void, shown?: Shown}} given */
function Row({ of, show, shown }) {
  const gone = () => shown?.key === of.key && show(undefined);
  const revoke = html`<${Revoke} name=${of.key} gone=${gone} isDamaged=${Boolean(of.damaged)} />`;
  if (of.damaged) {
    return html`<tr>
      <th scope="row">${of.key}</th>
      <td colspan="5"><span class="tag bad">damaged</span> It opens nothing: ${of.damaged}.</td>
      <td><div class="actions">${revoke}</div></td>
    </tr>`;
  }
  const now = Date.now();
  const hasEnded = of.expires !== null && of.expires <= now;
  const former = of.former.filter((/** @type {number} */ until) => until > now);
  return html`<tr>
    <th scope="row">${of.key}${of.key === keyName() && html` <span class="tag">yours</span>`}</th>
    <td>${of.role}${of.role === "writer" && of.delete ? ", and delete" : ""}</td>
    <td class="reach">${of.subjects.length ? of.subjects.map((/** @type {string} */ each) => html`<div><span class="code word">${each}</span></div>`) : "all"}</td>
    <td><${Time} at=${of.created} /> ${of.by && html`<div class="hint">by ${of.by}</div>`}</td>
    <td>
      ${of.revoked
        ? html`<span class="tag bad">revoked</span> <${Time} at=${of.revoked.at} /> <div class="hint">by ${of.revoked.by}</div>`
        : html`${hasEnded && html`<span class="tag bad">ended</span> `}${of.expires === null ? "never" : html`<${Time} at=${of.expires} />`}
            ${former.length > 0 && html`<div class="hint">${counted(former.length, "secret")} from before, until <${Time} at=${Math.max(...former)} /></div>`}`}
    </td>
    <td>${of.used ? html`<time datetime=${of.used}>${of.used}</time>` : "–"}</td>
    <td>${!of.revoked && html`<div class="actions">${!hasEnded && html`<${Rotate} name=${of.key} show=${show} />`}${revoke}</div>`}</td>
  </tr>`;
}

/**
 * A secret, until the page is left or it is put away. What draws the page keeps old drawings for a while, so the secret
 * is in none: it is written into the page here, and wiped out afterwards.
 *
 * @param {{shown: Shown, close: () => void}} given
 */
function Secret({ shown, close }) {
  const [copied, setCopied] = useState("");
  const code = useRef(/** @type {HTMLElement | undefined} */ (undefined));
  useEffect(() => {
    const place = /** @type {HTMLElement} */ (code.current);
    setCopied("");
    place.textContent = shown.secret;
    place.focus();
    return () => {
      place.textContent = "";
      shown.secret = "";
    };
  }, [shown]);
  const copy = () =>
    navigator.clipboard.writeText(shown.secret).then(
      () => setCopied("Copied."),
      () => setCopied("The browser did not copy it: select it instead."),
    );
  return html`<section class="verdict good" aria-labelledby="secret">
    <h2 id="secret">Secret of ${shown.key}</h2>
    <p><code ref=${code} class="secret" tabindex="0" onFocus=${(/** @type {any} */ event) => getSelection()?.selectAllChildren(event.target)}></code></p>
    <p>It is shown this once: keep it where the client finds it. When this page is left it is gone, and nothing can tell it again.</p>
    <div class="actions">
      ${isSecureContext && html`<button onClick=${copy}>Copy</button>`}
      <button class="quiet" onClick=${close}>I have kept it</button>
      <span role="status">${copied}</span>
    </div>
  </section>`;
}

/** The prefixes in a text. @param {string} said */
const prefixesIn = (said) => said.split(/\s+/).filter(Boolean);

/** @param {{show: (shown: Shown | undefined) => void}} given */
function NewKey({ show }) {
  const [role, setRole] = useState("reader");
  const [prefixes, setPrefixes] = useState("");
  const run = async (/** @type {FormData} */ said) => {
    const lasts = new Map(LASTS).get(String(said.get("lasts")));
    const made = await change("POST", KEYS, {
      key: said.get("key"),
      role,
      delete: said.get("delete") === "on",
      subjects: prefixesIn(prefixes),
      ...(lasts && { expiresInSeconds: lasts }),
    });
    show(made);
    return { text: `The key ${made.key} opens the registry now.`, undo: { label: `Revoke ${made.key}`, run: undo(made.key) } };
  };
  const undo = (/** @type {string} */ name) => async () => {
    await change("DELETE", `${KEYS}/${segment(name)}`);
    show(undefined);
  };
  const opened = () => {
    setRole("reader");
    setPrefixes("");
  };
  return html`<${Change} label="New key" title="Make a key?" does="Make the key" run=${run} whenOpen=${opened} isMain>
    <label>Name <input name="key" required maxlength="64" autocomplete="off" spellcheck="false" /></label>
    <label>Role
      <select name="role" value=${role} onChange=${(/** @type {any} */ event) => setRole(event.target.value)}>
        <option value="reader">reader</option><option value="writer">writer</option><option value="admin">admin</option>
      </select>
    </label>
    ${role === "writer" && html`<label class="check"><input type="checkbox" name="delete" /> It may delete, softly</label>`}
    <label>Prefixes of its subjects, between blanks; none: all subjects
      <input name="subjects" value=${prefixes} autocomplete="off" spellcheck="false" placeholder="orders- :.team:" onInput=${(/** @type {any} */ event) => setPrefixes(event.target.value)} />
    </label>
    <label>It lasts <select name="lasts">${LASTS.map(([what]) => html`<option value=${what}>${what}</option>`)}</select></label>
    <p>${MAY[role]} ${reachOf(prefixesIn(prefixes))}</p>
    ${role === "admin" && !prefixesIn(prefixes).length && html`<p class="bad-text">It administers everything: keys, too.</p>`}
    <p>It opens the registry at once. The secret is shown next, once.</p>
  <//>`;
}

/** @type {Record<string, string>} */
const MAY = {
  reader: "It reads schemas, looks them up and checks compatibility,",
  writer: "It reads and registers schemas,",
  admin: "It reads, registers, deletes, also for good, and changes config and mode,",
};

/** @param {string[]} prefixes */
function reachOf(prefixes) {
  return prefixes.length ? `for subjects that begin with ${prefixes.join(" or ")}.` : "for all subjects.";
}

/** @param {{name: string, show: (shown: Shown) => void}} given */
function Rotate({ name, show }) {
  const [former, setFormer] = useState(FORMER[0][0]);
  const seconds = new Map(FORMER).get(former);
  const run = async () => {
    const rotated = await change("POST", `${KEYS}/${segment(name)}/rotate`, { formerSeconds: seconds });
    show(rotated);
    return { text: `The key ${name} has a new secret.` };
  };
  return html`<${Change} label="Rotate" about=${name} title=${`Give ${name} a new secret?`} does="Rotate" run=${run} whenOpen=${() => setFormer(FORMER[0][0])}>
    <label>Secrets from before are good
      <select name="former" value=${former} onChange=${(/** @type {any} */ event) => setFormer(event.target.value)}>
        ${FORMER.map(([what]) => html`<option value=${what}>${what}</option>`)}
      </select>
    </label>
    <${Use} name=${name}>
      ${(/** @type {any} */ use) =>
        seconds
          ? html`<p>${counted(use.secrets, "secret")} of it ${use.secrets === 1 ? "goes" : "go"} on opening the registry ${former} at most: move its clients until then.</p>`
          : html`<p>${counted(use.secrets, "secret")} of it ${use.secrets === 1 ? "ends" : "end"}, everywhere within ${use.acceptedForSeconds} seconds: clients that have the new one alone go on.</p>`}
    <//>
    ${name === keyName() && html`<p class="bad-text">You are signed in with it: sign in again with the new secret.</p>`}
    <p>The new secret is shown next, once. This cannot be undone; a key can be rotated again.</p>
  <//>`;
}

/** @param {{name: string, gone: () => void, isDamaged: boolean}} given */
function Revoke({ name, gone, isDamaged }) {
  const run = async () => {
    const { acceptedForSeconds } = await change("DELETE", `${KEYS}/${segment(name)}`);
    gone();
    return { text: `The key ${name} is revoked: refused everywhere within ${acceptedForSeconds} seconds.` };
  };
  return html`<${Change} label="Revoke" about=${name} title=${`Revoke ${name}?`} does="Revoke" run=${run} isGrave>
    ${isDamaged
      ? html`<p>What is kept there is taken away. It opens nothing now.</p>`
      : html`<${Use} name=${name}>
      ${(/** @type {any} */ use) => html`
        <p>${counted(use.secrets, "secret")} of it ${use.secrets === 1 ? "ends" : "end"}: refused everywhere within ${use.acceptedForSeconds} seconds.</p>
        ${!use.administrators && html`<p class="bad-text">No other key administers everything: after this one, only <code>sigla keys</code> makes another.</p>`}
      `}
    <//>`}
    ${name === keyName() && html`<p class="bad-text">You are signed in with it: the registry will not know you any more.</p>`}
    <p>This cannot be undone. Another key may have its name.</p>
  <//>`;
}

/** Who would miss a key, and what else is known of its use. @param {{name: string, children: (use: any) => any}} given */
function Use({ name, children }) {
  return html`<${Asked} path=${`${KEYS}/${segment(name)}/use`}>
    ${(/** @type {any} */ use) => html`
      <p>${use.used ? `Last used on ${use.used}.` : "It was not used yet, as far as is noted."}
        ${use.reads !== undefined && ` Schemas that it read in the last ${use.days} days: ${use.reads}.`}</p>
      ${children(use)}
    `}
  <//>`;
}
