// Makes elements. Invariant: data becomes text nodes and attribute values, never markup.

const SVG = "http://www.w3.org/2000/svg";
const byId = (id) => document.getElementById(id);

/** An element; attributes that are functions become listeners, false and null ones are left out. */
function h(tag, attributes = {}, ...children) {
  return furnish(document.createElement(tag), attributes, children);
}

/** The same in SVG. */
function svg(tag, attributes = {}, ...children) {
  return furnish(document.createElementNS(SVG, tag), attributes, children);
}

function furnish(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, value);
  }
  element.append(...children.flat(Infinity).filter((child) => child != null && child !== false));
  return element;
}

/** A wide table in a box of its own that keyboards can scroll. */
function scrolling(label, table) {
  return h("div", { class: "wide", role: "region", "aria-label": label, tabindex: "0" }, table);
}

/** A table: heads are texts or `[text, class]`; rows are lists of cells, the first of which names the row. */
function tableOf(label, heads, rows) {
  const head = heads.map((item) => {
    const [text, name] = Array.isArray(item) ? item : [item, null];
    return h("th", { scope: "col", class: name }, text);
  });
  const body = rows.map((cells) => h("tr", {}, cells.map((cell, i) => cellOf(cell, i, heads[i]))));
  return scrolling(label, h("table", {}, h("thead", {}, h("tr", {}, head)), h("tbody", {}, body)));
}

function cellOf(cell, i, head) {
  const name = Array.isArray(head) ? head[1] : null;
  return i === 0 ? h("th", { scope: "row" }, cell) : h("td", { class: name }, cell);
}

/** Something folded away; whether it is open outlives an update of the page if it has a key. */
function folded(summary, content, { open = false, key = null, name = null } = {}) {
  return h("details", { open, class: name, "data-key": key }, h("summary", {}, summary), content);
}

/**
 * Puts new content into a place. What was unfolded there stays so, what had the focus keeps it, and boxes stay
 * scrolled as they were.
 */
function renew(place, content) {
  const kept = new Map([...place.querySelectorAll("[data-key]")].map((element) => [element.dataset.key, element]));
  const focus = place.contains(document.activeElement) ? document.activeElement : null;
  const at = focus && [...place.querySelectorAll(focus.tagName)].indexOf(focus);
  const boxes = [...place.querySelectorAll(".wide")].map((box) => box.scrollLeft);
  place.replaceChildren(...[content].flat(Infinity).filter((child) => child != null && child !== false));
  for (const element of place.querySelectorAll("details[data-key]")) {
    const before = kept.get(element.dataset.key);
    if (before) element.open = before.open;
  }
  place.querySelectorAll(".wide").forEach((box, i) => { box.scrollLeft = boxes[i] ?? 0; });
  if (focus && !place.contains(focus)) successor(place, focus, at)?.focus({ preventScroll: true });
}

/** What stands where the focus was: the same link or the same key, else what has the same position. */
function successor(place, focus, at) {
  const alike = [...place.querySelectorAll(focus.tagName)];
  const href = focus.getAttribute("href");
  const key = focus.closest("[data-key]")?.dataset.key;
  return alike.find((one) => href && one.getAttribute("href") === href)
    ?? alike.find((one) => key && one.closest("[data-key]")?.dataset.key === key) ?? alike[at];
}

/** Tells something in passing, to eyes and screen readers. */
function tell(message) {
  const status = byId("status");
  status.textContent = "";
  // Set anew in the next frame: the same words twice are told twice.
  requestAnimationFrame(() => { status.textContent = message; });
  clearTimeout(tell.timer);
  tell.timer = setTimeout(() => { status.textContent = ""; }, 4000);
}

/** A button that copies a text. */
function copyButton(label, text) {
  return h("button", { type: "button", click: () => copy(text) }, label);
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    tell("Copied.");
  } catch { // no clipboard outside of localhost and HTTPS, or not allowed
    const dialog = byId("copy-by-hand");
    const area = dialog.querySelector("textarea");
    area.value = text;
    dialog.showModal();
    area.select();
  }
}
