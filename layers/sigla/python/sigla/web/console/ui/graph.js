/** References as a picture: who refers on the left, what is referred to on the right, each version a link to its page. */

import { html, useLayoutEffect, useRef } from "./vendor/preact.js";
import { Link, split } from "./parts.js";
import { segment } from "./registry.js";

/** @typedef {{subject: string, version: number, id?: number, deleted?: boolean}} GraphNode */
/** @typedef {{from: number, to: number, name?: string}} GraphEdge */
/** @typedef {{subject: string, nodes: GraphNode[], edges: GraphEdge[], more: boolean, ends?: string[]}} Graph ends: where a part of one goes on */

const WIDTH = 180;
const HEIGHT = 42;
const BESIDE = 58;
const BELOW = 14;
const LONGEST = 22;
const SWEEPS = 4;

/**
 * The layer of each node: one beyond the furthest that refers to it. A circle, which references cannot make, ends at
 * the number of nodes.
 *
 * @param {number} count @param {GraphEdge[]} edges @returns {number[]}
 */
function layersOf(count, edges) {
  const layers = Array(count).fill(0);
  for (let turn = 0, isMoved = true; isMoved && turn < count; turn += 1) {
    isMoved = false;
    for (const { from, to } of edges) {
      if (layers[to] > layers[from]) continue;
      layers[to] = layers[from] + 1;
      isMoved = true;
    }
  }
  return layers;
}

/**
 * The nodes of each layer from top to bottom: each goes where its neighbours are on average, to and fro.
 *
 * @param {number[]} layers @param {GraphEdge[]} edges @returns {number[][]}
 */
function ordered(layers, edges) {
  /** @type {number[][]} */
  const rows = Array.from({ length: Math.max(0, ...layers) + 1 }, () => []);
  layers.forEach((layer, node) => rows[layer].push(node));
  const place = layers.map((layer, node) => rows[layer].indexOf(node));
  /** @type {number[][]} */
  const near = layers.map(() => []);
  for (const { from, to } of edges) {
    near[from].push(to);
    near[to].push(from);
  }
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    for (const row of sweep % 2 ? rows.toReversed() : rows) {
      const wanted = new Map(row.map((node) => [node, near[node].length ? near[node].reduce((sum, each) => sum + place[each], 0) / near[node].length : place[node]]));
      row.sort((a, b) => (wanted.get(a) ?? 0) - (wanted.get(b) ?? 0));
      row.forEach((node, at) => (place[node] = at));
    }
  }
  return rows;
}

/**
 * The nodes and edges of two parts of a graph. Of a version that both have, one may not know the id.
 *
 * @param {Graph} graph @param {Graph} part @returns {Pick<Graph, "nodes" | "edges">}
 */
export function joined(graph, part) {
  const nodes = [...graph.nodes];
  const places = new Map(nodes.map(({ subject, version }, at) => [`${version} ${subject}`, at]));
  const moved = part.nodes.map((node) => {
    const name = `${node.version} ${node.subject}`;
    const at = places.get(name) ?? nodes.length;
    places.set(name, at);
    nodes[at] = { ...node, ...nodes[at] };
    return at;
  });
  const edges = [...graph.edges, ...part.edges.map((edge) => ({ ...edge, from: moved[edge.from], to: moved[edge.to] }))];
  return { nodes, edges: [...new Map(edges.map((edge) => [`${edge.from} ${edge.to}`, edge])).values()] };
}

/** @param {{graph: Graph, label: string}} given */
export function GraphPicture({ graph, label }) {
  const { nodes, edges } = graph;
  const rows = ordered(layersOf(nodes.length, edges), edges);
  const tallest = Math.max(...rows.map((row) => row.length));
  const height = tallest * (HEIGHT + BELOW);
  /** @type {{x: number, y: number}[]} */
  const places = [];
  rows.forEach((row, layer) => {
    const above = (height - row.length * (HEIGHT + BELOW)) / 2;
    row.forEach((node, at) => (places[node] = { x: 2 + layer * (WIDTH + BESIDE), y: 2 + above + at * (HEIGHT + BELOW) }));
  });
  const own = places[nodes.findIndex((node) => node.subject === graph.subject)];
  const frame = useRef(/** @type {HTMLElement | undefined} */ (undefined));
  // What the picture is about is in sight, also where much refers to it.
  useLayoutEffect(() => frame.current?.scrollTo({ left: own.x + WIDTH + BESIDE - frame.current.clientWidth }), []);
  const width = rows.length * (WIDTH + BESIDE) - BESIDE + 4;
  return html`<div class="scroll graph" ref=${frame} tabindex="0" role="region" aria-label=${label}>
    <svg width=${width} height=${height + 4} viewBox=${`0 0 ${width} ${height + 4}`}>
      <defs><marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path d="M0 0 8 4 0 8z" /></marker></defs>
      ${edges.map(({ from, to }) => {
        const [a, b] = [places[from], places[to]];
        const [x, y, endX, endY] = [a.x + WIDTH, a.y + HEIGHT / 2, b.x - 2, b.y + HEIGHT / 2];
        return html`<path class="edge" marker-end="url(#arrow)" d=${`M${x} ${y}C${x + BESIDE / 2} ${y} ${endX - BESIDE / 2} ${endY} ${endX} ${endY}`} />`;
      })}
      ${nodes.map((node, at) => html`<${Node} node=${node} place=${places[at]} isOwn=${node.subject === graph.subject} />`)}
    </svg>
  </div>`;
}

/** @param {{node: GraphNode, place: {x: number, y: number}, isOwn: boolean}} given */
function Node({ node, place, isOwn }) {
  const { name } = split(node.subject);
  const shown = name.length > LONGEST ? `${name.slice(0, LONGEST - 1)}…` : name;
  const state = node.deleted ? ", soft-deleted" : node.id === undefined ? ", not to be seen" : "";
  return html`<${Link} to=${`subjects/${segment(node.subject)}/versions/${node.version}`} class=${`node ${isOwn ? "own" : ""} ${node.deleted ? "gone" : ""}`}
    label=${`${node.subject} version ${node.version}${state}`}>
    <title>${node.subject} version ${node.version}${state}</title>
    <rect x=${place.x} y=${place.y} width=${WIDTH} height=${HEIGHT} rx="5" />
    <text x=${place.x + 10} y=${place.y + 18}>${shown}</text>
    <text class="below" x=${place.x + 10} y=${place.y + 34}> version ${node.version}${state}</text>
  <//>`;
}
