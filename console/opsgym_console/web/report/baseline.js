// The comparison with an earlier run: tasks with another result first, losses before wins.

const FLIPS_SHOWN = 12;

function baseline(run) {
  const before = run.data.baseline;
  if (!before) return null;
  const { total } = before;
  return [
    h("p", {}, "Against ", h("b", {}, before.name || before.run), " ", h("code", {}, before.run), `, ${moment(before.created_at)}: `,
      `success ${percent(total.before)} → `, h("b", {}, percent(total.after)), ", ", difference(total), `, p = ${pValue(total.p_value)}, over ${plural(total.tasks, "task")} that both runs scored.`),
    !before.same_suite && h("p", { class: "warning" }, "The suites of the two runs differ: only tasks whose rows are the same are compared."),
    before.flips.length ? flips(run, before) : h("p", {}, "No task has another result."),
    before.cells.length > 1 && changes(run, before),
  ];
}

const pValue = (p) => p < 0.001 ? "< 0.001" : p.toFixed(3);

function difference(change) {
  const style = change.difference < 0 ? "bad" : change.difference > 0 ? "good" : "quiet";
  const range = change.interval && ` (${points(change.interval.low)} to ${points(change.interval.high)})`;
  return h("span", {}, h("b", { class: style }, points(change.difference)), range);
}

function flips(run, before) {
  const lost = before.flips.filter(isLost);
  const won = before.flips.filter((flip) => !isLost(flip));
  return h("div", { class: "pair" },
    flipList(run, "Lost", lost, before.total.lost, "lost"), flipList(run, "Won", won, before.total.won, "won"));
}

const rateOf = ({ passed, total }) => total ? passed / total : 0;
const isLost = (flip) => rateOf(flip.after) < rateOf(flip.before);

function flipList(run, title, list, trials, filter) {
  const name = filter === "lost" ? "failed" : "passed";
  const rest = list.length - FLIPS_SHOWN;
  return h("section", {}, h("h3", {}, verdict(name, `${title}: ${plural(list.length, "task")}, ${plural(trials, "trial")}`)),
    h("ul", { class: "flips" }, list.slice(0, FLIPS_SHOWN).map((flip) => flipItem(run, flip))),
    list.length > 0 && h("p", {}, h("a", { href: addressOf(["trials"], new URLSearchParams({ flip: filter })) },
      rest > 0 ? `${count(rest)} more; all trials ${filter}` : `All trials ${filter}`)));
}

function flipItem(run, flip) {
  const task = run.data.tasks[flip.task];
  const sign = isLost(flip) ? -1 : 1;
  const rows = rowsOf(run, flip.cell, flip.task);
  const row = rows.find((one) => run.data.trials.flip[one] === sign) ?? rows[0];
  const name = row === undefined ? task.id : h("a", { href: addressOf(trialPath(run, row), []) }, task.id);
  return h("li", {}, name, " ", h("span", { class: "quiet" }, run.cellNames[flip.cell], " · ",
    `${shareOf(flip.before)} → ${shareOf(flip.after)}`));
}

function changes(run, before) {
  const rows = before.cells.map(({ cell, change }) => [run.cellNames[cell], percent(change.before), percent(change.after),
    difference(change), count(change.lost), count(change.won), pValue(change.p_value)]);
  return tableOf("Change by cell",
    ["cell", ["before", "n"], ["after", "n"], "difference (95% interval)", ["lost", "n"], ["won", "n"], ["p", "n"]], rows);
}
