// Labelling failed trials. Invariant: a trial is shown without what rules, judges or other people say about it, and stored
// labels are never changed. Digits and letters switch modes, s stores; every control can also be reached with Tab.

import { byId, h } from "./dom.js";

const KEYS = "1234567890abcdefghi";
const NAME = "opsgym-label-name";
let person = "";
let overview = null;
let position = null;

async function request(path, options) {
  const response = await fetch(path, options);
  if (response.status === 401) location.reload();
  const content = await response.json();
  if (!response.ok) throw Object.assign(new Error(content.detail), { status: response.status });
  return content;
}

async function begin(event) {
  event?.preventDefault();
  person = byId("person").value.trim();
  try {
    overview = await request(`../api/label?person=${encodeURIComponent(person)}`);
    sessionStorage.setItem(NAME, person);
    byId("who").hidden = true;
    await next();
  } catch (error) {
    say(error.message);
  }
}

/** Shows the first trial of the sample that the person has not labelled. */
async function next() {
  const done = new Set(overview.labelled);
  byId("progress").textContent = `${person}: ${done.size} of ${overview.trials} trials labelled.`;
  position = [...Array(overview.trials).keys()].find((place) => !done.has(place)) ?? null;
  if (position === null) {
    byId("trial").replaceChildren(h("p", {}, "All trials of the sample are labelled. Thank you."));
    return;
  }
  try {
    show(await request(`../api/label/trials/${position}`));
  } catch (error) {
    if (error.status !== 404) throw error;
    overview.labelled.push(position);
    await next();
  }
}

function show(trial) {
  const heading = h("h2", { tabindex: "-1" }, `Trial ${position + 1} of ${overview.trials}`);
  byId("trial").replaceChildren(h("div", { class: "labelling" }, h("div", {}, heading, content(trial)), form()));
  heading.focus();
}

function content(trial) {
  const { verifiers, events } = trial;
  return [
    h("p", {}, trial.feasible ? "The task can be done." : "The task cannot be done: the right outcome is to decline."),
    h("h3", {}, "Verifiers"),
    h("ul", {}, verifiers.map((one) => h("li", {}, h("b", {}, one.passed ? "passed" : "failed"), ` ${one.index}: ${one.name || one.category}`,
      !one.passed && text({ expected: one.expected, actual: one.actual })))),
    h("h3", {}, "Transcript"),
    h("ol", {}, events.map((event) => h("li", {}, h("b", {}, event.tool_name || event.kind), event.step ? ` step ${event.step}` : "",
      event.is_error && " refused", event.arguments && text(event.arguments), text(event.content)))),
    h("h3", {}, "Answer"),
    text(trial.answer || "(empty)"),
  ];
}

const text = (value) => h("pre", { tabindex: "0" }, typeof value === "string" ? value : JSON.stringify(value, null, 1));

function form() {
  const modes = overview.modes.map(({ mode, definition }, i) => h("label", {},
    h("input", { type: "checkbox", name: "mode", value: mode, "aria-keyshortcuts": KEYS[i] }),
    h("span", {}, `${mode.replaceAll("_", " ")} (${KEYS[i]})`, h("span", { class: "quiet" }, definition))));
  return h("form", { id: "labels", submit: store },
    h("fieldset", {}, h("legend", {}, "Failure modes that hold; none is an answer too"), modes),
    h("label", {}, "Remark", h("textarea", { name: "remark", rows: "2", maxlength: "2000" })),
    h("button", { "aria-keyshortcuts": "s" }, "Store and go on (s)"));
}

async function store(event) {
  event.preventDefault();
  const given = new FormData(event.target);
  const body = JSON.stringify({ person, position, modes: given.getAll("mode"), remark: given.get("remark") });
  try {
    await request("../api/label", { method: "POST", headers: { "content-type": "application/json" }, body });
  } catch (error) {
    if (error.status !== 409) return say(error.message);
    say(error.message);
  }
  overview.labelled.push(position);
  return next().catch((error) => say(error.message));
}

function say(message) {
  byId("status").textContent = message;
}

addEventListener("keydown", (event) => {
  const labels = byId("labels");
  const typing = event.target.matches("textarea, input:not([type=checkbox])");
  if (!labels || typing || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "s") return labels.requestSubmit();
  const box = labels.querySelectorAll("[name=mode]")[KEYS.indexOf(event.key)];
  if (box && event.key.length === 1) {
    box.checked = !box.checked;
    box.focus();
  }
});

byId("who").addEventListener("submit", begin);
byId("who").hidden = false;
byId("person").value = sessionStorage.getItem(NAME) ?? "";
byId("main").setAttribute("aria-busy", "false");
byId("person").focus();
