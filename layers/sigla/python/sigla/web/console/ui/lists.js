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
  const { now, failure, isBusy, goOn } = useGoingOn(first, async ({ found, after }, signal) => {
    /** @type {Part} */
    const next = await ask(`${path}${path.includes("?") ? "&" : "?"}after=${encodeURIComponent(after ?? "")}`, signal);
    return { found: [...found, ...next.found], after: next.after };
  });
  return html`${children(now.found, Boolean(now.after))}
    ${failure && html`<p class="bad-text" role="alert">${failure}</p>`}
    ${now.after && html`<p><button class="quiet" disabled=${isBusy} onClick=${goOn}>${label}</button></p>`}`;
}

/**
 * What was told so far, and how to go on: by one call after another, until it is enough.
 *
 * @template T @param {T} first @param {(before: T, signal: AbortSignal) => Promise<T>} call what is told after one more of them
 * @param {(now: T, before: T) => boolean} [isEnough] before: when going on began
 */
export function useGoingOn(first, call, isEnough = () => true) {
  const [now, setNow] = useState(first);
  const [failure, setFailure] = useState("");
  const [isBusy, setBusy] = useState(false);
  const controller = useRef(/** @type {AbortController | undefined} */ (undefined));
  const stop = () => controller.current?.abort();
  useEffect(() => stop, []);
  const goOn = async () => {
    const { signal } = (controller.current = new AbortController());
    setFailure("");
    setBusy(true);
    let grown = now;
    try {
      do setNow((grown = await call(grown, signal)));
      while (!isEnough(grown, now));
    } catch (problem) {
      if (!signal.aborted) setFailure(told(asFailure(problem)));
    }
    setBusy(false);
  };
  return { now, failure, isBusy, goOn, stop };
}
