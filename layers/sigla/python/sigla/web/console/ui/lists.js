/** Lists that are told in parts: the first one, and more of them when they are asked for. */

import { html, useEffect, useRef, useState } from "./vendor/preact.js";
import { asFailure, Asked, told } from "./parts.js";
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
  const [{ found, after }, setPart] = useState(first);
  const [failure, setFailure] = useState("");
  const [isBusy, setBusy] = useState(false);
  const stop = useRef(/** @type {AbortController | undefined} */ (undefined));
  useEffect(() => () => stop.current?.abort(), []);
  const more = async () => {
    const controller = (stop.current = new AbortController());
    setFailure("");
    setBusy(true);
    try {
      /** @type {Part} */
      const next = await ask(`${path}${path.includes("?") ? "&" : "?"}after=${encodeURIComponent(after ?? "")}`, controller.signal);
      setPart({ found: [...found, ...next.found], after: next.after });
    } catch (problem) {
      if (!controller.signal.aborted) setFailure(told(asFailure(problem)));
    }
    setBusy(false);
  };
  return html`${children(found, Boolean(after))}
    ${failure && html`<p class="bad-text" role="alert">${failure}</p>`}
    ${after && html`<p><button class="quiet" disabled=${isBusy} onClick=${more}>${label}</button></p>`}`;
}
