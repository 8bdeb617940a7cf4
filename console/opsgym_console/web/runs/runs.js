// The list of runs and the views of it. Invariant: updates keep search, filters, focus and scroll position. All of them are in the
// address (?view=, ?q=, ?state=, ?suite=, ?order=), so that they can be shared and survive a reload.

import { byId, h, replaceContent, svg } from "./dom.js";
import { leaderboard, trends } from "./rates.js";
import { NOTHING, count, dollars, interval, moment, percent, plural } from "./format.js";

const FAST_MS = 2000; // poll interval while runs change
const SLOW_MS = 10000;
const STATES = {
  running: ["Running", "going"],
  waiting: ["Waiting", "waiting"],
  stalled: ["Stalled", "stalled"],
  stopped: ["Stopped", "over"],
  finished: ["Finished", "over"],
};
const VERDICTS = { "GO": "good", "NO-GO": "bad", "INCONCLUSIVE": "other" };
const HEADS = ["Pick", "Run", "State", ["Progress", "ended"], "Success, 95 % interval", ["Cost", "n"], "Gate", "Models", "Compare with"];

/** Orders of the list: label, and the value that is sorted, descending; runs without a value come last. */
const ORDERS = {
  "": ["newest first", null],
  best: ["best success first", ({ numbers }) => numbers?.agents[0]?.rate],
  worst: ["worst success first", ({ numbers }) => numbers?.agents.length ? 1 - Math.min(...numbers.agents.map(({ rate }) => rate ?? 1)) : null],
  cost: ["highest cost first", ({ numbers }) => numbers?.cost_usd],
  unscored: ["most trials not scored first", ({ numbers }) => numbers && numbers.ended - numbers.scored],
};
const VIEWS = { "": ["Runs", table], trends: ["Trends", trends], leaderboard: ["Leaderboard", leaderboard] };
const CHOICES = ["state", "suite", "order"];
const view = Object.hasOwn(VIEWS, new URLSearchParams(location.search).get("view") ?? "") ? new URLSearchParams(location.search).get("view") ?? "" : "";

let listing = null;
let etag = null;

async function poll() {
  try {
    const response = await fetch("api/runs", { headers: etag ? { "if-none-match": etag } : {} });
    if (response.status === 401) return location.reload();
    if (response.status !== 304) {
      const content = await response.json();
      if (!response.ok) throw new Error(content.detail);
      etag = response.headers.get("etag");
      listing = content;
      show();
    }
    showProblems(listing.problems);
  } catch (error) {
    showProblems([`The list cannot be read: ${error.message}`]);
  }
  const busy = listing && (listing.counting || listing.runs.some((run) => run.state === "running" || run.state === "waiting"));
  setTimeout(poll, busy && !document.hidden ? FAST_MS : SLOW_MS);
}

function showProblems(problems) {
  const list = byId("problems");
  list.hidden = problems.length === 0;
  list.replaceChildren(...problems.map((problem) => h("li", {}, problem)));
  byId("main").setAttribute("aria-busy", "false");
}

function show() {
  offerSuites();
  const filter = { text: byId("search").value.trim().toLowerCase(), state: byId("state").value, suite: byId("suite").value };
  const runs = ordered(listing.runs.filter((run) => matches(run, filter)), byId("order").value);
  byId("where").textContent = `${listing.stores.join(", ")}. Read-only.`;
  byId("counted").textContent = runs.length === listing.runs.length
    ? plural(runs.length, "run") : `${count(runs.length)} of ${plural(listing.runs.length, "run")}`;
  replaceContent(byId("picked"), view === "" ? pickedLink() : "");
  replaceContent(byId("list"), runs.length ? VIEWS[view][1](runs) : nothing());
  byId("main").setAttribute("aria-busy", "false");
}

/** Every suite that a run has can be chosen. */
function offerSuites() {
  const known = [...byId("suite").options].map(({ value }) => value);
  const suites = [...new Set(listing.runs.map(({ suite }) => suite))].filter((suite) => !known.includes(suite));
  byId("suite").append(...suites.map((suite) => h("option", { value: suite }, suite)));
}

function ordered(runs, order) {
  const value = ORDERS[order]?.[1];
  return value ? [...runs].sort((a, b) => (value(b) ?? -Infinity) - (value(a) ?? -Infinity)) : runs;
}

function matches(run, { text, state, suite }) {
  if (state && run.state !== state || suite && run.suite !== suite) return false;
  const texts = [run.name, run.run, run.namespace, run.schedule, run.suite, ...run.models, ...run.profiles, run.state, run.phase, run.verdict];
  const searched = texts.filter(Boolean).join("\n").toLowerCase();
  return text.split(/\s+/).every((word) => searched.includes(word));
}

function nothing() {
  if (listing.runs.length) return h("p", { class: "empty" }, "No run matches the search.");
  return h("p", { class: "empty" }, "No runs yet. ", h("code", {}, "opsgym run FILE"), " starts one.");
}

function table(runs) {
  const heads = HEADS.map((head) => [head].flat());
  const head = heads.map(([text, name]) => h("th", { scope: "col", role: "columnheader", class: name }, text));
  const rows = runs.map((run) => h("tr", { role: "row", "data-key": run.run }, cells(run, older(run)).map((cell, i) => {
    const [text, name] = heads[i];
    return i === 1 ? h("th", { scope: "row", role: "rowheader" }, cell)
      : h("td", { role: "cell", class: [name, cell.name].filter(Boolean).join(" "), "data-head": text }, cell.content);
  })));
  const body = h("tbody", { role: "rowgroup" }, rows);
  const list = h("table", { class: "runs", role: "table" }, h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, head)), body);
  return h("div", { class: "wide", role: "region", "aria-label": `Runs, ${ORDERS[byId("order").value][0]}`, tabindex: "0" }, list);
}

/** The earlier run to compare with: of the same schedule, else of the same name, else of the same suite. */
function older(run) {
  const before = listing.runs.slice(listing.runs.indexOf(run) + 1).filter((other) => other.stored);
  return before.find((other) => run.schedule && other.schedule === run.schedule)
    ?? before.find((other) => other.name === run.name) ?? before.find((other) => other.suite === run.suite) ?? null;
}

function cells(run, before) {
  const page = `runs/${encodeURIComponent(run.run)}/`;
  const numbers = run.numbers;
  return [
    { name: "pick", content: run.stored && pick(run) },
    [
      h("a", { class: "name", href: page }, run.name),
      h("span", { class: "below" }, [run.namespace, run.schedule && `schedule ${run.schedule}`, run.suite].filter(Boolean).join(" · ")),
      h("span", { class: "below" }, h("time", { datetime: run.created_at, title: moment(run.created_at) }, age(run.created_at))),
    ],
    { name: "state", content: state(run) },
    { content: progress(numbers) },
    { content: success(numbers) },
    { content: numbers ? dollars(numbers.cost_usd) : NOTHING },
    { content: run.verdict ? h("span", { class: `badge ${VERDICTS[run.verdict]}` }, run.verdict) : NOTHING },
    {
      name: "models",
      content: [run.models.join(", "), h("span", { class: "below" }, run.profiles.map((profile) => `profile ${profile}`).join(" · "))],
    },
    { content: before && run.stored ? comparison(run, before, page) : NOTHING },
  ];
}

/** Runs that are picked, in the order in which they were. */
let picked = [];

/** A box that picks a run; a third one takes the place of the first. */
function pick(run) {
  const box = h("input", { type: "checkbox", "aria-label": `Pick ${run.name} of ${moment(run.created_at)}`, checked: picked.includes(run.run) });
  box.addEventListener("change", () => {
    picked = box.checked ? [...picked, run.run].slice(-2) : picked.filter((one) => one !== run.run);
    show();
  });
  return box;
}

/** The link that compares the two picked runs: the newer one against the older. */
function pickedLink() {
  const [newer, before] = listing.runs.filter(({ run }) => picked.includes(run));
  if (!before) return picked.length ? "Pick another run to compare with." : "";
  return h("a", { href: `runs/${encodeURIComponent(newer.run)}/?baseline=${encodeURIComponent(before.run)}` },
    `Compare ${newer.name} of ${moment(newer.created_at)} with ${before.name} of ${moment(before.created_at)}`);
}

function state(run) {
  if (!run.state) return h("span", { class: "quiet" }, "Loading …");
  const [text, name] = STATES[run.state];
  const shown = run.phase && run.phase.toLowerCase() !== run.state ? `${text} (${run.phase})` : text;
  return [
    h("span", { class: `dot ${name}`, "aria-hidden": "true" }), shown,
    run.message ? h("span", { class: "below", title: run.message }, run.message) : null,
  ];
}

function progress(numbers) {
  if (!numbers) return NOTHING;
  const { ended, total } = numbers;
  return [`${count(ended)} of ${count(total)}`, meter(total ? ended / total : 0, ended === total ? "good" : "")];
}

function success(numbers) {
  if (!numbers || numbers.rate == null) return NOTHING;
  if (numbers.agents.length > 1) return perAgent(numbers);
  const range = numbers.low == null ? "" : ` ${interval({ low: numbers.low, high: numbers.high })}`;
  return [h("strong", {}, percent(numbers.rate)), h("span", { class: "quiet" }, range), meter(numbers.rate, "", numbers),
    numbers.scored < numbers.total && h("span", { class: "below" }, unscored(numbers))];
}

/** Most agents of a run whose success is listed. */
const LISTED = 4;

/** Success of each agent: one number over several of them would be of none. */
function perAgent(numbers) {
  const rest = numbers.agents.length - LISTED;
  return [numbers.agents.slice(0, LISTED).map(({ name, rate }) => h("span", { class: "agent" }, h("strong", {}, percent(rate)), ` ${name}`)),
    rest > 0 && h("span", { class: "below" }, `and ${count(rest)} more`),
    numbers.scored < numbers.total && h("span", { class: "below" }, unscored(numbers))];
}

/** The rates if every trial without a score failed, and if every one passed. */
const unscored = ({ worst, best, scored, total, attempts_per_scored: attempts }) =>
  `${percent(worst)} to ${percent(best)} with ${count(total - scored)} not scored, ${attempts.toFixed(2)} attempts per scored trial`;

function meter(share, name, range = null) {
  const whiskers = range?.low == null ? [] : [svg("path", {
    class: "whisker", d: `M${100 * range.low} 1v8M${100 * range.low} 5H${100 * range.high}M${100 * range.high} 1v8`,
  })];
  return svg("svg", { class: `meter bar ${name}`, viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" },
    svg("rect", { class: "all", width: 100, height: 10 }),
    svg("rect", { class: `part ${name}`, width: 100 * share, height: 10 }), whiskers);
}

function comparison(run, before, page) {
  const label = `Compare ${run.name} with ${before.name} of ${moment(before.created_at)}`;
  const text = before.name === run.name ? age(before.created_at) : `${before.name}, ${age(before.created_at)}`;
  return h("a", { href: `${page}?baseline=${encodeURIComponent(before.run)}`, "aria-label": `${text}: ${label}` }, text);
}

/** How long ago: `just now`, `5 min ago`, `3 h ago`, `12 days ago`. */
function age(stamp) {
  const minutes = Math.max(0, (Date.now() - Date.parse(stamp)) / 60000);
  if (minutes < 1) return "just now";
  if (minutes < 60) return `${Math.floor(minutes)} min ago`;
  if (minutes < 48 * 60) return `${Math.floor(minutes / 60)} h ago`;
  return `${Math.floor(minutes / 1440)} days ago`;
}

function choose() {
  const query = new URLSearchParams(view ? { view } : {});
  if (byId("search").value) query.set("q", byId("search").value);
  for (const name of CHOICES) if (byId(name).value) query.set(name, byId(name).value);
  history.replaceState(null, "", query.size ? `?${query}` : location.pathname);
  if (listing) show();
}

/** Fills the choices from the address. */
function offerChoices() {
  const query = new URLSearchParams(location.search);
  const wanted = query.get("suite");
  const options = { state: [["", "any"], ...Object.entries(STATES).map(([value, [text]]) => [value, text.toLowerCase()])],
    suite: [["", "any"], ...(wanted ? [[wanted, wanted]] : [])], order: Object.entries(ORDERS).map(([value, [text]]) => [value, text]) };
  for (const name of CHOICES) {
    byId(name).append(...options[name].map(([value, text]) => h("option", { value }, text)));
    if (options[name].some(([value]) => value === query.get(name))) byId(name).value = query.get(name);
  }
  byId("search").value = query.get("q") ?? "";
}

function start() {
  const [title] = VIEWS[view];
  byId("title").textContent = title;
  document.title = `${title} · opsgym`;
  byId("views").append(...Object.entries(VIEWS).map(([name, [text]]) =>
    h("a", { href: name ? `./?view=${name}` : "./", "aria-current": name === view ? "page" : null }, text)));
  byId("order").parentElement.hidden = view !== "";
  offerChoices();
  byId("filters").addEventListener("input", choose);
  byId("filters").addEventListener("submit", (event) => event.preventDefault());
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
    event.preventDefault();
    byId("search").focus();
  });
  poll();
}

start();
