/** A field for a text of many lines, with their numbers beside it; Tab leads on from it, as from every field. */

import { html, useEffect, useRef } from "./vendor/preact.js";

/** The numbers of lines: as texts, for a hundred thousand elements would be drawn anew with each letter. @param {number} count @param {number[]} marked */
function numbered(count, marked) {
  const parts = [];
  let from = 1;
  for (const line of [...new Set(marked)].filter((each) => each <= count).sort((a, b) => a - b)) {
    if (line > from) parts.push(numbers(from, line - 1));
    parts.push(html`<span class="marked">${line}</span>`);
    from = line + 1;
  }
  if (from <= count) parts.push(numbers(from, count));
  return parts;
}

/** @param {number} from @param {number} to */
function numbers(from, to) {
  return html`<span>${Array.from({ length: to - from + 1 }, (_, at) => from + at).join("\n")}</span>`;
}

/** @param {{text: string, marked: number[], write: (text: string) => void, field: {current: HTMLTextAreaElement | undefined}}} given marked: lines with a problem */
export function Editor({ text, marked, write, field }) {
  const gutter = useRef(/** @type {HTMLElement | undefined} */ (undefined));
  const count = text.split("\n").length;
  const follow = () => {
    if (gutter.current && field.current) gutter.current.scrollTop = field.current.scrollTop;
  };
  useEffect(follow, [count]);
  return html`<div class="editor">
    <div class="gutter" aria-hidden="true" ref=${gutter}>
      ${numbered(count, marked)}
    </div>
    <textarea ref=${field} aria-label="Text of the schema" wrap="off" spellcheck="false" autocapitalize="off" autocomplete="off"
      rows=${Math.min(40, Math.max(16, count + 1))} value=${text} onScroll=${follow}
      onInput=${(/** @type {any} */ event) => write(event.target.value)}></textarea>
  </div>`;
}
