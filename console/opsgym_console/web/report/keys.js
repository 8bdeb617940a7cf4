// Keyboard shortcuts. Invariant: everything also works without them, and none applies while the user types in a field.

const typing = (target) => target.closest?.("input, select, textarea, [contenteditable]");

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  if (event.key === "Escape") return escape(event);
  if (typing(event.target)) return;
  const inTrial = !byId("trial").hidden;
  const action = { "/": toSearch, "?": () => byId("keys").showModal(), ...(inTrial ? IN_TRIAL : IN_TABLE) }[event.key];
  if (!action || action(event) === false) return;
  event.preventDefault();
}

const IN_TRIAL = { n: () => followLink("Next failed"), p: () => followLink("Previous failed") };
const IN_TABLE = {
  j: () => move(1), k: () => move(-1),
  ArrowDown: (event) => event.target.closest("tr[data-row]") ? move(1) : false,
  ArrowUp: (event) => event.target.closest("tr[data-row]") ? move(-1) : false,
};

function followLink(label) {
  const link = byId("trial").querySelector(`[data-way="${label}"]`);
  if (!link) return false;
  link.click();
  return true;
}

function escape(event) {
  if (!byId("trial").hidden) goBack(event);
  else if (event.target.id === "search") event.target.blur();
}

function toSearch() {
  if (!byId("trial").hidden) goBack();
  byId("search").focus();
  byId("search").select();
}

/** Moves the focus by so many rows of the table. */
function move(by) {
  const links = [...byId("rows").querySelectorAll("tr[data-row] td.task a")];
  const at = links.findIndex((link) => link.closest("tr").contains(document.activeElement));
  const next = links[at === -1 ? 0 : at + by];
  next?.focus();
  next?.scrollIntoView({ block: "nearest" });
  return Boolean(next);
}

function startKeys() {
  addEventListener("keydown", onKey);
  byId("help").addEventListener("click", () => byId("keys").showModal());
}
