/** The text of a schema as people read it: JSON laid out, words told apart, lines with numbers. */

import { html, useState } from "./vendor/preact.js";

const JSON_TOKEN = /("(?:[^"\\]|\\.)*")|(-?\d[\d.eE+-]*)|(true|false|null)|([{}[\]:,])|(\s+)|([^\s])/gs;
const PROTOBUF_TOKEN =
  /(\/\/[^\n]*|\/\*.*?\*\/)|("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')|(\b\d[\w.]*)|(\b(?:syntax|edition|package|import|public|weak|option|message|enum|oneof|map|extend|extensions|service|rpc|returns|stream|reserved|to|max|repeated|optional|required|true|false)\b)|(\w+|\s+|.)/gs;

const DEEPEST = 400;

/**
 * JSON with a member on each line. Numbers and texts stay as they are written: reading them would round them.
 * What is no JSON stays as it is.
 *
 * @param {string} text
 */
export function laidOut(text) {
  let depth = 0;
  /** @type {string[]} */
  const out = [];
  let isAfterOpening = false;
  const line = () => out.push("\n", "  ".repeat(Math.min(depth, DEEPEST)));
  for (const [token, , , , mark, space, other] of text.matchAll(JSON_TOKEN)) {
    if (space) continue;
    if (other && !/[\w]/.test(other)) return text;
    if (mark === "}" || mark === "]") {
      depth -= 1;
      if (!isAfterOpening) line();
      out.push(token);
      isAfterOpening = false;
      continue;
    }
    if (isAfterOpening) line();
    isAfterOpening = false;
    if (mark === ",") {
      out.push(token);
      line();
    } else if (mark === ":") out.push(": ");
    else {
      out.push(token);
      if (mark) {
        depth += 1;
        isAfterOpening = true;
      }
    }
  }
  return out.join("");
}

/** The text of a schema in the form in which it is compared and shown. @param {string} text @param {string} type */
export function readable(text, type) {
  return type === "PROTOBUF" ? text : laidOut(text);
}

/** A line as parts of one kind each. @param {string} line @param {string} type @returns {any[]} */
export function coloured(line, type) {
  /** @type {any[]} */
  const parts = [];
  const token = type === "PROTOBUF" ? PROTOBUF_TOKEN : JSON_TOKEN;
  for (const match of line.matchAll(token)) {
    const [all, ...groups] = match;
    const rest = line.slice(match.index + all.length);
    const at = groups.findIndex((each) => each !== undefined);
    const kind =
      type === "PROTOBUF"
        ? ["c", "s", "n", "k", ""][at]
        : [/^\s*:/.test(rest) ? "m" : "s", "n", "k", "", "", ""][at];
    parts.push(kind ? html`<span class=${kind}>${all}</span>` : all);
  }
  return parts;
}

/** More lines are shown when they are asked for: a browser takes seconds for a hundred thousand. */
const MOST_SHOWN = 5000;
const LONGEST_COLOURED = 500_000;

/** @param {{text: string, type: string, label: string, isOurs?: boolean}} given isOurs: the text was never stored so */
export function SchemaText({ text, type, label, isOurs }) {
  const [isStored, setStored] = useState(false);
  const [isWhole, setWhole] = useState(false);
  const shown = isStored ? text : readable(text, type);
  const lines = shown.split("\n");
  const isColoured = lines.length <= MOST_SHOWN && shown.length < LONGEST_COLOURED;
  const isCut = !isWhole && lines.length > MOST_SHOWN;
  return html`<div class="text">
    <div class="bar">
      <span>${lines.length === 1 ? "1 line" : `${lines.length} lines`}</span>
      ${type !== "PROTOBUF" && !isOurs && html`<button class="quiet" aria-pressed=${isStored} onClick=${() => setStored(!isStored)}>As stored</button>`}
      <${Copy} text=${shown} />
    </div>
    <pre class="code" tabindex="0" role="region" aria-label=${label}><code>${(isCut ? lines.slice(0, MOST_SHOWN) : lines).map(
      (line) => html`<span class="line">${isColoured ? coloured(line, type) : line}${"\n"}</span>`,
    )}</code></pre>
    ${isCut && html`<p class="hint">The first ${MOST_SHOWN} lines are shown. <button class="quiet" onClick=${() => setWhole(true)}>Show all ${lines.length}</button></p>`}
  </div>`;
}

/** @param {{text: string, label?: string}} given label: where there are several */
export function Copy({ text, label }) {
  const [said, setSaid] = useState("");
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => setSaid("Copied"),
      () => setSaid("The browser does not permit it"),
    );
  if (!globalThis.navigator?.clipboard) return null;
  return html`<button class="quiet" aria-label=${label} onClick=${copy}>Copy</button><span role="status">${said}</span>`;
}
