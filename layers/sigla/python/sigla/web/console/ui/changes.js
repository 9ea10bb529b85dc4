/** Changes: each is asked about once, in a question that says what it will do. */

import { html, useEffect, useRef, useState } from "./vendor/preact.js";
import { asFailure, tellDone, told } from "./parts.js";
import { SLOW_MS } from "./registry.js";

/**
 * A button that asks before it does something.
 *
 * @param {{
 *   label: string, about?: string, title: string, does: string, children: any, run: (said: FormData) => Promise<import("./parts.js").Done | void>,
 *   isGrave?: boolean, isMain?: boolean, may?: boolean, whenOpen?: (isOpen: boolean) => void,
 * }} given
 *   label: of the button. about: what it is about, for who does not see where the button stands. title: of the question. does: on the button that does it. children: what it will do.
 *   may: whether it can be done as things stand
 */
export function Change({ label, about, title, does, children, run, isGrave, isMain, may = true, whenOpen }) {
  const [isOpen, setOpen] = useState(false);
  const open = (/** @type {boolean} */ now) => {
    setOpen(now);
    whenOpen?.(now);
  };
  return html`<button class=${isMain ? "" : isGrave ? "quiet grave" : "quiet"} onClick=${() => open(true)}>${label}${about && html` <span class="unseen">${about}</span>`}</button>
    ${isOpen && html`<${Question} title=${title} does=${does} run=${run} isGrave=${isGrave} may=${may} close=${() => open(false)}>${children}<//>`}`;
}

/** @param {{title: string, does: string, children: any, run: (said: FormData) => Promise<import("./parts.js").Done | void>, isGrave?: boolean, may: boolean, close: () => void}} given */
function Question({ title, does, children, run, isGrave, may, close }) {
  const dialog = useRef(/** @type {HTMLDialogElement | undefined} */ (undefined));
  const [failure, setFailure] = useState(/** @type {import("./registry.js").Failure | undefined} */ (undefined));
  const [isBusy, setBusy] = useState(false);
  const [isSlow, setSlow] = useState(false);
  const isSeen = useRef(true);
  useEffect(() => {
    dialog.current?.showModal();
    return () => void (isSeen.current = false);
  }, []);
  // The browser puts the focus back to where it was, which it does not where a window is taken away.
  const shut = () => dialog.current?.close();
  const go = async (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    const said = new FormData(/** @type {HTMLFormElement} */ (event.currentTarget));
    setFailure(undefined);
    setBusy(true);
    const slow = setTimeout(() => setSlow(true), SLOW_MS);
    try {
      const what = await run(said);
      shut();
      if (what) tellDone(what);
    } catch (problem) {
      const found = asFailure(problem);
      if (!isSeen.current) tellDone({ text: `${title} ${told(found)}`, isBad: true });
      setFailure(found);
      setBusy(false);
    }
    clearTimeout(slow);
    setSlow(false);
  };
  return html`<dialog ref=${dialog} aria-labelledby="question" onClose=${close}>
    <form onSubmit=${go}>
      <h2 id="question">${title}</h2>
      ${children}
      ${failure && html`<p class="problem" role="alert">${told(failure)}</p>`}
      ${isSlow && html`<p class="hint" role="status">The registry is slow to answer; still waiting. Closing this stops nothing: the page tells what came of it.</p>`}
      <div class="buttons">
        <button type="button" class="quiet" onClick=${shut}>${isBusy ? "Close" : "Cancel"}</button>
        <button class=${isGrave ? "grave" : ""} disabled=${!may || isBusy}>${isBusy ? "Working …" : does}</button>
      </div>
    </form>
  </dialog>`;
}
