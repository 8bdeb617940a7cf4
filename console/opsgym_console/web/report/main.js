// Builds the page: reads the data, shows the view of the address, and applies updates.

/** Sections from top to bottom: name in addresses, label in the navigation, title, content; null content hides one. */
const SECTIONS = [
  ["baseline", "Baseline", "Against the baseline", baseline],
  ["scores", "Scores", "Scores", scores],
  ["tasks", "Tasks", "Tasks by model", taskGrid],
  ["beside", "Published", "Beside the published results", beside],
  ["variants", "Variants", "Success over the variants of the suite", variants],
  ["domains", "Domains", "Success by domain and model", heatMap],
  ["horizons", "Horizon", "Success by horizon", horizons],
  ["tags", "Tags", "Success with and without tagged tasks", tags],
  ["cost", "Cost", "Cost and success", pareto],
  ["categories", "Verifiers", "Verifiers by category", categories],
  ["tools", "Tools", "Tool overload", overload],
  ["failures", "Failures", "Failure modes", failureModes],
];

let run = null;
let live = null;
let views = 0; // counts views, to detect that the user left one
let tableState = null; // scroll position and focused row when the table was left

async function start() {
  document.addEventListener("themechange", drawAll);
  startKeys();
  try {
    run = runOf(await readPage());
  } catch (error) {
    byId("overview").replaceChildren(h("h1", {}, document.title), h("p", { class: "warning", role: "alert" }, error.message));
    byId("main").setAttribute("aria-busy", "false");
    return;
  }
  if (api !== null) live = { connected: true, gone: false };
  buildOverview();
  updateOverview();
  show({ first: true });
  requestAnimationFrame(() => setTimeout(() => performance.mark("opsgym-painted")));
  if (api !== null) follow({ changed: applyUpdate, gone: () => { live.gone = true; updateOverview(); }, connected });
}

function buildOverview() {
  byId("overview").replaceChildren(
    h("section", { id: "at-headline", "aria-label": "Summary" }),
    ...SECTIONS.map(([name, , title]) => h("section", { id: `at-${name}`, "aria-labelledby": `title-${name}`, hidden: true },
      h("h2", { id: `title-${name}`, tabindex: "-1" }, title), h("div", {}))),
    h("section", { id: "at-trials", "aria-labelledby": "title-trials" }, h("h2", { id: "title-trials", tabindex: "-1" }, "Trials"), trialsSection(run)),
  );
}

function updateOverview() {
  replaceContent(byId("at-headline"), headline(run, live));
  const visible = [];
  for (const [name, short, , content] of SECTIONS) {
    const section = byId(`at-${name}`);
    const shown = content(run);
    section.hidden = shown == null;
    if (shown != null) {
      replaceContent(section.lastElementChild, shown);
      visible.push([name, short]);
    }
  }
  replaceContent(byId("sections"), [["", "Summary"], ...visible, ["trials", "Trials"]].map(([name, title]) =>
    h("a", { href: `#/${name}`, click: (event) => { event.preventDefault(); go(name ? [name] : [], currentView().query); } }, title)));
  const { written_by: by, written_at: at } = run.data.run;
  byId("foot").textContent = `Written by opsgym ${by}, ${moment(at)}. Trials without a score (infrastructure, configuration, budget) are shown beside every rate and never count as failures.`;
}

/** Goes to a view. */
function go(path, query, { replace = false, scroll = true } = {}) {
  const address = addressOf(path, query);
  history[replace ? "replaceState" : "pushState"](null, "", address);
  show({ scroll });
}

/** Shows the view of the address. */
async function show({ first = false, scroll = true } = {}) {
  const view = ++views;
  const { path, query } = currentView();
  const opens = path[0] === "trial" && path.length === 4;
  const wasOpen = !byId("trial").hidden;
  if (opens && !wasOpen) leaveTable();
  updateTrials(run, query);
  if (!opens && !byId("at-tasks").hidden) replaceContent(byId("at-tasks").lastElementChild, taskGrid(run));
  byId("overview").hidden = opens;
  byId("trial").hidden = !opens;
  byId("main").setAttribute("aria-busy", "false");
  if (opens) {
    scrollTo(0, 0);
    const shown = showTrial(run, path, query, () => view === views);
    byId("trial-title").focus({ preventScroll: true });
    return shown;
  }
  document.title = `${run.data.run.name} · opsgym`;
  drawAll();
  if (wasOpen) return returnToTable();
  if (scroll && !(first && !path.length)) toSection(path[0]);
}

function leaveTable() {
  tableState = { top: scrollY, row: document.activeElement?.closest?.("tr[data-row]")?.dataset.row ?? null };
}

function returnToTable() {
  if (!tableState) return toSection("trials"); // a link from elsewhere led to the trial
  scrollTo(0, tableState.top);
  const row = tableState.row !== null && byId("rows").querySelector(`tr[data-row="${tableState.row}"] a`);
  if (row) row.focus({ preventScroll: true });
  else byId("title-trials").focus({ preventScroll: tableState.top > 0 });
}

function toSection(name) {
  const section = byId(`at-${name ?? "headline"}`);
  if (!section || section.hidden) return;
  section.scrollIntoView();
  section.querySelector("h1, h2")?.focus({ preventScroll: true });
}

/** Returns from a trial to the table, as it was left. */
function goBack(event) {
  event?.preventDefault();
  go(["trials"], currentView().query);
}

/** Applies an update; the visible section keeps its position on the screen. */
function applyUpdate(data) {
  const visible = [...byId("overview").children].find((section) => section.getBoundingClientRect().bottom > 0);
  const before = visible?.getBoundingClientRect().top;
  update(run, data);
  updateOverview();
  updateTrials(run, currentView().query);
  if (visible) scrollBy(0, visible.getBoundingClientRect().top - before);
}

function connected(now) {
  if (live.connected === now) return;
  live.connected = now;
  updateOverview();
}

byId("skip").addEventListener("click", (event) => { event.preventDefault(); byId("main").focus(); });
addEventListener("hashchange", () => show());
document.addEventListener("DOMContentLoaded", drawAll); // the chart library is loaded last
start();
