// Creates elements. Invariant: data becomes text nodes and attribute values, never markup.

const SVG = "http://www.w3.org/2000/svg";
const MESSAGE_MS = 4000;

export const byId = (id) => document.getElementById(id);

/** An HTML element; attributes that are functions become listeners, false and null ones are left out. */
export function h(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** An SVG element; arguments as for `h`. */
export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, value);
  }
  element.append(...nodes(children));
  return element;
}

/** Content as a flat list, without null and false. */
export const nodes = (content) => [content].flat(Infinity).filter((child) => child != null && child !== false);

/** A wide table in a box that keyboards can scroll. */
export function scrolling(label, table) {
  return h("div", { class: "wide", role: "region", "aria-label": label, tabindex: "0" }, table);
}

/** A table. Heads are texts or `[text, class]`; rows are lists of cells, the first of which is the row's header. */
export function tableOf(label, heads, rows) {
  const columns = heads.map((head) => [head, null].flat());
  const head = columns.map(([text, name]) => h("th", { scope: "col", class: name }, text));
  const body = rows.map((cells) => h("tr", {}, cells.map((cell, i) =>
    i === 0 ? h("th", { scope: "row" }, cell) : h("td", { class: columns[i][1] }, cell))));
  return scrolling(label, h("table", {}, h("thead", {}, h("tr", {}, head)), h("tbody", {}, body)));
}

/** Collapsible content; with a key, whether it is open survives `replaceContent`. */
export function folded(summary, content, { open = false, key = null, name = null } = {}) {
  return h("details", { open, class: name, "data-key": key }, h("summary", {}, summary), content);
}

/** Replaces an element's content, and keeps open what was unfolded, the focus, and the position of scrolled boxes. */
export function replaceContent(element, content) {
  const unfolded = new Map([...element.querySelectorAll("[data-key]")].map((fold) => [fold.dataset.key, fold.open]));
  const focus = element.contains(document.activeElement) ? document.activeElement : null;
  const position = focus && [...element.querySelectorAll(focus.tagName)].indexOf(focus);
  const scrolled = [...element.querySelectorAll(".wide")].map((box) => box.scrollLeft);
  element.replaceChildren(...nodes(content));
  for (const fold of element.querySelectorAll("details[data-key]")) {
    if (unfolded.has(fold.dataset.key)) fold.open = unfolded.get(fold.dataset.key);
  }
  element.querySelectorAll(".wide").forEach((box, i) => { box.scrollLeft = scrolled[i] ?? 0; });
  if (focus && !element.contains(focus)) successor(element, focus, position)?.focus({ preventScroll: true });
}

/** The element that takes over the focus: the same link or key, else the element at the same position. */
function successor(element, focus, position) {
  const candidates = [...element.querySelectorAll(focus.tagName)];
  const href = focus.getAttribute("href");
  const key = focus.closest("[data-key]")?.dataset.key;
  return candidates.find((one) => href && one.getAttribute("href") === href)
    ?? candidates.find((one) => key && one.closest("[data-key]")?.dataset.key === key) ?? candidates[position];
}

/** Shows a message for a few seconds, and has screen readers read it. */
export function announce(message) {
  const status = byId("status");
  status.textContent = "";
  // Set in the next frame: screen readers ignore a text that is set to itself.
  requestAnimationFrame(() => { status.textContent = message; });
  clearTimeout(announce.timer);
  announce.timer = setTimeout(() => { status.textContent = ""; }, MESSAGE_MS);
}

/** A button that copies a text, or the result of a function; nothing if that is undefined. */
export function copyButton(label, source) {
  const click = () => {
    const text = typeof source === "function" ? source() : source;
    if (text !== undefined) copy(text);
  };
  return h("button", { type: "button", click }, label);
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    announce("Copied.");
  } catch { // no clipboard outside of localhost and HTTPS, or not allowed
    const dialog = byId("copy-by-hand");
    const area = dialog.querySelector("textarea");
    area.value = text;
    dialog.showModal();
    area.select();
  }
}
