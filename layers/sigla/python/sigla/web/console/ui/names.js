/** Names behind tokens: where each read costs money they are asked for by themselves, and a part of them at a time. */

import { html, useState } from "./vendor/preact.js";
import { asFailure, isUnnamed, Problem, told } from "./parts.js";
import { ask, useAsked, useIsPaid } from "./registry.js";

/** Among so many names it looks for one read unit at first, and for 15 with each *Look through more names*. */
const FIRST = 60;
const MORE = 1000;
/** An address may have so many tokens. */
const MOST_TOKENS = 200;

/** @typedef {import("./parts.js").Doer} Doer */
/** @typedef {{path: string, found: {by: string, name: string}[], after?: string, isBusy?: boolean, failure?: string}} Further */

/**
 * Gives names to those who did something, as far as they are known, and shows how to look for others.
 *
 * @param {Doer[]} of @returns {{named: <T extends Doer>(one: T) => T, more: any}} more: a part of the page
 */
export function useNames(of) {
  const tokens = [...new Set(of.filter(isUnnamed).map(({ by }) => by))].sort().slice(0, MOST_TOKENS);
  const said = tokens.map((each) => `token=${encodeURIComponent(each ?? "")}`).join("&");
  const path = useIsPaid() && said ? `console/api/names?${said}` : "";
  const asked = useAsked(path && `${path}&limit=${FIRST}`);
  const [looked, setLooked] = useState(/** @type {Further} */ ({ path: "", found: [] }));
  /** @type {Further} */
  const further = looked.path === path ? looked : { path, found: [], after: asked.value?.after };
  const names = new Map([...(asked.value?.found ?? []), ...further.found].map(({ by, name }) => [by, name]));
  const goOn = async () => {
    setLooked({ ...further, isBusy: true, failure: "" });
    try {
      const next = await ask(`${path}&limit=${MORE}&after=${encodeURIComponent(further.after ?? "")}`);
      setLooked({ path, found: [...further.found, ...next.found], after: next.after });
    } catch (problem) {
      setLooked({ ...further, failure: told(asFailure(problem)) });
    }
  };
  const isLeft = further.after !== undefined && tokens.some((each) => !names.has(each));
  return {
    named: (one) => (isUnnamed(one) && names.has(one.by) ? { ...one, name: names.get(one.by) } : one),
    more: html`${asked.failure && html`<${Problem} failure=${asked.failure} again=${asked.again} />`}
      ${further.failure && html`<p class="bad-text" role="alert">${further.failure}</p>`}
      ${isLeft && html`<p><button type="button" class="quiet" disabled=${further.isBusy} onClick=${goOn}>Look through more names</button></p>`}`,
  };
}
