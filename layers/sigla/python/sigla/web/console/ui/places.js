/** Places in texts: the registry tells them of a text as it was sent or stored, and a page may have laid it out. */

import { readable } from "./schema_text.js";

/** @typedef {{line: number, column: number}} Place both from 1 */

/** How much of a text stands before a place, whose column counts whole characters. @param {string[]} lines @param {Place} place */
export function offsetOf(lines, { line, column }) {
  const before = lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0);
  return before + [...(lines[line - 1] ?? "")].slice(0, column - 1).join("").length;
}

/**
 * Where places of a stored text are once it is laid out, which changes nothing but white space.
 *
 * @param {string} text @param {string} type @returns {(place: Place) => Place & {says: string}} says: what stands in the line
 */
export function inReadable(text, type) {
  const shown = readable(text, type);
  const [lines, storedLines] = [shown.split("\n"), text.split("\n")];
  if (shown === text) return (place) => telling(lines, place);
  const [stored, laidOut, ends] = [text, shown].map(written).concat([lineEnds(shown)]);
  return (place) => {
    const offset = laidOut[countBelow(stored, offsetOf(storedLines, place))] ?? shown.length;
    const line = countBelow(ends, offset) + 1;
    const column = [...shown.slice(line > 1 ? ends[line - 2] + 1 : 0, offset)].length + 1;
    return telling(lines, { line, column });
  };
}

/** Where something stands that is not white space. @param {string} text */
function written(text) {
  /** @type {number[]} */
  const found = [];
  for (let at = 0; at < text.length; at += 1) if (text.charCodeAt(at) > 32) found.push(at);
  return found;
}

/** @param {string} text */
function lineEnds(text) {
  /** @type {number[]} */
  const found = [];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) found.push(at);
  return found;
}

/** How many are smaller. @param {number[]} sorted @param {number} than */
function countBelow(sorted, than) {
  let [from, to] = [0, sorted.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (sorted[middle] < than) from = middle + 1;
    else to = middle;
  }
  return from;
}

const LONGEST_SAID = 200;

/** The place, or what is in the next line where only a bracket stands there; and what that line says. @param {string[]} lines @param {Place} place */
export function telling(lines, { line, column }) {
  const [own, next] = [lines[line - 1] ?? "", lines[line] ?? ""];
  const isNext = !/\w/.test(own) && /\w/.test(next);
  const said = (isNext ? next : own).trim().slice(0, LONGEST_SAID);
  return { line: isNext ? line + 1 : line, column: isNext ? next.search(/\S/) + 1 : column, says: said };
}
