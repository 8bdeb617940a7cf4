// Score tables and figures. Invariant: a figure's numbers are also in a table, and a section without data is not shown.

const EFFORT = [["verifiers", "n"], ["steps", "n"], ["time", "n"], ["cost", "n"], ["per task", "n"], ["per success", "n"]];
const HEADS = ["success (95% interval)", ["passed", "n"], ["failed", "n"], "not scored", ...EFFORT];

const numbersOf = (score) => [rateCell(score.success), count(score.passed), count(score.failed), unscored(score), ...effortOf(score)];

function effortOf(score) {
  const { verifiers } = score;
  return [
    verifiers.total ? percent(verifiers.passed / verifiers.total) : NOTHING, number(score.mean_steps), seconds(score.mean_seconds),
    dollars(score.cost_usd), score.cost_per_task == null ? NOTHING : dollars(score.cost_per_task),
    score.cost_per_success == null ? NOTHING : dollars(score.cost_per_success),
  ];
}

/** Trials without a score by reason, and how often trials were tried. */
const unscored = ({ not_scored: reasons, attempts_per_scored: attempts }) => Object.keys(reasons).length > 0 && attempts != null
  ? [reasonCounts(reasons), ` (${attempts.toFixed(2)} attempts per scored trial)`] : reasonCounts(reasons);

const NAMES = ["model", "agent", "profile", "mode", "domain"];

/** Every cell; null if each agent has one cell, which the ranking shows. */
function scores({ data }) {
  if (data.agents.length > 1 && data.cells.length === data.agents.length) return null;
  const profiles = new Map(data.agents.map(({ agent, profile }) => [agent, profile]));
  const names = ({ model, agent, mode, domain }) => [model, agent, profiles.get(agent), mode, domain];
  const cells = data.cells.map(({ cell, score }) => [...names(cell), ...numbersOf(score)]);
  return tableOfCells("Scores by cell", NAMES, HEADS, cells);
}

/** A table whose rows begin with names; names that all rows share, but for the model's, stand above it instead. */
function tableOfCells(label, names, heads, rows) {
  const shared = names.map((name, i) => name !== "model" && rows.length > 1 && rows.every((row) => row[i] === rows[0][i]));
  const kept = (_, i) => !shared[i];
  const note = names.flatMap((name, i) => shared[i] && rows[0][i] ? [`${name} ${rows[0][i]}`] : []);
  return [note.length > 0 && h("p", { class: "quiet" }, `In all rows: ${note.join(", ")}.`),
    tableOf(label, [...names, ...heads].filter(kept), rows.map((row) => row.filter(kept)))];
}

/** The run among the published rows; null unless it is of the same tasks. */
function beside({ data }) {
  if (data.beside == null) return null;
  const { title, average, rows, tests, notes } = data.beside;
  const domains = Object.keys(rows[0].domains);
  const shown = rows.map((row) => [row.own ? h("b", {}, `${row.model} ${row.agent}`) : row.model,
    rateCell({ rate: row.average, interval: average === "tasks" ? row.interval : null }),
    row.stated == null ? NOTHING : percent(row.stated), ...domains.map((domain) => percent(row.domains[domain]))]);
  const tested = tests.map(({ own, published, difference, interval: range, p_value: p }) =>
    [own, published, points(difference), `${points(range.low)} to ${points(range.high)}`, p < 0.001 ? "< 0.001" : p.toFixed(3)]);
  return [
    h("p", { class: "quiet" }, title),
    tableOf("Own and published rows", ["model", `mean over ${average}`, ["as stated", "n"], ...domains.map((one) => [one, "n"])], shown),
    tableOf("Tests against published rows", ["own", "published", ["points", "n"], "95% interval", ["p", "n"]], tested),
    notes.map((note) => h("p", { class: "quiet" }, note)),
  ];
}

/** Success in each variant of the suite that the store has a run of; null if it has runs of one only. */
function variants({ data }) {
  if (data.variants == null) return null;
  const { runs, spreads } = data.variants;
  const rows = data.cells.map(({ cell: { model, agent, mode, domain } }, place) => [model, agent, mode, domain,
    ...(spreads[place] == null ? [NOTHING, NOTHING, NOTHING] : spreadCells(spreads[place])),
    ...runs.map(({ successes }) => shortRate(successes[place]))]);
  return [
    tableOfCells("Success by variant", ["model", "agent", "mode", "domain"], ["mean (95% interval)", "lowest – highest",
      ["std. deviation", "n"], ...runs.map(({ variant }) => [variant === 0 ? "as written" : `variant ${variant}`, "n"])], rows),
    h("p", { class: "quiet" }, "A variant has other names, numbers, dates and wordings, and the same solutions. "
      + "A model that knows the tasks by heart is better at those as written."),
  ];
}

const shortRate = (success) => success && incomplete(success)
  ? `${percent(success.rate)} (${worstBest(success.coverage)})` : percent(success?.rate);

const spreadCells = ({ mean, interval, lowest, highest, deviation }) =>
  [rateCell({ rate: mean, interval }), `${percent(lowest)} – ${percent(highest)}`, percent(deviation)];

/** Success by domain (columns) and model, with agent and mode where there are several. */
function heatMap(run) {
  const { cells } = run.data;
  const domains = distinct(cells.map(({ cell }) => cell.domain));
  if (domains.length < 2) return null;
  const rows = run.agents.map(({ name }) => name);
  const at = new Map(cells.map(({ cell, score }) => [`${nameOf(run, cell)}\n${cell.domain}`, score.success]));
  const table = rows.map((row) => [row, ...domains.map((domain) => percent(at.get(`${row}\n${domain}`)?.rate))]);
  return figure("heat", "Success rate of each model in each domain",
    { domains, rows, at }, heatOption, 90 + 34 * rows.length, tableOf("Success by domain and model", ["", ...domains], table));
}

/** Name in figures of the agent that a cell belongs to. */
const nameOf = (run, cell) => run.agents.find((one) => ["model", "agent", "mode"].every((part) => one[part] === cell[part]))?.name;

function horizons(run) {
  const bins = Object.keys(run.data.total.horizons);
  if (!bins.some((bin) => bin !== "unknown")) return null;
  const rows = run.agents.map((agent) => [agent.name, ...bins.map((bin) => withInterval(agent.score.horizons[bin]))]);
  const agents = shownAgents(run);
  const at = (agent, name) => pointOf(agent.name, name, agent.score.horizons[bins.find((bin) => inSteps(bin) === name)]);
  return figureOf(run, "horizon", "Success by the steps of the reference solution; lines are 95% intervals",
    { groups: bins.map(inSteps), agents, at, name: "success" }, dotsOption, dotsHeight(bins.length, agents.length), tableOf("Success by horizon", ["", ...bins.map(binName)], rows));
}

/** Success of the tasks with each tag, and of those without it. */
function tags(run) {
  const names = Object.keys(run.data.total.tags);
  if (!names.length) return null;
  const rows = run.agents.map((agent) => [agent.name, ...names.map((name) => withInterval(agent.score.tags[name]))]);
  return tableOf("Success by tag", ["", ...names], rows);
}

const binName = (bin) => bin.replace("<=", "≤ ").replace(">=", "≥ ").replace("-", "–");
const inSteps = (bin) => `${binName(bin)} steps`;

/** A figure of the agents that have a colour, with a note if there are others. */
function figureOf(run, ...rest) {
  const shown = shownAgents(run).length;
  return [figure(...rest), shown < run.agents.length && h("p", { class: "quiet" },
    `The ${shown} most successful of ${run.agents.length} agents are drawn; the numbers show all.`)];
}

function withInterval(success) {
  return success?.rate == null ? NOTHING : `${percent(success.rate)} (${interval(success.interval)}; ${plural(success.tasks, "task")}${
    incomplete(success) ? `; ${worstBest(success.coverage)}` : ""})`;
}

/** Cost per task against success; the front are the agents that no other beats in both. */
function pareto(run) {
  const known = run.agents.filter(({ score }) => score.cost_per_task != null && score.success.rate != null);
  if (known.length < 2) return null;
  const front = frontOf(known);
  const rows = [...known].sort((a, b) => a.score.cost_per_task - b.score.cost_per_task).map((agent) =>
    [agent.name, dollars(agent.score.cost_per_task), rateCell(agent.score.success), front.includes(agent) ? "on the front" : ""]);
  const missing = run.data.agents.length - known.length;
  return [
    figure("pareto", "Success against the cost per task; the line joins the agents that no other beats in both",
      { known, front }, paretoOption, 380, tableOf("Cost and success", ["", ["cost per task", "n"], "success", "front"], rows)),
    missing > 0 && h("p", { class: "quiet" }, `Not shown, because cost or score is unknown: ${missing}.`),
  ];
}

function frontOf(agents) {
  const sorted = [...agents].sort((a, b) =>
    a.score.cost_per_task - b.score.cost_per_task || b.score.success.rate - a.score.success.rate);
  let best = -1;
  return sorted.filter(({ score }) => {
    if (score.success.rate <= best) return false;
    best = score.success.rate;
    return true;
  });
}

function categories(run) {
  const names = Object.keys(run.data.total.categories);
  if (!names.length) return null;
  const shareText = (share) => share ? `${percent(rateOf(share))} (${shareOf(share)})` : NOTHING;
  const rows = run.agents.map((agent) => [agent.name, ...names.map((name) => shareText(agent.score.categories[name]))]);
  const agents = shownAgents(run);
  const at = (agent, name) => categoryPoint(agent, names.find((one) => words(one) === name));
  return figureOf(run, "categories", "Share of verifiers that passed, by category",
    { groups: names.map(words), agents, at, name: "verifiers passed" }, dotsOption, dotsHeight(names.length, agents.length),
    tableOf("Verifiers by category", ["", ...names.map(words)], rows));
}

function categoryPoint({ name, score }, category) {
  const share = score.categories[category];
  return share && { rate: rateOf(share), tooltip: [name, words(category), `${percent(rateOf(share))}, ${shareOf(share)} passed`] };
}

function failureModes(run) {
  const analysis = run.data.failure_modes;
  if (!analysis) return null;
  const sampled = analysis.analysed < analysis.failed;
  const intro = h("p", { class: "quiet" },
    `${sampled ? `${count(analysis.analysed)} of ` : ""}${plural(analysis.failed, "failed trial")} analysed by rules. A trial can have several failure modes. ${analysis.note}`);
  if (!analysis.modes.length) return [intro, h("p", {}, "No failure mode was detected.")];
  const rows = analysis.modes.map((mode, i) => [[modeLink(run, i), mode.weak && weakTag()], rateCell({ rate: mode.share, interval: mode.interval }),
    count(total(mode.trials)), count(total(mode.primary)), mode.description]);
  return [intro,
    figure("modes", "Failed trials by failure mode, as rules report them; intervals are in the tables; select one to see its trials", { analysis, run }, modesOption,
      120 + 34 * analysis.modes.length, byCell(run, analysis), (clicked) => { location.hash = modeAddress(run, clicked.dataIndex); }),
    tableOf("Failure modes", ["failure mode", "share of analysed (95% interval)", ["trials", "n"], ["primary", "n"], ["definition", "prose"]], rows)];
}

const weakTag = () => h("span", { class: "tag", title: "The rule finds too few of the cases, reports too many, or was not measured on enough of them" }, "weak");

const total = (list) => list.reduce((all, one) => all + one, 0);

const modeAddress = (run, i) => addressOf(["trials"], new URLSearchParams({ failure: run.modes[i].mode }));

function modeLink(run, i) {
  return h("a", { href: modeAddress(run, i) }, words(run.modes[i].mode));
}

function byCell(run, analysis) {
  const text = ({ trials, primary, intervals }, i) => `${trials[i]} (${primary[i]})${intervals[i] ? ` ${interval(intervals[i])}` : ""}`;
  const rows = run.cellNames.map((name, i) => [name, i]).filter(([, i]) => analysis.modes.some(({ trials }) => trials[i]))
    .map(([name, i]) => [name, ...analysis.modes.map((mode) => text(mode, i))]);
  return tableOf("Failure modes by cell: trials, primary ones in brackets, 95% interval of the share", ["cell", ...analysis.modes.map(({ mode }) => [words(mode), "n"])], rows);
}

const MODES = ["oracle", "plus_5_tools", "plus_10_tools", "plus_15_tools", "all_tools"];

/** Success by the number of tools shown to the agent. */
function overload(run) {
  const { agents } = run;
  const modes = distinct(agents.map(({ mode }) => mode)).sort((a, b) => MODES.indexOf(a) - MODES.indexOf(b));
  if (modes.length < 2) return null;
  const several = distinct(agents.map(({ agent }) => agent)).length > 1;
  const nameIn = ({ model, agent }) => several ? `${model} / ${agent}` : model;
  const lines = distinct(agents.map(nameIn)).map((name) => ({
    name, agents: modes.map((mode) => agents.find((one) => nameIn(one) === name && one.mode === mode)),
  }));
  const rows = lines.map(({ name, agents: ofModes }) => [name, ...ofModes.map((agent) => withInterval(agent?.score.success))]);
  return figure("overload", "Success by the tools shown to the agent, from those that a task needs to all tools; lines are 95% intervals",
    { modes, lines: lines.slice(0, SERIES) }, overloadOption, 320,
    tableOf("Success by mode", ["", ...modes.map(words)], rows));
}
