// The run: its data, values computed from it once, and updates.

const COLUMNS = [
  "cell", "task", "trial", "outcome", "reason", "cost_usd", "steps", "tool_calls", "tool_errors", "seconds",
  "verifiers_passed", "verifiers", "horizon", "published_score", "modes", "flip",
];

/** A run as the page uses it, from its data. */
function runOf(data) {
  const run = { data, version: 0 };
  index(run);
  return run;
}

/** Applies an update, whose trials replace those from `trials.offset` on. */
function update(run, data) {
  const { offset } = data.trials;
  const trials = { offset: 0 };
  for (const column of COLUMNS) {
    const rows = run.data.trials[column];
    rows.length = Math.min(rows.length, offset);
    for (const value of data.trials[column]) rows.push(value);
    trials[column] = rows;
  }
  run.data = { ...data, trials };
  run.version++;
  index(run);
}

function index(run) {
  const { cells, tasks, reasons } = run.data;
  run.size = run.data.trials.cell.length;
  run.cellNames = cells.map(({ cell }) => cellName(cell));
  run.cellKeys = cells.map(({ cell }) => cellKey(cell));
  run.taskWords = tasks.map((task) => `${task.id}\n${task.summary}`.toLowerCase());
  run.reasonWords = reasons.map((reason) => reason.toLowerCase());
  run.modes = run.data.failure_modes?.modes ?? [];
  run.models = modelsOf(run.data.agents);
  run.agents = agentsOf(run.data.agents, run.models);
  run.rows = null;
  run.byTask = null;
}

const cellName = ({ model, agent, mode, domain }) => `${model}/${agent}/${mode}/${domain}`;
const cellKey = ({ model, agent, mode, domain }) => `${model}_${agent}_${mode}_${domain}`;

/** Agents, each with a name of the parts in which agents differ, its model's place among `models`, and the place of its agent and mode. */
function agentsOf(agents, models) {
  const parts = ["model", "agent", "mode"].filter((part) => part === "model" || distinct(agents.map((one) => one[part])).length > 1);
  const ways = distinct(agents.map(wayOf));
  return agents.map((agent) => ({ ...agent, name: parts.map((part) => agent[part]).join(" / "), hue: models.indexOf(agent.model), shape: ways.indexOf(wayOf(agent)) }));
}

const wayOf = ({ agent, mode }) => `${agent} ${mode}`;

const best = (agents) => [...agents].sort((a, b) => (b.score.success.rate ?? -1) - (a.score.success.rate ?? -1));

/** Models that have a hue: all, or those of the best agents, in the order of the run. */
function modelsOf(agents) {
  const kept = distinct(best(agents).map(({ model }) => model)).slice(0, SERIES);
  return distinct(agents.map(({ model }) => model)).filter((model) => kept.includes(model));
}

/** Agents that a figure shows: all, or the best ones if there are more than `SERIES`. */
function shownAgents({ agents }) {
  const kept = best(agents).slice(0, SERIES);
  return agents.filter((agent) => kept.includes(agent));
}

const distinct = (list) => [...new Set(list)];

/** Most agents in a figure, and most models with a hue: as many as eyes can separate. */
const SERIES = 8;

/** Row of a trial; -1 if it is not in the table. */
function rowOf(run, key, task, trial) {
  run.rows ??= rowsByName(run);
  return run.rows.get(rowName(run.cellKeys.indexOf(key), task, trial)) ?? -1;
}

const rowName = (cell, task, trial) => `${cell}\n${trial}\n${task}`;

function rowsByName(run) {
  const { cell, task, trial } = run.data.trials;
  const rows = new Map();
  for (let row = 0; row < run.size; row++) {
    rows.set(rowName(cell[row], run.data.tasks[task[row]].id, trial[row]), row);
  }
  return rows;
}

/** Path of a trial's view. */
function trialPath(run, row) {
  const { cell, task, trial } = run.data.trials;
  return ["trial", run.cellKeys[cell[row]], run.data.tasks[task[row]].id, String(trial[row])];
}

const outcomeOf = (run, row) => run.data.outcomes[run.data.trials.outcome[row]];
const reasonOf = (run, row) => run.data.reasons[run.data.trials.reason[row]];

/** Failure modes of a row, by position in `run.modes`. */
const modesOf = (run, row) => run.modes.map((_, i) => i).filter((i) => run.data.trials.modes[row] >>> i & 1);

/** Rows of a task in a cell. */
function rowsOf(run, cell, task) {
  run.byTask ??= rowsByTask(run);
  return run.byTask.get(cell * run.data.tasks.length + task) ?? [];
}

function rowsByTask(run) {
  const { cell, task } = run.data.trials;
  const groups = new Map();
  for (let row = 0; row < run.size; row++) {
    const key = cell[row] * run.data.tasks.length + task[row];
    if (groups.has(key)) groups.get(key).push(row);
    else groups.set(key, [row]);
  }
  return groups;
}
