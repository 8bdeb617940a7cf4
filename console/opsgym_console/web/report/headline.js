// The summary: the run, its gate, success with its interval, and cost.

function headline(run, live) {
  const { data } = run;
  return [
    h("h1", { tabindex: "-1" }, data.run.name),
    h("p", { class: "quiet" }, facts(data.run).flatMap((fact, i) => i ? [" · ", fact] : [fact])),
    live && liveState(run, live),
    gateBox(data.run.gate),
    run.agents.length > 1 && ranking(run),
    h("div", { class: "cards" }, run.agents.length === 1 && successCard(data), outcomesCard(data), verifiersCard(data), costCard(data)),
  ];
}

/** Agents from the best to the worst; by the worst case, so that a trial without a score raises no one. */
function ranking(run) {
  const ranked = [...run.agents].sort((a, b) => worstOf(b) - worstOf(a) || (b.score.success.rate ?? -1) - (a.score.success.rate ?? -1));
  const several = distinct(run.data.cells.map(({ cell }) => cell.domain)).length > 1;
  const rows = ranked.map((agent) => {
    const { score } = agent;
    return [agent.name, rateCell(score.success), several && rateCell({ rate: agent.success_over_domains, interval: agent.domains_interval,
      coverage: { ...score.success.coverage, worst: agent.worst_over_domains, best: agent.best_over_domains } }),
    outcomesCell(score), ...effortOf(score)].filter((cell) => cell !== false);
  });
  const heads = [run.agents.some(({ agent, mode }) => run.agents[0].agent !== agent || run.agents[0].mode !== mode) ? "model, agent, mode" : "model",
    several ? "mean over tasks (95% interval)" : "success (95% interval)", several && "mean over domains", "trials", ...EFFORT].filter(Boolean);
  return h("section", { class: "ranking", "aria-label": "Ranking" }, tableOf("Models from the best to the worst", heads, rows));
}

const worstOf = ({ score }) => score.worst_rate ?? -1;

/** Outcomes of an agent's trials: a bar of parts, and the counts in words. */
function outcomesCell({ passed, failed, not_scored: lost }) {
  const parts = [["passed", passed, "good"], ["failed", failed, "bad"], ["not scored", sum(lost), "other"]];
  const text = parts.filter(([, value]) => value > 0).map(([name, value]) => `${count(value)} ${name}`).join(", ");
  return h("span", { class: "outcomes" }, partsBar(parts), h("span", { class: "quiet" }, text));
}

function facts(run) {
  return [
    h("span", {}, "run ", h("code", {}, run.id)),
    moment(run.created_at),
    `suite ${run.suite}`,
    run.trials > 1 && `${run.trials} trials per task`,
    `opsgym ${run.opsgym}`,
    run.schedule && `schedule ${run.schedule}`,
    run.rescored_from && h("span", {}, "rescored from ", h("code", {}, run.rescored_from)),
    !run.live && run.phase,
    !run.live && run.message,
  ].filter(Boolean);
}

/** State of a live run. */
function liveState(run, live) {
  const { total } = run.data;
  const ended = total.passed + total.failed + sum(total.not_scored) - (total.not_scored.pending ?? 0);
  const state = live.gone ? "This run has been deleted." : !live.connected ? "Connection lost; reconnecting."
    : run.data.run.live ? run.data.run.phase ?? "Running" : "Finished";
  return h("div", { class: `live ${live.gone || !live.connected ? "bad" : run.data.run.live ? "on" : "off"}` },
    h("b", {}, state), ` ${count(ended)} of ${plural(total.total, "trial")} ended`,
    run.data.run.message && ` · ${run.data.run.message}`,
    h("progress", { max: total.total || 1, value: ended, "aria-label": "Trials ended" }));
}

const sum = (counts) => Object.values(counts).reduce((all, one) => all + one, 0);

const VERDICTS = { "GO": "good", "NO-GO": "bad", "INCONCLUSIVE": "other" };

function gateBox(gate) {
  if (!gate) return null;
  const checks = gate.checks.map((check) => h("li", {}, gateVerdict(check.verdict), h("span", {}, check.message)));
  return h("section", { class: `gate ${VERDICTS[gate.verdict]}`, "aria-labelledby": "gate-title" },
    h("h2", { id: "gate-title" }, "Gate ", gateVerdict(gate.verdict)),
    h("ul", {}, checks),
    h("p", { class: "quiet" }, `decided ${moment(gate.decided_at)}`, gate.baseline && [", against ", h("code", {}, gate.baseline)]));
}

const gateVerdict = (verdict) => h("span", { class: `badge ${VERDICTS[verdict]}` }, verdict);

function card(label, value, ...rest) {
  return h("section", { class: "card" }, h("h2", {}, label), h("p", { class: "value" }, value), rest);
}

function successCard({ total, run, cells }) {
  const { success } = total;
  const notScored = sum(total.not_scored);
  const { published } = total;
  const differs = published.rate != null && success.rate != null && Math.abs(published.rate - success.rate) >= 0.0005;
  return card("Success", percent(success.rate),
    rateBar(success.rate, success.interval),
    h("p", { class: "quiet" }, success.interval ? `95% interval ${interval(success.interval)}, ` : "",
      `mean over ${plural(success.tasks, "task")}${cells.length > 1 ? " and their cells" : ""}`,
      run.trials > 1 && `, ${shareOf(success.trials)} trials`),
    notScored > 0 && h("p", { class: "quiet" },
      `between ${percent(total.worst_rate)} and ${percent(total.best_rate)} if what is not scored all failed or all passed`),
    differs && h("p", { class: "quiet" }, `published rules: ${percent(published.rate)} of ${plural(published.trials.total, "trial")}; an error counts as 0`));
}

function outcomesCard({ total }) {
  const notScored = sum(total.not_scored);
  const where = (outcome) => addressOf(["trials"], new URLSearchParams({ outcome }));
  const parts = [
    ["passed", total.passed, "good", where("passed")],
    ["failed", total.failed, "bad", where("failed")],
    ["not scored", notScored, "other", where("!scored")],
  ];
  return card("Trials", count(total.total), partsFigure(parts, count),
    Object.keys(total.fail_reasons).length > 0 && h("p", { class: "quiet" }, `failed: ${words(reasonCounts(total.fail_reasons))}`),
    notScored > 0 && h("p", { class: "quiet" }, `not scored: ${words(reasonCounts(total.not_scored))}`),
    total.attempts_per_scored > 1 && h("p", { class: "quiet" }, `${total.attempts_per_scored.toFixed(2)} attempts per scored trial`));
}

function verifiersCard({ total }) {
  const { verifiers } = total;
  const rate = verifiers.total ? verifiers.passed / verifiers.total : null;
  return card("Verifiers", percent(rate), rateBar(rate, null),
    h("p", { class: "quiet" }, verifiers.total ? `${shareOf(verifiers)} passed` : "No verifier was executed."),
    total.mean_steps != null && h("p", { class: "quiet" },
      `per trial: ${number(total.mean_steps)} steps, ${number(total.mean_tool_calls)} tool calls, ${seconds(total.mean_seconds)}`));
}

function costCard({ total, run }) {
  const { usage } = total;
  const each = [
    total.cost_per_task != null && `${dollars(total.cost_per_task)} per task`,
    total.cost_per_success != null && `${dollars(total.cost_per_success)} per success`,
  ].filter(Boolean).join(", ");
  const spent = run.budget_usd && total.cost_usd != null ? Math.min(1, total.cost_usd / run.budget_usd) : null;
  return card("Cost", dollars(total.cost_usd), rateBar(spent, null),
    run.budget_usd != null && h("p", { class: "quiet" }, `of a budget of ${dollars(run.budget_usd)}`),
    each && h("p", { class: "quiet" }, each),
    h("p", { class: "quiet" }, `${count(usage.prompt_tokens)} tokens in, ${count(usage.completion_tokens)} out`));
}
