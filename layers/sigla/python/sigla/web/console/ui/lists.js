/** Lists that are told in parts: the first one, and more of them when they are asked for. */

import { html } from "./vendor/preact.js";
import { Asked, useGoingOn } from "./parts.js";
import { ask } from "./registry.js";

/** @typedef {{found: any[], after?: string}} Part after: where the next one begins; without it nothing is behind */

/**
 * What a list has, as far as it was told: shown by the child, a function of it.
 *
 * @param {{path: string, children: (found: any[]) => any}} given path: of the first part
 */
export function Listed({ path, children }) {
  return html`<${Asked} key=${path} path=${path}>
    ${(/** @type {any} */ first) => html`<${Going} key=${JSON.stringify(first)} path=${path} first=${first}>${children}<//>`}
  <//>`;
}

/** The same of a list whose first part is at hand. @param {{path: string, first: Part, children: (found: any[], hasMore: boolean) => any, label?: string}} given label: of the button for more */
export function Going({ path, first, children, label = "Show more" }) {
  const { now, failure, isBusy, goOn } = useGoingOn(first, async ({ found, after }, signal) => {
    /** @type {Part} */
    const next = await ask(`${path}${path.includes("?") ? "&" : "?"}after=${encodeURIComponent(after ?? "")}`, signal);
    return { found: [...found, ...next.found], after: next.after };
  });
  return html`${children(now.found, Boolean(now.after))}
    ${failure && html`<p class="bad-text" role="alert">${failure}</p>`}
    ${now.after && html`<p><button class="quiet" disabled=${isBusy} onClick=${goOn}>${label}</button></p>`}`;
}
