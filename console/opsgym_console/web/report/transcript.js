// The transcript. Invariant: it is complete; long texts are folded, never cut.

const LONG_LINES = 30;
const LONG_TEXT = 3000;
const GIST = 110;
const ORIGINS = { tell: "User, meanwhile", amend: "Amendment of the policy", clock: "Time" };

/** The transcript as a list, and its items by step and by call. */
function transcript(run, detail) {
  if (!detail.transcript.length) return { list: h("p", { class: "quiet" }, detail.problems.join(" ") || "No transcript is stored."), steps: new Map(), calls: [] };
  const texts = detail.texts?.length ? detail.texts : run.data.texts;
  const steps = new Map();
  const calls = [];
  const list = h("ol", { class: "story" }, detail.transcript.map(({ event, text, ...thought }) => {
    const item = eventItem(event, text == null ? event.content : texts[text] ?? "", thought);
    if (event.kind === "tool") calls.push(item);
    if (event.kind === "assistant" && !steps.has(event.step)) steps.set(event.step, item);
    return item;
  }));
  return { list, steps, calls };
}

function eventItem(event, content, thought) {
  const shape = { tool: toolCall, assistant: modelMessage, note: note }[event.kind] ?? prompt;
  return h("li", { class: `${event.kind} ${event.is_error ? "wrong" : ""} ${event.by ? "part" : ""}`, tabindex: "-1" },
    event.by && h("span", { class: "tag by" }, event.by), event.day > 1 && h("span", { class: "tag" }, `day ${event.day}`), shape(event, content, thought));
}

const took = (event) => event.seconds == null ? null : h("span", { class: "quiet" }, event.seconds < 0.1 ? `${Math.round(1000 * event.seconds)} ms` : seconds(event.seconds));

function prompt(event, content) {
  const name = ORIGINS[event.origin] ?? { system: "System prompt", user: "User" }[event.kind] ?? event.kind;
  return folded([h("b", {}, name), " ", h("span", { class: "quiet gist" }, gist(content))], longText(content), { open: event.kind === "user" && content.length < 1200 });
}

function modelMessage(event, content, { reasoning = "", encrypted = false } = {}) {
  const requested = event.tool_calls.map((call) => String(call.name ?? "")).filter(Boolean);
  return [
    h("p", { class: "head" }, h("b", {}, `Step ${event.step}`), " ", h("span", { class: "quiet" }, requested.length ? `calls ${requested.join(", ")}` : "answers"), " ", took(event)),
    reasoning && folded([h("b", {}, "Reasoning"), " ", h("span", { class: "quiet gist" }, gist(reasoning))], longText(reasoning)),
    encrypted && h("p", { class: "quiet" }, "Reasoning is encrypted by the provider."),
    content && h("div", { class: "words" }, longText(content)),
    (event.refused_calls ?? []).map((call) => folded([h("code", { class: "tool" }, call.name), " ", h("span", { class: "verdict bad" }, "✕ malformed "), h("span", { class: "quiet gist" }, gist(call.problem))],
      [h("p", { class: "label" }, "Arguments as the model wrote them"), longText(call.raw)])),
    event.call && h("p", { class: "quiet call" }, callFacts(event).join(" · ")),
  ];
}

/** Tokens, cost, finish reason, retries, and which model answered. */
function callFacts({ call, finish_reason: finish, replaced }) {
  const { usage } = call;
  return [
    usage.prompt_tokens + usage.completion_tokens > 0 && `${count(usage.prompt_tokens)} tokens in${usage.cached_tokens ? ` (${count(usage.cached_tokens)} cached)` : ""}, ${count(usage.completion_tokens)} out${usage.reasoning_tokens ? ` (${count(usage.reasoning_tokens)} reasoning)` : ""}`,
    call.cost_usd != null && call.cost_usd > 0 && dollars(call.cost_usd),
    finish && finish !== "stop" && finish !== "tool_calls" && `ended: ${words(finish)}`,
    replaced && `replaces a reply that ended: ${words(replaced)}`,
    call.retries > 0 && plural(call.retries, "retry", "retries"),
    call.model, call.fingerprint, call.request_id && `request ${call.request_id}`,
  ].filter(Boolean);
}

function toolCall(event, content) {
  const args = event.arguments ?? {};
  const summary = [h("code", { class: "tool" }, event.tool_name ?? "tool"), " ", event.gym && h("span", { class: "quiet" }, `${event.gym} `),
    event.is_error && h("span", { class: "verdict bad" }, "✕ error "), h("span", { class: "quiet gist" }, gist(inLine(args))), " ", took(event)];
  return folded(summary, [h("p", { class: "label" }, "Arguments"), longText(pretty(args)),
    h("p", { class: "label" }, event.is_error ? "Result (error)" : "Result"), longText(toolText(content))], { open: event.is_error });
}

function note(event, content) {
  return [h("p", { class: "head" }, h("b", {}, "Note")), longText(content)];
}

function gist(text) {
  const line = text.slice(0, 4 * GIST).replace(/\s+/g, " ").trim();
  return line.length > GIST ? `${line.slice(0, GIST)}…` : line;
}

/** A text; a long one is shortened until the user asks for the rest. */
function longText(text) {
  const lines = text.split("\n");
  if (lines.length <= LONG_LINES && text.length <= LONG_TEXT) return h("pre", {}, text);
  const short = lines.slice(0, LONG_LINES).join("\n").slice(0, LONG_TEXT);
  const pre = h("pre", {}, `${short}…`);
  const click = (event) => { pre.textContent = text; event.target.remove(); };
  return [pre, h("button", { type: "button", class: "more", click }, `Show all (${plural(text.length, "character")})`)];
}

/** A value as indented JSON; texts as they are. */
const pretty = (value) => typeof value === "string" ? value : JSON.stringify(value, null, 2) ?? "";

/** A value as JSON in one line, which can break between its parts. */
const inLine = (value) => (JSON.stringify(value, null, 1) ?? "").replace(/\n */g, " ");

/** A tool's result, without the MCP object around it. */
function toolText(rendered) {
  const result = parsed(rendered);
  const texts = Array.isArray(result?.content) ? result.content.map((item) => item?.text) : [];
  if (!texts.length || texts.some((text) => typeof text !== "string")) return result === undefined ? rendered : pretty(result);
  return texts.map((text) => pretty(parsed(text) ?? text)).join("\n");
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch { // tools may return any text
    return undefined;
  }
}
