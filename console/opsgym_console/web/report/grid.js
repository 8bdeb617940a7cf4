// Tasks by models: one line a task, one mark an agent, each leading to its trial. Invariant: what is shown follows from the
// address alone, and every mark says in words what it shows by colour.

const GRID_PAGE = 50;
/** Which tasks: name in addresses, label, and whether a task's line belongs to it. */
const SHOWN = [
  ["", "all tasks", () => true],
  ["differ", "where agents differ", ({ shares }) => distinct(shares.filter((share) => share != null)).length > 1],
  ["flaky", "where trials differ", ({ shares }) => shares.some((share) => share > 0 && share < 1)],
  ["none", "passed by none", ({ shares }) => shares.some((share) => share != null) && shares.every((share) => !share)],
  ["all", "passed by all", ({ shares }) => shares.every((share) => share === 1)],
  ["lost", "with trials not scored", ({ marks }) => marks.some(({ lost }) => lost)],
];
const ORDERS = [["", "hardest first"], ["easiest", "easiest first"], ["id", "by id"], ["horizon", "by steps of the reference solution"]];
const LENGTHS = [["", "any length"], ["4", "≤ 4 steps", 0, 4], ["8", "5–8 steps", 5, 8], ["12", "9–12 steps", 9, 12], ["16", "13–16 steps", 13, 16], ["17", "≥ 17 steps", 17, Infinity]];

/** The section; null if the run has ended trials of one task at most. */
function taskGrid(run) {
  if (run.data.tasks.length < 2 || !run.size) return null;
  const { query } = currentView();
  const lines = gridLines(run, query);
  const pages = Math.max(1, Math.ceil(lines.length / GRID_PAGE));
  const page = Math.min(pages, Math.max(1, Number(query.get("lines")) || 1));
  return [
    h("form", { class: "choices", "aria-label": "Tasks by model", submit: (event) => event.preventDefault() }, gridChoices(run, query)),
    h("p", { class: "quiet" }, h("output", {}, lines.length === run.data.tasks.length ? plural(lines.length, "task") : `${count(lines.length)} of ${plural(run.data.tasks.length, "task")}`),
      ". ✓ passed, ✕ failed, 1/3 passed some of its trials, ! not scored. Each mark leads to its trial."),
    lines.length > 0 && gridTable(run, lines.slice((page - 1) * GRID_PAGE, page * GRID_PAGE), query),
    pages > 1 && h("p", { class: "paging" }, gridPager("Previous tasks", page - 1, pages), h("span", {}, `page ${count(page)} of ${count(pages)}`), gridPager("Next tasks", page + 1, pages)),
  ];
}

/** Tasks that pass the filters, in the requested order, each with a mark for every agent. */
function gridLines(run, query) {
  const admits = SHOWN.find(([name]) => name === (query.get("tasks") ?? ""))?.[2] ?? (() => true);
  const [, , least, most] = LENGTHS.find(([name]) => name === (query.get("length") ?? "")) ?? LENGTHS[0];
  const domain = query.get("domain");
  const kind = query.get("kind");
  const cells = cellsOfAgents(run);
  const lines = run.data.tasks.map((task, position) => lineOf(run, cells, task, position)).filter((line) =>
    (!domain || line.domains.includes(domain)) && (!kind || kindsOf(line.task).includes(kind))
    && (least == null || (line.task.horizon >= least && line.task.horizon <= most && line.task.horizon != null)) && admits(line));
  const order = query.get("order") ?? "";
  const key = { id: ({ task }) => task.id, horizon: ({ task }) => task.horizon ?? -1, easiest: ({ mean }) => -mean }[order] ?? (({ mean }) => mean);
  return lines.map((line) => [key(line), line]).sort(([a, x], [b, y]) => a < b ? -1 : a > b ? 1 : x.position - y.position).map(([, line]) => line);
}

/** Positions of each agent's cells. */
const cellsOfAgents = (run) => run.agents.map((agent) => run.data.cells.flatMap(({ cell }, position) =>
  ["model", "agent", "mode"].every((part) => cell[part] === agent[part]) ? [position] : []));

function lineOf(run, cells, task, position) {
  const marks = cells.map((own) => markOf(run, own.flatMap((cell) => rowsOf(run, cell, position))));
  const shares = marks.map(({ share }) => share);
  const known = shares.filter((share) => share != null);
  const domains = distinct(marks.flatMap(({ rows }) => rows.map((row) => run.data.cells[run.data.trials.cell[row]].cell.domain)));
  return { task, position, marks, shares, domains, mean: known.length ? known.reduce((all, one) => all + one, 0) / known.length : 2 };
}

/** What became of a task's trials under one agent. */
function markOf(run, rows) {
  const passed = rows.filter((row) => outcomeOf(run, row) === "passed");
  const failed = rows.filter((row) => outcomeOf(run, row) === "failed");
  const scored = passed.length + failed.length;
  return { rows, passed: passed.length, scored, lost: rows.length - scored, share: scored ? passed.length / scored : null,
    first: failed[0] ?? rows.find((row) => !passed.includes(row)) ?? rows[0] };
}

function gridTable(run, lines, query) {
  const heads = run.agents.map(({ name }) => h("th", { scope: "col", class: "mark" }, name));
  const body = lines.map(({ task, marks }) => h("tr", {},
    h("th", { scope: "row" }, h("span", { class: "id" }, task.id), task.summary && h("span", { class: "quiet summary" }, task.summary)),
    marks.map((mark, i) => h("td", { class: "mark" }, gridMark(run, mark, run.agents[i], query)))));
  return scrolling("Tasks by model", h("table", { class: "grid" }, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "task"), heads)), h("tbody", {}, body)));
}

function gridMark(run, { rows, passed, scored, lost, first }, agent, query) {
  if (!rows.length) return h("span", { class: "quiet" }, NOTHING);
  const [style, sign] = !scored ? ["other", "!"] : passed === scored ? ["good", "✓"] : passed ? ["other", `${passed}/${scored}`] : ["bad", "✕"];
  const said = `${agent.name}: ${scored ? `passed ${passed} of ${scored}` : "no score"}${lost && scored ? `, ${lost} not scored` : ""}`;
  return h("a", { class: `spot ${style}`, href: addressOf(trialPath(run, first), query), "aria-label": said, title: said }, sign, lost > 0 && scored > 0 && h("sup", {}, "!"));
}

const kindsOf = (task) => [task.feasible ? "feasible" : "infeasible", ...task.tags];

function gridChoices(run, query) {
  const { cells, tasks, trials } = run.data;
  const simple = (names) => names.map((name) => [name, words(name)]);
  const choices = [
    ["tasks", "Tasks", SHOWN.filter(([name]) => (name !== "flaky" || run.data.run.trials > 1) && (name !== "differ" || run.agents.length > 1))],
    ["domain", "Domain of tasks", [["", "all"], ...simple(distinct(trials.cell.map((cell) => cells[cell].cell.domain)))]],
    ["kind", "Kind of task", [["", "all"], ...simple(distinct(tasks.flatMap(kindsOf)).sort())]],
    ["length", "Reference solution", LENGTHS],
    ["order", "Order", ORDERS],
  ];
  return choices.filter(([name, , values]) => values.length > 2 || name === "tasks").map(([name, label, values]) => {
    const select = h("select", { name, id: `grid-${name}` }, values.map(([value, text]) => h("option", { value, selected: value === (query.get(name) ?? "") }, text)));
    select.addEventListener("change", () => gridGo(name, select.value));
    return h("div", { class: "choice", "data-key": `grid-${name}` }, h("label", { for: `grid-${name}` }, label), select);
  });
}

function gridGo(name, value) {
  const { query } = currentView();
  query.delete("lines");
  query.set(name, value);
  go(["tasks"], query, { scroll: false });
}

function gridPager(label, page, pages) {
  const click = () => {
    const { query } = currentView();
    query.set("lines", page);
    go(["tasks"], query, { scroll: false });
  };
  return h("button", { type: "button", disabled: page < 1 || page > pages, click }, label);
}

/** The same task under other agents, and in its other trials. */
function sameTask(run, row, query) {
  const { task } = run.data.trials;
  const others = cellsOfAgents(run).flatMap((own, i) => own.flatMap((cell) => rowsOf(run, cell, task[row])).map((other) => [run.agents[i], other]));
  if (others.length < 2) return null;
  return h("p", { class: "same" }, h("span", { class: "quiet" }, "Same task: "), others.map(([agent, other]) => {
    const name = run.data.run.trials > 1 ? `${agent.name} trial ${run.data.trials.trial[other] + 1}` : agent.name;
    const text = [verdict(outcomeOf(run, other), name)];
    return other === row ? h("b", { "aria-current": "true" }, text) : h("a", { href: addressOf(trialPath(run, other), query) }, text);
  }));
}
