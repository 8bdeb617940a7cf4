// Views of success over runs: trends of each schedule, and a leaderboard of each suite. Invariant: they show what the list of runs
// knows and request nothing; only runs that are over count, and every drawing has its numbers beside it.

import { folded, h, svg, tableOf } from "./dom.js";
import { NOTHING, count, dollars, interval, moment, percent, points } from "./format.js";

/** Most runs of a trend that are drawn. */
const DRAWN = 40;
const [WIDTH, HEIGHT] = [260, 46];

/** Success of every model over the runs of each schedule, else of each name. Runs are those of the list, newest first. */
export function trends(runs) {
  const groups = grouped(over(runs), (run) => `${run.schedule ? `schedule ${run.schedule}` : run.name}\n${run.suite}`);
  const shown = [...groups].filter(([, own]) => own.length > 1);
  if (!shown.length) return h("p", { class: "empty" }, "A trend needs two runs that are over, of one schedule, or of one name and suite.");
  return shown.map(([key, own]) => trend(key.split("\n"), own.toReversed()));
}

function trend([title, suite], runs) {
  const results = runs.flatMap((run) => run.numbers.agents.filter(({ rate }) => rate != null).map((agent) => ({ ...agent, run })));
  const lines = [...grouped(results, nameAmong(results))];
  const rows = lines.map(([name, line]) => [name, drawing(line.slice(-DRAWN)), rateWithInterval(line.at(-1)), change(line),
    `${percent(Math.min(...line.map(({ rate }) => rate)))} to ${percent(Math.max(...line.map(({ rate }) => rate)))}`, count(line.length)]);
  const each = runs.toReversed().map((run) => [runLink(run), moment(run.created_at), ...lines.map(([, line]) => rateWithInterval(line.find((one) => one.run === run)))]);
  return h("section", { "aria-label": `Trend of ${title}` }, h("h2", {}, title), h("p", { class: "quiet" }, `suite ${suite}`),
    tableOf(`Trend of ${title}, ${suite}`, ["model", "from the oldest run to the newest", "newest (95% interval)", "since the run before", "lowest to highest", ["runs", "n"]], rows),
    folded("Runs", tableOf(`Runs of ${title}, ${suite}`, ["run", "created", ...lines.map(([name]) => name)], each), { key: `trend-${title}-${suite}` }));
}

/** Dots with intervals in the order of time, between the lines of 0 % and 100 %. */
function drawing(line) {
  const x = (place) => 8 + place * (WIDTH - 16) / Math.max(1, line.length - 1);
  const y = (share) => HEIGHT - 5 - (HEIGHT - 10) * share;
  const edges = [0, 1].map((share) => svg("path", { class: "edge", d: `M0 ${y(share)}H${WIDTH}` }));
  const marks = line.map(({ rate, low, high, run }, place) => svg("g", {}, svg("title", {}, `${run.name}, ${moment(run.created_at)}: ${percent(rate)}`),
    low != null && svg("path", { class: "range", d: `M${x(place)} ${y(low)}V${y(high)}` }), svg("circle", { cx: x(place), cy: y(rate), r: 3.5 })));
  return svg("svg", { class: "trend", width: WIDTH, height: HEIGHT, "aria-hidden": "true" }, edges, marks);
}

function change(line) {
  const [before, now] = line.slice(-2);
  if (!now) return NOTHING;
  const href = `runs/${encodeURIComponent(now.run.run)}/?baseline=${encodeURIComponent(before.run.run)}`;
  return h("a", { href, "aria-label": `${points(now.rate - before.rate)}: compare the two newest runs` }, points(now.rate - before.rate));
}

/** The newest result of every model in each suite, from the best to the worst by the worst case. */
export function leaderboard(runs) {
  const suites = [...grouped(over(runs), (run) => run.suite)];
  if (!suites.length) return h("p", { class: "empty" }, "No run is over.");
  return suites.map(([suite, own]) => board(suite, own));
}

function board(suite, runs) {
  const results = runs.flatMap((run) => run.numbers.agents.filter(({ rate }) => rate != null).map((agent) => ({ ...agent, run })));
  const newest = [...grouped(results, identity).values()].map(([first]) => first).sort((a, b) => (b.worst ?? 0) - (a.worst ?? 0));
  const nameOf = nameAmong(newest);
  const rows = newest.map((one) => [nameOf(one), rateWithInterval(one), `${count(one.scored)} of ${count(one.total)}`,
    one.cost_per_task == null ? NOTHING : dollars(one.cost_per_task), runLink(one.run), moment(one.run.created_at)]);
  const names = [...new Set(newest.map(({ run }) => run.run))].join(" ");
  return h("section", { "aria-label": `Leaderboard of ${suite}` }, h("h2", {}, suite),
    tableOf(`Leaderboard of ${suite}`, ["model", "success (95% interval)", ["scored", "n"], ["per task", "n"], "run", "created"], rows),
    h("p", { class: "quiet" }, "By domain, with tests: ", h("code", {}, `opsgym leaderboard ${names}`)));
}

const over = (runs) => runs.filter(({ numbers, state }) => numbers && (state === "finished" || state === "stopped"));

const identity = ({ model, agent, mode }) => `${model} / ${agent} / ${mode}`;

/** The name of a result: its model, with agent and mode where these differ among the results. */
function nameAmong(results) {
  const parts = ["model", "agent", "mode"].filter((part) => part === "model" || new Set(results.map((one) => one[part])).size > 1);
  return (one) => parts.map((part) => one[part]).join(" / ");
}

function grouped(items, keyOf) {
  const groups = new Map();
  for (const item of items) groups.set(keyOf(item), [...groups.get(keyOf(item)) ?? [], item]);
  return groups;
}

const runLink = (run) => h("a", { href: `runs/${encodeURIComponent(run.run)}/` }, run.name);

const rateWithInterval = (one) => one ? [h("b", {}, percent(one.rate)), one.low != null && h("span", { class: "quiet" }, ` ${interval(one)}`)] : NOTHING;
