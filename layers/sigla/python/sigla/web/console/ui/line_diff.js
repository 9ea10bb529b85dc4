/** Which lines two texts have in common: Myers' greedy algorithm, after what is alike at both ends is set aside. */

const MOST_STEPS = 2000;

/** @typedef {{kind: "same" | "added" | "removed", text: string, old?: number, new?: number}} Line */

/**
 * Every line of both texts in order, with its number in each. Undefined where they have too little in common.
 *
 * @param {string} before @param {string} after @returns {Line[] | undefined}
 */
export function lineDiff(before, after) {
  const [old, now] = [before.split("\n"), after.split("\n")];
  let head = 0;
  while (head < old.length && head < now.length && old[head] === now[head]) head += 1;
  let tail = 0;
  const most = Math.min(old.length, now.length) - head;
  while (tail < most && old[old.length - 1 - tail] === now[now.length - 1 - tail]) tail += 1;
  const moves = path(old.slice(head, old.length - tail), now.slice(head, now.length - tail));
  if (!moves) return undefined;
  /** @type {Line[]} */
  const lines = [];
  let [x, y] = [0, 0];
  const add = (/** @type {Line["kind"]} */ kind) => {
    const line = /** @type {Line} */ ({ kind, text: kind === "added" ? now[y] : old[x] });
    if (kind !== "added") line.old = ++x;
    if (kind !== "removed") line.new = ++y;
    lines.push(line);
  };
  while (x < head) add("same");
  for (const kind of moves) add(kind);
  while (x < old.length) add("same");
  return lines;
}

/** @param {string[]} old @param {string[]} now @returns {Line["kind"][] | undefined} */
function path(old, now) {
  const most = Math.min(old.length + now.length, MOST_STEPS);
  /** @type {Map<number, number>[]} */
  const trace = [];
  const furthest = new Map([[1, 0]]);
  for (let steps = 0; steps <= most; steps += 1) {
    trace.push(new Map(furthest));
    for (let k = -steps; k <= steps; k += 2) {
      let x = isDown(furthest, k, steps) ? at(furthest, k + 1) : at(furthest, k - 1) + 1;
      while (x < old.length && x - k < now.length && old[x] === now[x - k]) x += 1;
      furthest.set(k, x);
      if (x >= old.length && x - k >= now.length) return back(trace, old.length, now.length);
    }
  }
  return undefined;
}

/** @param {Map<number, number>[]} trace @param {number} x @param {number} y */
function back(trace, x, y) {
  /** @type {Line["kind"][]} */
  const moves = [];
  for (let steps = trace.length - 1; steps >= 0; steps -= 1) {
    const furthest = trace[steps];
    const k = x - y;
    const isAdded = isDown(furthest, k, steps);
    const from = isAdded ? k + 1 : k - 1;
    const [beforeX, beforeY] = steps ? [at(furthest, from), at(furthest, from) - from] : [0, 0];
    while (x > beforeX && y > beforeY) {
      moves.push("same");
      x -= 1;
      y -= 1;
    }
    if (steps) {
      moves.push(isAdded ? "added" : "removed");
      [x, y] = [beforeX, beforeY];
    }
  }
  return moves.reverse();
}

/** @param {Map<number, number>} furthest @param {number} k @param {number} steps */
function isDown(furthest, k, steps) {
  return k === -steps || (k !== steps && at(furthest, k - 1) < at(furthest, k + 1));
}

/** @param {Map<number, number>} furthest @param {number} k */
function at(furthest, k) {
  return furthest.get(k) ?? 0;
}
