// Tools: search, call a tool, copy the call as a gold action.

import { callTool, listTools } from "./api.js";
import { copyButton, h } from "./dom.js";
import { failure, heading, link, remember } from "./view.js";
import { objectForm } from "./form.js";
import { record, recording } from "./record.js";

let searchText = ""; // kept while tools are opened
const ACTOR = "opsgym-explore-actor";

/** The list of tools, and one of them. */
export async function tools({ what: [name], how }, domain) {
  const all = await listTools();
  const tool = all.find((candidate) => candidate.name === name);
  if (name && !tool) throw new Error(`${domain.name} has no tool “${name}”.`);
  const content = tool ? oneTool(tool, domain, how) : [heading("Tools"), h("p", {}, "Choose a tool to see its arguments and to call it.")];
  const side = listing(all, name, domain);
  return {
    title: tool ? tool.name : "Tools",
    content: [h("div", { class: tool ? "split chosen" : "split" }, side, h("div", {}, content))],
    after: () => side.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" }),
  };
}

// --- the list -------------------------------------------------------------------------------------------------------

function listing(all, current, domain) {
  const writing = new Set(domain.writing_tools);
  const items = all.map((tool) => h("li", {},
    h("a", { href: `#/tools/${encodeURIComponent(tool.name)}`, "aria-current": tool.name === current ? "page" : null }, tool.name),
    writing.has(tool.name) ? h("span", { class: "badge" }, "writes") : null));
  const counted = h("p", { class: "quiet", role: "status" });
  const box = h("input", { type: "search", id: "search", value: searchText, autocomplete: "off", input: narrow });

  function narrow() {
    searchText = box.value;
    const words = searchText.toLowerCase().split(/\s+/).filter(Boolean);
    const fits = (tool) => words.every((word) => `${tool.name} ${tool.description}`.toLowerCase().includes(word));
    all.forEach((tool, at) => { items[at].hidden = !fits(tool); });
    counted.textContent = `${items.filter((item) => !item.hidden).length} of ${all.length} tools`;
  }

  function openFirst(event) {
    event.preventDefault();
    const first = items.find((item) => !item.hidden);
    if (first) location.hash = first.querySelector("a").hash;
  }

  narrow();
  return h("aside", { "aria-label": "All tools" },
    h("form", { role: "search", submit: openFirst }, h("label", { for: "search" }, "Search tools"), box),
    counted, h("ul", { class: "tool-list" }, items));
}

// --- one tool -------------------------------------------------------------------------------------------------------

function oneTool(tool, domain, how) {
  const actor = actorPicker(domain);
  const args = argumentEditor(tool, how.get("arguments"));
  const result = h("section", { class: "result", "aria-label": "Result" });
  const problem = h("div");
  const button = h("button", { class: "primary" }, "Call");

  /** The arguments, or undefined after showing why they cannot be read. */
  function given() {
    try {
      const value = args.read();
      problem.replaceChildren();
      return value;
    } catch (error) {
      problem.replaceChildren(failure(error));
      return undefined;
    }
  }

  async function call(event) {
    event.preventDefault();
    const value = given();
    if (value === undefined) return;
    remember(["tools", tool.name], { arguments: Object.keys(value).length ? JSON.stringify(value) : "" });
    button.disabled = true;
    try {
      const answer = await callTool(tool.name, value, actor.headers());
      if (!answer.isError) record(tool.name, value, actor.identity());
      result.replaceChildren(...outcome(answer), recordedNote());
    } catch (error) {
      result.replaceChildren(failure(error));
    } finally {
      button.disabled = false;
      button.focus();
    }
  }

  function gold() {
    const value = given();
    return value && JSON.stringify({ name: tool.name, arguments: value }, null, 2);
  }

  return [
    h("p", { class: "back" }, link(["tools"], {}, "All tools")),
    heading(tool.name),
    h("div", { class: "description" }, tool.description.split(/\n{2,}/).map((part) => h("p", {}, part))),
    needed(tool.inputSchema),
    h("form", { submit: call, novalidate: true },
      actor.element, args.element, problem,
      h("p", { class: "actions" }, button, copyButton("Copy as gold action", gold))),
    result,
  ].filter(Boolean);
}

function needed(schema) {
  if (!schema.anyOf) return null;
  return h("p", {}, "At least one of these is required: ", h("code", {}, schema.anyOf.flatMap((one) => one.required).join(", ")));
}

/** Acting user of calls: no identity header, or the header of a user. */
function actorPicker(domain) {
  const id = "actor";
  const options = domain.actors.map((actor) => h("option", { value: actor.identity }, `${actor.name} (${actor.note})`));
  const element = h("select", { id, change: () => sessionStorage.setItem(ACTOR, element.value) },
    h("option", { value: "" }, "none: no identity header"), options);
  const before = sessionStorage.getItem(ACTOR) ?? "";
  element.value = domain.actors.some((actor) => actor.identity === before) ? before : "";
  return {
    element: h("p", { class: "field" }, h("label", { for: id }, "Acting user"), element),
    identity: () => element.value,
    headers: () => (element.value ? { [domain.identity_header]: element.value } : {}),
  };
}

/** Arguments as a form or as JSON. */
function argumentEditor(tool, linked) {
  const form = objectForm(tool.inputSchema);
  const area = h("textarea", { id: "json", rows: "12", spellcheck: "false", "aria-label": "Arguments as JSON" });
  const toForm = h("button", { type: "button", "aria-pressed": "true", click: () => attempt(showForm) }, "Form");
  const toJson = h("button", { type: "button", "aria-pressed": "false", click: () => showJson(form.read()) }, "JSON");
  const body = h("div", {}, form.element);
  const problem = h("div");
  let asJson = false;

  function show(json, element) {
    asJson = json;
    body.replaceChildren(element);
    problem.replaceChildren();
    toForm.setAttribute("aria-pressed", String(!json));
    toJson.setAttribute("aria-pressed", String(json));
  }

  function showJson(value) {
    if (asJson) return;
    area.value = JSON.stringify(value, null, 2);
    show(true, area);
  }

  function showForm() {
    const value = asObject(area.value);
    form.write(value);
    if (canonical(form.read()) !== canonical(value)) {
      throw new Error("The form cannot represent these arguments (unknown name, or value of another type). Use JSON instead.");
    }
    show(false, form.element);
  }

  function attempt(action) {
    if (!asJson) return;
    try {
      action();
    } catch (error) {
      problem.replaceChildren(failure(error));
    }
  }

  if (linked) {
    area.value = linked;
    show(true, area);
    try {
      showForm();
      area.value = "";
    } catch { // stay with JSON, which shows the content of the link
      area.value = pretty(linked);
    }
  }
  return {
    element: h("fieldset", { class: "arguments" },
      h("legend", {}, "Arguments"),
      h("p", { class: "toggle", role: "group", "aria-label": "Edit arguments as" }, toForm, toJson,
        h("span", { class: "hint" }, "Empty fields are not sent; use JSON to send empty text.")), problem, body),
    read: () => (asJson ? asObject(area.value) : form.read()),
  };
}

function asObject(text) {
  let value;
  try {
    value = JSON.parse(text || "{}");
  } catch (error) {
    throw new Error(`The arguments are not JSON: ${error.message}`);
  }
  if (value === null || typeof value !== "object" || Array.isArray(value)) throw new Error("The arguments must be a JSON object.");
  return value;
}

/** JSON with sorted keys, equal for equal values. */
function canonical(value) {
  return JSON.stringify(value, (_key, part) =>
    part && typeof part === "object" && !Array.isArray(part) ? Object.fromEntries(Object.entries(part).sort()) : part);
}

// --- the result -----------------------------------------------------------------------------------------------------

function outcome({ text, isError, took }) {
  const time = `${took < 10 ? took.toFixed(1) : Math.round(took)} ms`;
  const problems = isError ? problemsOf(text) : [];
  const codes = problems.map(({ code }) => code).filter(Boolean);
  const summary = h("p", { class: isError ? "summary bad" : "summary good", role: "status" },
    h("strong", {}, isError ? "Refused" : "Succeeded"), ` in ${time} `, codes.map((code) => h("code", { class: "badge" }, code)));
  const list = problems.length ? h("ul", {}, problems.map(({ field, message }) => h("li", {}, field ? h("code", {}, `${field}: `) : null, message))) : null;
  return [summary, list, h("pre", { tabindex: "0", "aria-label": "Result text" }, pretty(text))].filter(Boolean);
}

/** Leads to the recording, if calls are recorded. */
function recordedNote() {
  const calls = recording()?.calls.length;
  return calls === undefined ? "" : h("p", {}, link(["record"], {}, `${calls} ${calls === 1 ? "call" : "calls"} recorded`));
}

function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/** Problems of an error result, in either of the two formats. */
function problemsOf(text) {
  try {
    const { detail } = JSON.parse(text);
    if (Array.isArray(detail)) return detail.map(({ loc, msg, ctx }) => ({ code: ctx?.error_code, field: loc?.at(-1), message: msg }));
    return detail.details.map(({ code, field, message }) => ({ code, field, message }));
  } catch { // plain text
    return [];
  }
}
