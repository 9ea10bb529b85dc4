/** A field for a text of many lines, with their numbers beside it; Tab leads on from it, as from every field. */

import { html, useEffect, useRef } from "./vendor/preact.js";

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
      ${Array.from({ length: count }, (_, at) => html`<span class=${marked.includes(at + 1) ? "marked" : ""}>${at + 1}</span>`)}
    </div>
    <textarea ref=${field} aria-label="Text of the schema" wrap="off" spellcheck="false" autocapitalize="off" autocomplete="off"
      rows=${Math.min(40, Math.max(16, count + 1))} value=${text} onScroll=${follow}
      onInput=${(/** @type {any} */ event) => write(event.target.value)}></textarea>
  </div>`;
}
