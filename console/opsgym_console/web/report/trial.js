// One trial: its outcome and why, transcript, changes of the databases, and how to repeat it.

/** Shows the trial of a path; stops when `isCurrent()` becomes false because the user left the view. */
async function showTrial(run, path, query, isCurrent) {
  const [, key, task, number] = path;
  const trial = Number(number);
  const row = rowOf(run, key, task, trial);
  const article = byId("trial");
  article.setAttribute("aria-busy", "true");
  article.replaceChildren(...trialTop(run, row, key, task, trial, query));
  document.title = `${task} · ${run.data.run.name} · opsgym`;
  const content = await trialContent(run, row, key, task, trial);
  if (!isCurrent()) return;
  article.append(...nodes(content));
  article.setAttribute("aria-busy", "false");
}

async function trialContent(run, row, key, task, trial) {
  try {
    const detail = await readDetail(run, row, key, task, trial);
    if (detail) return detailContent(run, detail);
    return [row === -1 ? h("p", { class: "warning" }, "This trial is not in the run, or has not ended yet.") : withoutDetail(run)];
  } catch (error) {
    return [h("p", { class: "warning", role: "alert" }, error.message)];
  }
}

function withoutDetail(run) {
  if (run.data.details !== "none") return h("p", { class: "warning" }, "There are no details of this trial: its record and transcript are not in the store.");
  return h("p", { class: "warning" }, "This page was written without transcripts. Write it with them: ", h("code", {}, `opsgym report ${quoted(run.data.run.id)} --transcripts beside --out DIR`));
}

function trialTop(run, row, key, task, trial, query) {
  const [before, after] = row === -1 ? [] : neighbours(run, row);
  const way = (label, to) => to === undefined ? h("span", { class: "quiet" }, label)
    : h("a", { href: addressOf(trialPath(run, to), query), "data-way": label }, label);
  return [
    h("nav", { class: "ways", "aria-label": "Trials" }, h("a", { href: addressOf(["trials"], query), id: "back", click: goBack }, "← All trials"),
      h("span", { class: "quiet counted" }), way("Previous failed", before), way("Next failed", after)),
    h("h1", { id: "trial-title", tabindex: "-1" }, task),
    h("p", { class: "quiet" }, cellTitle(run, key), run.data.run.trials > 1 ? ` · trial ${trial} of 0–${run.data.run.trials - 1}` : ""),
    row !== -1 && run.data.tasks[run.data.trials.task[row]].summary && h("p", { class: "request" }, run.data.tasks[run.data.trials.task[row]].summary),
    row !== -1 && trialFacts(run, row),
    row !== -1 && sameTask(run, row, query),
    row !== -1 && h("p", { class: "command" }, h("code", {}, repeatCommand(run, key, task, trial)), copyButton("Copy", repeatCommand(run, key, task, trial))),
  ].filter(Boolean);
}

const cellTitle = (run, key) => run.cellNames[run.cellKeys.indexOf(key)] ?? key;

/** Failed trials before and after a row, among those that the table shows, or among all. */
function neighbours(run, row) {
  const rows = table.rows.includes(row) ? table.rows : [...Array(run.size).keys()];
  const at = rows.indexOf(row);
  const failed = (one) => outcomeOf(run, one) === "failed";
  return [rows.slice(0, at).findLast(failed), rows.slice(at + 1).find(failed)];
}

function trialFacts(run, row) {
  const { trials } = run.data;
  const flip = trials.flip[row];
  return h("p", { class: "facts" }, verdict(outcomeOf(run, row)), reasonOf(run, row) && h("span", {}, words(reasonOf(run, row))),
    flip !== 0 && h("span", { class: `tag ${flip < 0 ? "bad" : "good"}` }, flip < 0 ? "passed in the baseline" : "failed in the baseline"),
    h("span", {}, plural(trials.steps[row], "step")), h("span", {}, plural(trials.tool_calls[row], "tool call")),
    trials.tool_errors[row] > 0 && h("span", { class: "bad" }, `${trials.tool_errors[row]} refused`),
    trials.horizon[row] != null && h("span", {}, `reference solution takes ${plural(trials.horizon[row], "step")}`),
    h("span", {}, seconds(trials.seconds[row])), h("span", {}, trials.cost_usd[row] == null ? "cost unknown" : dollars(trials.cost_usd[row])));
}

/** The command that runs this trial again, for a shell. */
function repeatCommand(run, key, task, trial) {
  const cell = run.cellNames[run.cellKeys.indexOf(key)] ?? key.replaceAll("_", "/");
  const { id, store } = run.data.run;
  const words = ["opsgym run --from", quoted(id), "--trial", quoted(`${task}/${trial}`), "--cell", quoted(cell)];
  return [...words, ...(store ? ["--from-store", quoted(store)] : [])].join(" ");
}

const quoted = (word) => /^[\w./:@-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;

function detailContent(run, detail) {
  const { scored, attempts } = detail;
  const log = transcript(run, detail);
  const last = attempts.at(-1);
  const checks = (scored?.verifiers ?? []).map((one) => [one, verifierItem(one, detail.checks?.find(({ index: at }) => at === one.index))]);
  const timings = (scored ?? last)?.timings;
  return [
    !scored && last?.message && h("p", { class: "warning" }, last.message),
    (detail.findings.length > 0 || detail.checks?.length > 0) && part("Why it failed", [shortfalls(detail, checks), findings(run, detail, log, checks)]),
    checks.length > 0 && part("Verifiers", h("ul", { class: "verifiers" }, [...checks].sort(([a], [b]) => rank(a) - rank(b)).map(([, item]) => item))),
    ...(scored?.day_answers ?? []).map((answer, index) => part(`Answer of day ${index + 1}`, longText(answer))),
    scored?.answer && part("Answer", longText(scored.answer)),
    h("div", { class: detail.reference ? "beside" : null },
      part("Transcript", [detail.tools.length > 0 && folded(`${plural(detail.tools.length, "tool")} shown to the agent`, toolsShown(run, detail)), log.list]),
      detail.reference && part("Reference solution", reference(detail.reference, log))),
    Object.keys(detail.differences).length > 0 && part("Changes of the database", differences(detail.differences)),
    timings && part("Time", timeFigure(timings)),
    attempts.length > 0 && part(attempts.length > 1 ? "Attempts" : "Attempt", attemptsTable(attempts)),
    scored && part("Tokens and versions", tokens(scored)),
  ];
}

/** What failed verifiers require, what they found instead, and the rules they rest on. */
function shortfalls(detail, checks) {
  const failed = (detail.checks ?? []).filter(({ shortfalls: found }) => found.length > 0);
  const first = new Map(failed.toReversed().flatMap((check) => check.rules.map((name) => [name, check])));
  return failed.length > 0 && h("ul", { class: "findings" }, failed.map((check) => h("li", {},
    h("p", {}, h("b", {}, check.sentence || checkName(detail, check.index)), " ", jump(`verifier ${check.index}`, checks.find(([one]) => one.index === check.index)[1])),
    h("ul", {}, check.shortfalls.map((text) => h("li", {}, text))),
    check.rules.filter((name) => detail.rules[name] && first.get(name) === check).map((name) => h("blockquote", {}, h("b", {}, name), " ", ruleText(detail.rules[name]))))));
}

/** A rule of a policy, its tables as tables. */
function ruleText(text) {
  return text.split(/\n{2,}/).map((part, i) => part.startsWith("|") ? ruleTable(part.split("\n")) : `${i ? "\n" : ""}${part}`);
}

function ruleTable(lines) {
  const [heads, ...rows] = lines.filter((line) => !/^[|:\s-]+$/.test(line)).map((line) => line.split("|").slice(1, -1).map((cell) => cell.trim()));
  return tableOf("Table of the rule", heads, rows);
}

const checkName = ({ scored }, index) => scored?.verifiers.find((one) => one.index === index)?.name || `verifier ${index}`;

const STATES = { read: ["quiet", "\u00b7", "reads"], made: ["good", "\u2713", "made"], different: ["other", "\u00b1", "made otherwise"], missing: ["bad", "\u2715", "not made"] };

/** The reference solution's calls, and what became of its writes; marks the agent's first other write in the transcript. */
function reference({ calls, parting, answer }, log) {
  const parted = parting != null && log.calls[parting];
  if (parted) parted.querySelector("summary").append(" ", h("span", { class: "tag bad" }, "first write that the reference solution does not make"));
  return [
    h("p", { class: "quiet" }, "One right way; reads and their order are free. ",
      parted && ["The agent first wrote something else in its ", jump(`call ${parting + 1}`, parted), "."]),
    h("ol", { class: "reference" }, calls.map((call) => {
      const [style, sign, text] = STATES[call.state];
      const made = call.call != null && log.calls[call.call];
      return h("li", {}, folded([h("span", { class: `verdict ${style}` }, h("span", { "aria-hidden": "true" }, sign), h("span", { class: "unseen" }, ` ${text} `)), " ", h("code", { class: "tool" }, call.name), " ",
        call.day > 1 && h("span", { class: "tag" }, `day ${call.day}`), call.gym && h("span", { class: "quiet" }, `${call.gym} `), h("span", { class: "quiet gist" }, gist(inLine(call.arguments)))], longText(pretty(call.arguments))),
      call.deviations.length > 0 && h("ul", {}, call.deviations.map(({ argument, due, given }) => h("li", {}, h("code", {}, argument), " ",
        h("del", {}, value(given)), " instead of ", h("ins", {}, value(due)))), made && h("li", {}, jump(`call ${call.call + 1}`, made))));
    })),
    answer && folded([h("b", {}, "Answer"), " ", h("span", { class: "quiet gist" }, gist(answer))], longText(answer)),
  ];
}

/** The tools with descriptions and schemas; their names alone if the store does not have the rest. */
function toolsShown(run, detail) {
  if (!detail.catalogue?.length) return h("p", { class: "quiet" }, detail.tools.join(", "));
  const texts = detail.texts?.length ? detail.texts : run.data.texts;
  return h("ul", { class: "catalogue" }, detail.catalogue.map(({ name, definition, text }) => {
    const whole = text == null ? definition : texts[text] ?? "";
    return h("li", {}, folded([h("code", { class: "tool" }, name), " ", h("span", { class: "quiet gist" }, gist(parsed(whole)?.description ?? ""))], longText(whole)));
  }));
}

function part(title, content) {
  return h("section", {}, h("h2", {}, title), content);
}

const EMPTY = "(empty text)";
const rank = (one) => one.executed ? Number(one.passed) * 2 : 1;

/** Types whose results are sentences; others are shown by their values. */
const IN_WORDS = ["state_difference", "looked_up", "never_called"];

function verifierItem(one, check) {
  const outcome = !one.executed ? "not_executed" : one.passed ? "passed" : "failed";
  const facts = check && IN_WORDS.includes(one.verifier_type) && !one.error ? [["Requires", check.sentence], ["But", check.shortfalls.join("\n")]].filter(([, text]) => text) : [
    [one.comparison ? `Expected (${words(one.comparison)})` : "Expected", pretty(one.expected) || EMPTY],
    ["Actual", pretty(one.actual) || EMPTY], ["Query", one.query], ["Error", one.error],
    ["Published harness", one.passed !== one.published_passed && (one.published_passed ? "passed" : "failed")],
  ].filter(([, text]) => text);
  const summary = [verdict(outcome), " ", h("b", {}, one.name || `verifier ${one.index}`), " ",
    h("span", { class: "quiet" }, [words(one.category), words(one.verifier_type), one.gym_name].filter(Boolean).join(" · ")),
    one.passed !== one.published_passed && h("span", { class: "tag" }, `published: ${one.published_passed ? "passed" : "failed"}`)];
  return h("li", { tabindex: "-1" }, folded(summary, h("dl", {}, facts.map(([label, text]) => h("div", {}, h("dt", {}, label), h("dd", {}, longText(text))))), { open: outcome !== "passed" }));
}

function findings(run, detail, log, checks) {
  return h("ul", { class: "findings" }, detail.findings.map((finding) => h("li", {},
    h("p", {}, h("b", {}, words(finding.mode)), finding.primary && h("span", { class: "tag" }, "primary"), isWeak(run, finding.mode) && h("span", { class: "tag" }, "weak rule"), " ", h("span", { class: "quiet" }, definition(run, finding.mode))),
    h("ul", {}, finding.evidence.map((evidence) => h("li", {}, evidence.detail, " ", evidenceLinks(evidence, log, checks)))))));
}

const isWeak = (run, mode) => run.modes.find((one) => one.mode === mode)?.weak;

const definition = (run, mode) => run.modes.find((one) => one.mode === mode)?.description ?? "";

function evidenceLinks(evidence, log, checks) {
  const call = evidence.call != null && log.calls[evidence.call];
  const step = evidence.step != null && log.steps.get(evidence.step);
  const check = evidence.verifier != null && checks.find(([one]) => one.index === evidence.verifier)?.[1];
  return [
    call && jump(evidence.tool ? `call of ${evidence.tool}` : `call ${evidence.call + 1}`, call),
    !call && step && jump(`step ${evidence.step}`, step),
    check && jump(`verifier ${evidence.verifier}`, check),
  ];
}

/** A button that scrolls to an element of the trial and unfolds it. */
function jump(label, target) {
  const click = () => {
    for (const fold of target.querySelectorAll(":scope > details")) fold.open = true;
    target.scrollIntoView({ block: "center" });
    target.focus({ preventScroll: true });
  };
  return h("button", { type: "button", class: "jump", click }, label);
}

function timeFigure(timings) {
  const { seed_s: seed, connect_s: connect, model_s: model, wait_s: wait, tools_s: tools, verify_s: verify, total_s: all } = timings;
  const rest = Math.max(0, all - seed - connect - model - tools - verify);
  const parts = [["seed", seed, "c1"], ["connect", connect, "c2"], ["model", model - wait, "c3"], ["waiting for the model", wait, "c4"],
    ["tools", tools, "c5"], ["verify", verify, "c6"], ["rest", rest, "c7"]];
  return [h("p", {}, `${seconds(all)}, from ${moment(timings.started_at)}`), partsFigure(parts, seconds)];
}

function attemptsTable(attempts) {
  return tableOf("Attempts", ["attempt", "outcome", "reason", ["steps", "n"], ["retries", "n"], ["too many requests", "n"], ["refused requests", "n"], ["time", "n"], ["cost", "n"], ["message", "prose"]],
    attempts.map((one) => [String(one.attempt), verdict(one.outcome ?? "interrupted"), words(one.reason), count(one.steps), count(one.model_retries),
      count(one.rate_limits), count(one.refused_requests), seconds(one.timings.total_s), dollars(one.cost_usd), one.message]));
}

function tokens({ usage, planner_usage: planner, judge_usage: judge, versions, prices }) {
  const rows = [["agent", usage], ["of which planner", planner], ["judge", judge]].filter(([, used]) => used.model_calls)
    .map(([name, used]) => [name, ...["model_calls", "prompt_tokens", "cached_tokens", "completion_tokens", "reasoning_tokens"].map((field) => count(used[field]))]);
  const known = Object.entries(versions).filter(([, text]) => text).map(([name, text]) => `${words(name)} ${text}`).join(" · ");
  return [rows.length > 0 && tableOf("Tokens", ["", ["model calls", "n"], ["in", "n"], ["of which cached", "n"], ["out", "n"], ["of which reasoning", "n"]], rows),
    h("p", { class: "quiet digests" }, known, prices && ` · ${priced(prices)}`)];
}

/** Prices of the record, in dollars per million tokens. */
function priced(prices) {
  const known = Object.entries(prices).filter(([, price]) => typeof price === "number");
  const tiers = prices.tiers?.length > 0 && `, other prices of long prompts in ${plural(prices.tiers.length, "tier")}`;
  return `prices: ${known.map(([name, price]) => `${words(name.replace(/_usd$/, ""))} $${price}`).join(", ")} per million tokens${tiers || ""}`;
}
