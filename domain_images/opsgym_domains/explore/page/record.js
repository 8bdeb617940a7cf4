// Records calls made by hand as a task file. Invariant: the recording begins at the seed, and holds in this tab every call that
// succeeded since, so `opsgym tasks build` can play it.

import { database, reset } from "./api.js";
import { announce, copyButton, h } from "./dom.js";
import { failure, heading, link } from "./view.js";

const KEPT = `opsgym-explore-recording-${database}`;
const FIELDS = ["id", "world", "request", "answer"];

/** The recording of this tab: calls with tool, arguments and acting user, and the fields written so far; null if there is none. */
export const recording = () => JSON.parse(sessionStorage.getItem(KEPT) ?? "null");
const keep = (value) => sessionStorage.setItem(KEPT, JSON.stringify(value));

/** Adds a call that succeeded to the recording, if there is one. */
export function record(tool, args, actor) {
  const now = recording();
  if (now) keep({ ...now, calls: [...now.calls, { tool, arguments: args, actor }] });
}

/** Empties the recording, if there is one: the database is at its seed again. */
export function restart() {
  const now = recording();
  if (now) keep({ ...now, calls: [] });
}

/** The view of the recording. */
export async function recorder(_route, domain) {
  const content = h("div");
  show(content, domain);
  return { title: "Record a task", content: [heading("Record a task"), content] };
}

function show(content, domain) {
  content.replaceChildren(...(recording() ? editor(content, domain) : beginning(content, domain)));
}

function beginning(content, domain) {
  const begin = async () => {
    try {
      await reset();
      keep({ calls: [], id: "", world: `${domain.name}/${domain.seed ?? "seeds/own.sql"}`, request: "", answer: "" });
      show(content, domain);
    } catch (error) {
      announce(error.message);
    }
  };
  return [h("p", {}, "A task is a request and the calls that solve it. Make the calls by hand, as its acting user; then download the task file, from which ",
    h("code", {}, "opsgym tasks build"), " writes a proved task."),
  h("p", { class: "actions" }, h("button", { class: "primary", click: begin }, "Reset the database and record"))];
}

function editor(content, domain) {
  const now = recording();
  const problem = h("div");
  const fields = FIELDS.map((name) => field(name, now[name], domain));
  const given = () => {
    try {
      problem.replaceChildren();
      return taskFile(recording(), domain);
    } catch (error) {
      problem.replaceChildren(failure(error));
      return undefined;
    }
  };
  const stop = () => { sessionStorage.removeItem(KEPT); show(content, domain); };
  return [...fields, h("h2", {}, "Solution"), solution(content, domain, now.calls), problem,
    h("p", { class: "actions" }, h("button", { class: "primary", click: () => download(given()) }, "Download task file"),
      copyButton("Copy task file", () => given()?.text), h("button", { click: stop }, "Discard"))];
}

const LABELS = {
  id: ["Task id", "letters, digits, dots, underscores and hyphens"],
  world: ["World", "domain and seed; a path for a seed file"],
  request: ["Request", "what the acting user asks, with whatever cannot be read"],
  answer: ["Answer", "what the agent says at the end"],
};

function field(name, value, domain) {
  const [label, hint] = LABELS[name];
  const change = (event) => keep({ ...recording(), [name]: event.target.value });
  const box = name === "request" || name === "answer"
    ? h("textarea", { id: name, rows: "3", input: change }) : h("input", { id: name, value, input: change, autocomplete: "off" });
  if (box.localName === "textarea") box.value = value;
  return h("div", { class: "field" }, h("label", { for: name }, label), " ", h("span", { class: "hint" }, name === "world" && domain.seed ? "domain and seed" : hint), box);
}

function solution(content, domain, calls) {
  if (!calls.length) return h("p", {}, "No call yet. ", link(["tools"], {}, "Call tools"), "; refused calls are left out.");
  const remove = (at) => { const now = recording(); keep({ ...now, calls: now.calls.filter((_, i) => i !== at) }); show(content, domain); };
  return h("ol", {}, calls.map(({ tool, arguments: args }, at) => h("li", {}, h("code", {}, `${tool} ${inLine(args)}`), " ",
    h("button", { type: "button", "aria-label": `Remove call ${at + 1}, ${tool}`, click: () => remove(at) }, "Remove"))));
}

/** The name and the YAML text of the task file; JSON values are YAML. */
function taskFile({ id, world, request, answer, calls }, domain) {
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$/.test(id)) throw new Error(`The task id must have ${LABELS.id[1]}, a letter or digit first.`);
  if (!request.trim()) throw new Error("The request is missing.");
  const actors = [...new Set(calls.map(({ actor }) => actor))];
  if (actors.length !== 1 || !actors[0]) throw new Error("Make all calls as one acting user, chosen above a tool's arguments; remove the others.");
  const lines = [`id: ${inLine(id)}`, `world: ${inLine(world)}`, `actor: ${inLine(actorOf(actors[0], domain))}`, ...(domain.access === "published" ? [] : [`access: ${domain.access}`]),
    `request: ${inLine(request.trim())}`, "solution:", ...calls.map(({ tool, arguments: args }) => `  - ${tool}: ${inLine(args)}`),
    ...(answer.trim() ? [`answer: ${inLine(answer.trim())}`] : [])];
  return { name: `${id}.yaml`, text: `${lines.join("\n")}\n` };
}

/** A user's name, if only they have it; else what identifies them. */
function actorOf(identity, { actors }) {
  const name = actors.find((one) => one.identity === identity)?.name;
  return name && actors.filter((one) => one.name === name).length === 1 ? name : identity;
}

const inLine = (value) => JSON.stringify(value, null, 1).replace(/\n */g, " ");

function download(file) {
  if (!file) return;
  const href = URL.createObjectURL(new Blob([file.text], { type: "application/yaml" }));
  h("a", { href, download: file.name }).click();
  URL.revokeObjectURL(href);
  announce(`Then: opsgym tasks build ${file.name}`);
}
