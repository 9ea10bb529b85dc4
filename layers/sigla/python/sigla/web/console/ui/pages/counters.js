/** What the server counts, as `/metrics` tells it: what it is now, since its start, and since this page was opened. */

import { html, useEffect, useState } from "../vendor/preact.js";
import { Heading, Problem, Table, Waiting } from "../parts.js";
import { askCounters, useSession } from "../registry.js";

const EVERY_MS = 5000;
const REQUESTS = "sigla_requests_total";
const DURATIONS = "sigla_request_duration_seconds";
/** What is told of the process and of no use to a person, or told in the table of requests. */
const ELSEWHERE = new Set([REQUESTS, DURATIONS, "sigla_build_info", "kafka_schema_registry_node_count", "kafka_schema_registry_master_slave_role"]);

/**
 * @typedef {{name: string, labels: Record<string, string>, value: number}} Sample
 * @typedef {{name: string, kind: string, about: string, samples: Sample[]}} Metric
 * @typedef {{at: number, metrics: Metric[]}} Look at: seconds, on a clock that only goes on
 */

export default function CountersPage() {
  const [{ first, last, failure }, setSeen] = useState(/** @type {{first?: Look, last?: Look, failure?: any}} */ ({}));
  const [turn, setTurn] = useState(0);
  const session = useSession();
  useEffect(() => {
    const seen = (/** @type {Look} */ look) => setSeen((/** @type {any} */ before) => ({ first: isSame(before.last, look) ? before.first : look, last: look }));
    return looking(seen, (problem) => setSeen((/** @type {any} */ before) => ({ ...before, failure: problem })));
  }, [turn, session]);
  return html`
    <${Heading} title="Counters" />
    <p class="lead">What this server counts, as <span class="code">/metrics</span> tells it to Prometheus. Rates are since this page was opened. The page asks again every five seconds while it is visible.</p>
    ${failure?.isAbsent && html`<p>A function counts for CloudWatch, and cannot read what CloudWatch has of all of them.</p>`}
    ${failure && !failure.isAbsent && html`<${Problem} failure=${failure} again=${() => setTurn(turn + 1)} />`}
    ${last ? html`<${Shown} first=${first} last=${last} />` : !failure && html`<${Waiting} isSlow=${false} />`}
  `;
}

/**
 * Looks again and again while the page is seen, never sooner than after five seconds; what ends it.
 *
 * @param {(look: Look) => void} seen @param {(failure: any) => void} failed then it stops
 */
function looking(seen, failed) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  let next = 0;
  let isAsking = false;
  const stop = new AbortController();
  const look = async () => {
    isAsking = true;
    next = performance.now() + EVERY_MS;
    try {
      const text = await askCounters("metrics", stop.signal);
      isAsking = false;
      if (stop.signal.aborted) return;
      seen({ at: performance.now() / 1000, metrics: metricsOf(text) });
      plan();
    } catch (problem) {
      isAsking = false;
      if (!stop.signal.aborted) failed(problem);
    }
  };
  const plan = () => {
    clearTimeout(timer);
    if (document.visibilityState === "visible" && !isAsking) timer = setTimeout(look, Math.max(0, next - performance.now()));
  };
  document.addEventListener("visibilitychange", plan);
  look();
  return () => {
    clearTimeout(timer);
    stop.abort();
    document.removeEventListener("visibilitychange", plan);
  };
}

/** Whether both are of one run of the server: what it counts begins anew with each start. @param {Look | undefined} before @param {Look} now */
function isSame(before, now) {
  const started = (/** @type {Look | undefined} */ look) => look?.metrics.find(({ name }) => name === "process_start_time_seconds")?.samples[0]?.value;
  return before !== undefined && started(before) === started(now);
}

// --- what is shown -----------------------------------------------------------------------------------------------

/** @param {{first?: Look, last: Look}} given */
function Shown({ first, last }) {
  const lines = last.metrics.filter(({ name }) => !ELSEWHERE.has(name)).flatMap((metric) => metric.samples.map((sample) => ({ metric, sample })));
  const passed = first ? last.at - first.at : 0;
  return html`
    <section aria-labelledby="registry">
      <h2 id="registry">Registry and process</h2>
      <${Table} label="Registry and process" head=${["What", "Value", "Per minute"]}>
            ${lines.map(({ metric, sample }) => {
              const counts = metric.kind === "counter" || / since the start/.test(metric.about);
              return html`<tr key=${sample.name + JSON.stringify(sample.labels)}>
                <th scope="row">${metric.about}${Object.entries(sample.labels).map(([name, value]) => html` <span class="tag">${name} ${value}</span>`)} <div class="code hint">${sample.name}</div></th>
                <td>${shown(sample.name, sample.value)}</td>
                <td>${counts && passed > 0 ? `${perMinute(sample.value - valueOf(first, sample), passed)}${/_seconds_total$/.test(sample.name) ? " s" : ""}` : ""}</td>
              </tr>`;
            })}
      <//>
    </section>
    <${Requests} first=${first} last=${last} passed=${passed} />
  `;
}

/** @param {{first?: Look, last: Look, passed: number}} given passed: seconds */
function Requests({ first, last, passed }) {
  /** @type {Map<string, {method: string, route: string, answered: number, absent: number, failed: number, before: number}>} */
  const routes = new Map();
  for (const sample of samplesOf(last, REQUESTS)) {
    const { method, route, status } = sample.labels;
    const key = `${method} ${route}`;
    const row = routes.get(key) ?? { method, route, answered: 0, absent: 0, failed: 0, before: 0 };
    // What is not there is an answer, too: many ask whether something is set, or registered.
    row[status === "404" ? "absent" : Number(status) < 400 ? "answered" : "failed"] += sample.value;
    row.before += valueOf(first, sample);
    routes.set(key, row);
  }
  const whole = (/** @type {{answered: number, absent: number, failed: number}} */ { answered, absent, failed }) => answered + absent + failed;
  const rows = [...routes.values()].sort((a, b) => whole(b) - whole(a));
  if (!rows.length) return null;
  return html`<section aria-labelledby="requests">
    <h2 id="requests">Requests</h2>
    <${Table} label="Requests" head=${["Request", "Answered", "Not there", "Refused or failed", "Per minute", "Took on average"]}>
          ${rows.map(
            (row) => html`<tr key=${`${row.method} ${row.route}`}>
              <th scope="row" class="code">${row.method} ${row.route}</th>
              <td>${row.answered}</td>
              <td>${row.absent}</td>
              <td>${row.failed}</td>
              <td>${passed > 0 ? perMinute(whole(row) - row.before, passed) : ""}</td>
              <td>${averageOf(last, row)}</td>
            </tr>`,
          )}
    <//>
  </section>`;
}

/** @param {Look} look @param {{method: string, route: string}} of */
function averageOf(look, { method, route }) {
  const of = (/** @type {string} */ end) =>
    samplesOf(look, DURATIONS).find((each) => each.name === DURATIONS + end && each.labels.method === method && each.labels.route === route)?.value ?? 0;
  const count = of("_count");
  return count ? `${((of("_sum") / count) * 1000).toFixed(1)} ms` : "";
}

/** @param {number} more @param {number} seconds */
function perMinute(more, seconds) {
  const rate = (more / seconds) * 60;
  return rate && rate < 10 ? rate.toFixed(1) : String(Math.round(rate));
}

/** @param {string} name @param {number} value */
function shown(name, value) {
  if (name === "process_start_time_seconds") return `${new Date(value * 1000).toISOString().slice(0, 19).replace("T", " ")} UTC`;
  if (/_bytes$/.test(name)) return `${(value / 2 ** 20).toFixed(1)} MiB`;
  if (/_seconds(_total)?$/.test(name)) return `${value.toFixed(value < 10 ? 2 : 0)} s`;
  return String(value);
}

// --- Prometheus' text format -------------------------------------------------------------------------------------

/** @param {Look | undefined} look @param {string} name */
function samplesOf(look, name) {
  return look?.metrics.find((each) => each.name === name)?.samples ?? [];
}

/** The value of the same series in another look; 0 where it was not there yet. @param {Look | undefined} look @param {Sample} sample */
function valueOf(look, sample) {
  const key = JSON.stringify(sample.labels);
  for (const { samples } of look?.metrics ?? []) {
    const found = samples.find((each) => each.name === sample.name && JSON.stringify(each.labels) === key);
    if (found) return found.value;
  }
  return 0;
}

/** @param {string} text @returns {Metric[]} */
function metricsOf(text) {
  /** @type {Metric[]} */
  const metrics = [];
  for (const line of text.split("\n")) {
    const [, help, about] = /^# HELP (\S+) (.*)$/.exec(line) ?? [];
    if (help) metrics.push({ name: help, kind: "", about, samples: [] });
    const last = metrics.at(-1);
    const [, kind] = /^# TYPE \S+ (\S+)$/.exec(line) ?? [];
    if (kind && last) last.kind = kind;
    const [, name, labels, value] = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
    if (name && last) last.samples.push({ name, labels: labelsOf(labels ?? ""), value: Number(value) });
  }
  return metrics;
}

/** @param {string} text @returns {Record<string, string>} */
function labelsOf(text) {
  const found = text.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g);
  return Object.fromEntries([...found].map(([, name, value]) => [name, value.replace(/\\(.)/g, (_, each) => (each === "n" ? "\n" : each))]));
}
