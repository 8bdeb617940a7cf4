// The table of trials: filters, order, pages. Invariant: the rows depend on the address alone, so that a link shows other
// users the same rows.

const PAGE = 100;
const NOT_SCORED = "!scored";
/** Filters: name, label, and the values to choose from. */
const CHOICES = [
  ["outcome", "Outcome", ({ data }) => [...data.outcomes, NOT_SCORED]],
  ["model", "Model", (run) => partsOf(run, "model")],
  ["agent", "Agent", (run) => partsOf(run, "agent")],
  ["tools", "Mode", (run) => partsOf(run, "mode")],
  ["domain", "Domain", (run) => partsOf(run, "domain")],
  ["reason", "Reason", ({ data }) => data.reasons.filter(Boolean)],
  ["failure", "Failure mode", ({ modes }) => modes.map(({ mode }) => mode)],
  ["flip", "Against baseline", ({ data }) => data.baseline ? ["lost", "won"] : []],
];
/** Parameters of the address that only the tasks by model read. */
const OF_GRID = ["tasks", "kind", "length", "order", "lines"];
const SINGLE = ["model", "agent", "tools", "domain"];
const FLIPS = { lost: -1, won: 1 };
const LABELS = { [NOT_SCORED]: "not scored" };

const partsOf = (run, part) => distinct(run.data.cells.map(({ cell }) => cell[part]));

/** Failed trials first, then those without a score. */
const ORDER = { failed: 0, passed: 2 };

/** Columns: name, label, class, what to sort by, and the cell. */
const TABLE = [
  ["outcome", "outcome", "", (run, row) => ORDER[outcomeOf(run, row)] ?? 1, outcomeCell],
  ["task", "task", "task", (run, row) => run.data.tasks[run.data.trials.task[row]].id, taskCell],
  ["cell", "cell", "", (run, row) => run.cellNames[run.data.trials.cell[row]], (run, row) => run.cellNames[run.data.trials.cell[row]]],
  ["reason", "reason", "reasons", reasonOf, reasonCell],
  ["verifiers", "verifiers", "n", (run, row) => share(run, row), verifiersCell],
  ["steps", "steps", "n", (run, row) => run.data.trials.steps[row], (run, row) => count(run.data.trials.steps[row])],
  ["calls", "calls", "n", (run, row) => run.data.trials.tool_calls[row], callsCell],
  ["cost", "cost", "n", (run, row) => run.data.trials.cost_usd[row] ?? -1, (run, row) => dollars(run.data.trials.cost_usd[row])],
  ["time", "time", "n", (run, row) => run.data.trials.seconds[row], (run, row) => seconds(run.data.trials.seconds[row])],
];

function share(run, row) {
  const { verifiers, verifiers_passed: passed } = run.data.trials;
  return verifiers[row] ? passed[row] / verifiers[row] : -1;
}

function outcomeCell(run, row) {
  const flip = run.data.trials.flip[row];
  return [verdict(outcomeOf(run, row)), " ", flip !== 0 && h("span", { class: `tag ${flip < 0 ? "bad" : "good"}` }, flip < 0 ? "lost" : "won")];
}

function taskCell(run, row, query) {
  const { task, trial } = run.data.trials;
  const { id, summary } = run.data.tasks[task[row]];
  return [h("a", { href: addressOf(trialPath(run, row), query) }, id, run.data.run.trials > 1 && h("span", { class: "quiet" }, ` trial ${trial[row] + 1}`)),
    summary && h("span", { class: "quiet summary" }, summary)];
}

function reasonCell(run, row) {
  return [words(reasonOf(run, row)), modesOf(run, row).map((i) => h("span", { class: "tag" }, words(run.modes[i].mode))).flatMap((tag) => [" ", tag])];
}

function verifiersCell(run, row) {
  const { verifiers, verifiers_passed: passed, published_score: published } = run.data.trials;
  const differs = published[row] != null && published[row] !== Number(outcomeOf(run, row) === "passed");
  return [verifiers[row] ? `${passed[row]} of ${verifiers[row]}` : NOTHING,
    differs && h("span", { class: "tag", title: "The published harness has another verdict" }, `published: ${published[row] ? "passed" : "failed"}`)];
}

function callsCell(run, row) {
  const { tool_calls: calls, tool_errors: errors } = run.data.trials;
  return errors[row] ? [count(calls[row]), h("span", { class: "bad" }, ` ${plural(errors[row], "error")}`)] : count(calls[row]);
}

/** Rows that pass the filters, in the requested order. */
function chosenRows(run, query) {
  const rows = [];
  const admits = [wordsTest(run, query.get("q") ?? ""), ...CHOICES.map(([name]) => choiceTest(run, name, query.get(name)))].filter(Boolean);
  for (let row = 0; row < run.size; row++) if (admits.every((test) => test(row))) rows.push(row);
  return sorted(run, rows, query.get("sort") || "outcome");
}

/** Every word in the task's id or summary, the reason, or the cell's name. */
function wordsTest(run, text) {
  const { task, reason, cell } = run.data.trials;
  const names = run.cellNames.map((name) => name.toLowerCase());
  const tests = text.toLowerCase().split(/\s+/).filter(Boolean).map((word) => [
    run.taskWords.map((words) => words.includes(word)), run.reasonWords.map((words) => words.includes(word)),
    names.map((words) => words.includes(word)),
  ]);
  if (!tests.length) return null;
  return (row) => tests.every(([tasks, reasons, cells]) => tasks[task[row]] || reasons[reason[row]] || cells[cell[row]]);
}

function choiceTest(run, name, value) {
  if (!value) return null;
  const { trials, outcomes, reasons, cells } = run.data;
  if (name === "outcome" && value === NOT_SCORED) {
    return (row) => !["passed", "failed"].includes(outcomes[trials.outcome[row]]);
  }
  if (name === "outcome") return equals(trials.outcome, outcomes.indexOf(value));
  if (name === "reason") return equals(trials.reason, reasons.indexOf(value));
  if (name === "flip") return equals(trials.flip, FLIPS[value]);
  if (name === "failure") {
    const bit = run.modes.findIndex(({ mode }) => mode === value);
    return (row) => bit >= 0 && (trials.modes[row] >>> bit & 1) === 1;
  }
  const part = name === "tools" ? "mode" : name;
  const fits = cells.map(({ cell }) => cell[part] === value);
  return (row) => fits[trials.cell[row]];
}

const equals = (column, value) => (row) => column[row] === value;

function sorted(run, rows, order) {
  const down = order.startsWith("-");
  const [, , , key] = TABLE.find(([name]) => name === order.replace("-", "")) ?? TABLE[0];
  const keys = new Map(rows.map((row) => [row, key(run, row)]));
  const sign = down ? -1 : 1;
  return rows.sort((a, b) => {
    const [x, y] = [keys.get(a), keys.get(b)];
    return x < y ? -sign : x > y ? sign : a - b;
  });
}

// --- the section ---

/** The rows that pass the filters, and the run's version and query that they were computed from. */
const table = { rows: [], shown: "" };

function trialsSection(run) {
  return [
    h("form", { id: "filters", role: "search", "aria-label": "Trials", submit: (event) => event.preventDefault() }, searchField(),
      h("span", { id: "choices" }), h("button", { type: "button", id: "clear", click: clearFilters }, "Clear filters")),
    h("p", { class: "counted" }, h("output", { id: "counted", "aria-live": "polite" }), " ",
      h("button", { type: "button", id: "csv", click: () => download(run) }, "Download as CSV")),
    h("div", { id: "rows" }),
    h("p", { class: "paging", id: "paging" }),
  ];
}

function searchField() {
  const input = h("input", { type: "search", id: "search", placeholder: "task, summary, reason, cell", "aria-keyshortcuts": "/", autocomplete: "off" });
  input.addEventListener("input", () => filterBy("q", input.value, { typed: true }));
  return h("div", { class: "choice" }, h("label", { for: "search" }, "Search"), input);
}

/** Shows a select for each filter with several values; selects stay as they are if no value changes. */
function updateChoices(run) {
  const element = byId("choices");
  const choices = CHOICES.map(([name, label, values]) => [name, label, values(run)])
    .filter(([name, , values]) => values.length > (SINGLE.includes(name) ? 1 : 0));
  const stamp = JSON.stringify(choices);
  if (element.dataset.stamp === stamp) return;
  element.dataset.stamp = stamp;
  replaceContent(element, choices.map(([name, label, values]) => {
    const id = `choose-${name}`;
    const select = h("select", { name, id }, h("option", { value: "" }, "all"), values.map((value) => h("option", { value }, LABELS[value] ?? words(value))));
    select.addEventListener("change", () => filterBy(name, select.value));
    return h("div", { class: "choice", "data-key": name }, h("label", { for: id }, label), select);
  }));
}

function filterBy(name, value, { typed = false } = {}) {
  const { query } = currentView();
  query.delete("page");
  query.set(name, value);
  go(["trials"], query, { replace: typed, scroll: false });
}

function clearFilters() {
  go(["trials"], [], { scroll: false });
  byId("search").focus();
}

/** Shows the rows of a query. */
function updateTrials(run, query) {
  const stamp = `${run.version} ${query}`;
  if (table.shown === stamp) return;
  table.shown = stamp;
  table.rows = chosenRows(run, query);
  updateChoices(run);
  const search = byId("search");
  if (search.value !== (query.get("q") ?? "")) search.value = query.get("q") ?? "";
  for (const select of byId("choices").querySelectorAll("select")) select.value = query.get(select.name) ?? "";
  byId("clear").hidden = ![...query].some(([name, value]) => value && !["sort", "page", ...OF_GRID].includes(name));
  byId("counted").textContent = table.rows.length === run.size ? plural(run.size, "trial") : `${count(table.rows.length)} of ${plural(run.size, "trial")}`;
  const pages = Math.max(1, Math.ceil(table.rows.length / PAGE));
  const page = Math.min(pages, Math.max(1, Number(query.get("page")) || 1));
  replaceContent(byId("rows"), table.rows.length ? rowsTable(run, query, page) : h("p", {}, run.size ? "No trial passes these filters." : "No trial has ended yet."));
  replaceContent(byId("paging"), pages > 1 && [pager("Previous", page - 1, pages), h("span", {}, `page ${count(page)} of ${count(pages)}`), pager("Next", page + 1, pages)]);
}

function rowsTable(run, query, page) {
  const shown = table.rows.slice((page - 1) * PAGE, page * PAGE);
  const body = shown.map((row) => h("tr", { "data-row": row },
    TABLE.map(([, , name, , cell]) => h("td", { class: name || null }, cell(run, row, query)))));
  const element = h("table", { class: "trials", click: openRow }, h("caption", { class: "unseen" }, "Trials"),
    h("thead", {}, h("tr", {}, TABLE.map((column) => sortHead(column, query.get("sort") || "outcome")))), h("tbody", {}, body));
  return scrolling("Trials", element);
}

/** A click anywhere in a row opens it, unless text is being selected. */
function openRow(event) {
  const row = event.target.closest("tr[data-row]");
  if (row && !event.target.closest("a, button") && !String(getSelection())) row.querySelector("a").click();
}

function sortHead([name, label, style], order) {
  const sort = order === name ? "ascending" : order === `-${name}` ? "descending" : null;
  const click = () => {
    const { query } = currentView();
    query.delete("page");
    query.set("sort", order === name ? `-${name}` : name);
    go(["trials"], query, { scroll: false });
  };
  return h("th", { scope: "col", class: style || null, "aria-sort": sort }, h("button", { type: "button", class: "sort", click }, label));
}

function pager(label, page, pages) {
  const click = () => {
    const { query } = currentView();
    query.set("page", page);
    go(["trials"], query);
  };
  return h("button", { type: "button", disabled: page < 1 || page > pages, click }, label);
}

/** Downloads the rows that pass the filters. */
function download(run) {
  const text = csvOf(run, table.rows);
  const link = h("a", { href: URL.createObjectURL(new Blob([text], { type: "text/csv" })), download: `${run.data.run.name}-trials.csv` });
  link.click();
  URL.revokeObjectURL(link.href);
  announce(`${plural(table.rows.length, "row")} written.`);
}

function csvOf(run, rows) {
  const { trials, tasks, cells } = run.data;
  const heads = ["model", "agent", "mode", "domain", "task_id", "trial", "outcome", "reason", "cost_usd", "steps", "tool_calls",
    "tool_errors", "seconds", "verifiers_passed", "verifiers", "horizon", "published_score", "failure_modes_by_rules", "flip"];
  const lines = rows.map((row) => {
    const { model, agent, mode, domain } = cells[trials.cell[row]].cell;
    const numbers = ["cost_usd", "steps", "tool_calls", "tool_errors", "seconds", "verifiers_passed", "verifiers", "horizon", "published_score"];
    return [model, agent, mode, domain, tasks[trials.task[row]].id, trials.trial[row], outcomeOf(run, row), reasonOf(run, row),
      ...numbers.map((name) => trials[name][row]), modesOf(run, row).map((i) => run.modes[i].mode).join(" "), ["lost", "", "won"][trials.flip[row] + 1]];
  });
  return [heads, ...lines].map((line) => line.map(csvField).join(",")).join("\r\n") + "\r\n";
}

/** A field, quoted so that spreadsheets do not take it for a formula. */
function csvField(value) {
  if (value == null) return "";
  if (typeof value === "number") return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
