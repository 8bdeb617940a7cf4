// The policy that agents must follow; every numbered rule has an address.

import { h } from "./dom.js";
import { heading, link } from "./view.js";

const RULE = /[A-Z]{2,5}-\d{1,3}/;

/** The policy; scrolls to the rule of the address. */
export async function policy({ what: [rule] }, domain) {
  if (domain.policy === null) {
    return { title: "Policy", content: [heading("Policy"), h("p", {}, `${domain.name} has no policy.`)] };
  }
  const rules = new Set([...domain.policy.matchAll(new RegExp(`^- \\*\\*(${RULE.source})\\*\\*`, "gm"))].map(([, name]) => name));
  const content = blocks(domain.policy.split("\n"), rules);
  return {
    title: rule ? `Policy ${rule}` : "Policy",
    content: [h("article", { class: "policy" }, content)],
    after() {
      const target = rule && document.getElementById(`rule-${rule}`);
      if (!target) return;
      target.classList.add("target");
      target.scrollIntoView({ block: "center" });
      target.focus({ preventScroll: true });
    },
  };
}

/** Elements of Markdown lines: headings, lists, tables, paragraphs. */
function blocks(lines, rules) {
  const elements = [];
  let at = 0;
  const takeWhile = (test) => {
    const from = at;
    while (at < lines.length && test(lines[at])) at += 1;
    return lines.slice(from, at);
  };
  while (at < lines.length) {
    const line = lines[at];
    if (!line.trim()) at += 1;
    else if (/^#{1,4} /.test(line)) { elements.push(title(line, rules)); at += 1; }
    else if (/^\s*\|/.test(line)) elements.push(table(takeWhile((next) => /^\s*\|/.test(next)), rules));
    else if (line.startsWith("- ")) elements.push(list(takeWhile((next) => /^(- |\s*$|\s+\S)/.test(next)), rules));
    else elements.push(h("p", {}, inline(takeWhile((next) => next.trim() && !/^(#{1,4} |- |\s*\|)/.test(next)).join(" "), rules)));
  }
  return elements;
}

function title(line, rules) {
  const [, marks, text] = line.match(/^(#+) (.*)$/);
  return marks.length === 1 ? heading(inline(text, rules)) : h(`h${marks.length}`, {}, inline(text, rules));
}

function list(lines, rules) {
  const items = [];
  for (const line of lines) {
    if (line.startsWith("- ")) items.push([line.slice(2)]);
    else items.at(-1).push(line.trim());
  }
  return h("ul", {}, items.map((item) => {
    const name = item[0].match(new RegExp(`^\\*\\*(${RULE.source})\\*\\*`))?.[1];
    const self = name && h("a", { class: "rule", href: `#/policy/${name}` }, name);
    const body = name ? [item[0].slice(name.length + 4), ...item.slice(1)] : item;
    return h("li", name ? { id: `rule-${name}`, tabindex: "-1" } : {}, self || null, blocks(body, rules).flatMap(unwrapped));
  }));
}

/** Text of a paragraph inside a list item. */
const unwrapped = (element) => (element.localName === "p" ? [...element.childNodes] : [element]);

function table(lines, rules) {
  const cells = (line) => line.trim().replace(/^\||\|$/g, "").replaceAll("\\|", "\0").split("|").map((text) => text.replaceAll("\0", "|").trim());
  const [head, , ...rows] = lines.map(cells);
  return h("div", { class: "wide" }, h("table", {},
    h("thead", {}, h("tr", {}, head.map((text) => h("th", { scope: "col" }, inline(text, rules))))),
    h("tbody", {}, rows.map((row) => h("tr", {}, row.map((text) => h("td", {}, inline(text, rules))))))));
}

/** Text with code, bold words, and links where it names a rule. */
function inline(text, rules) {
  const parts = text.split(new RegExp(`(\`[^\`]+\`|\\*\\*[^*]+\\*\\*|\\b${RULE.source}\\b)`));
  return parts.map((part) => {
    if (part.startsWith("`") && part.length > 2) return h("code", {}, part.slice(1, -1));
    if (part.startsWith("**") && part.length > 4) return h("strong", {}, part.slice(2, -2));
    return rules.has(part) ? link(["policy", part], {}, part) : part;
  });
}
