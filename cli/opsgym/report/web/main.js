// Puts the page together: reads the data, shows the place that the address names, and takes in what changes.

/** Sections from top to bottom: name in addresses, in the navigation, title, content; one without content is not there. */
const SECTIONS = [
  ["baseline", "Baseline", "Against the baseline", baseline],
  ["scores", "Scores", "Scores", scores],
  ["domains", "Domains", "Success by domain and model", heatMap],
  ["horizons", "Horizon", "Success by horizon", horizons],
  ["cost", "Cost", "Cost and success", pareto],
  ["categories", "Verifiers", "Verifiers by category", categories],
  ["failures", "Failures", "Failure modes", failureModes],
  ["tools", "Tools", "Tool overload", overload],
];

let run = null;
let live = null;
let turn = 0;
let left = null;

async function start() {
  document.addEventListener("look", drawAll);
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
  renewOverview();
  show({ first: true });
  requestAnimationFrame(() => setTimeout(() => performance.mark("opsgym-painted")));
  if (api !== null) follow({ changed: takeIn, gone: () => { live.gone = true; renewOverview(); }, connected });
}

function buildOverview() {
  byId("overview").replaceChildren(
    h("section", { id: "at-headline", "aria-label": "Summary" }),
    ...SECTIONS.map(([name, , title]) => h("section", { id: `at-${name}`, "aria-labelledby": `title-${name}`, hidden: true },
      h("h2", { id: `title-${name}`, tabindex: "-1" }, title), h("div", {}))),
    h("section", { id: "at-trials", "aria-labelledby": "title-trials" }, h("h2", { id: "title-trials", tabindex: "-1" }, "Trials"), trialsSection(run)),
  );
}

function renewOverview() {
  renew(byId("at-headline"), headline(run, live));
  const there = [];
  for (const [name, short, , content] of SECTIONS) {
    const section = byId(`at-${name}`);
    const shown = content(run);
    section.hidden = shown == null;
    if (shown != null) {
      renew(section.lastElementChild, shown);
      there.push([name, short]);
    }
  }
  renew(byId("sections"), [["", "Summary"], ...there, ["trials", "Trials"]].map(([name, title]) =>
    h("a", { href: `#/${name}`, click: (event) => { event.preventDefault(); go(name ? [name] : [], here().query); } }, title)));
  const { written_by: by, written_at: at } = run.data.run;
  byId("foot").textContent = `Written by opsgym ${by}, ${moment(at)}. What is not scored (infrastructure, configuration, budget) stands beside every rate and is never counted as a failure.`;
}

/** Goes to a place in this page. */
function go(path, query, { replace = false, scroll = true } = {}) {
  const address = addressOf(path, query);
  history[replace ? "replaceState" : "pushState"](null, "", address);
  show({ scroll });
}

/** Shows the place that the address names. */
async function show({ first = false, scroll = true } = {}) {
  const mine = ++turn;
  const { path, query } = here();
  const opens = path[0] === "trial" && path.length === 4;
  const wasOpen = !byId("trial").hidden;
  if (opens && !wasOpen) leaveTable();
  renewTrials(run, query);
  byId("overview").hidden = opens;
  byId("trial").hidden = !opens;
  byId("main").setAttribute("aria-busy", "false");
  if (opens) {
    scrollTo(0, 0);
    const shown = showTrial(run, path, query, () => mine === turn);
    byId("trial-title").focus({ preventScroll: true });
    return shown;
  }
  document.title = `${run.data.run.name} · opsgym`;
  drawAll();
  if (wasOpen) return returnToTable();
  if (scroll && !(first && !path.length)) toSection(path[0]);
}

function leaveTable() {
  left = { top: scrollY, row: document.activeElement?.closest?.("tr[data-row]")?.dataset.row ?? null };
}

function returnToTable() {
  if (!left) return toSection("trials"); // a link from elsewhere led to the trial
  scrollTo(0, left.top);
  const row = left.row !== null && byId("rows").querySelector(`tr[data-row="${left.row}"] a`);
  if (row) row.focus({ preventScroll: true });
  else byId("title-trials").focus({ preventScroll: left.top > 0 });
}

function toSection(name) {
  const section = byId(`at-${name ?? "headline"}`);
  if (!section || section.hidden) return;
  section.scrollIntoView();
  section.querySelector("h1, h2")?.focus({ preventScroll: true });
}

/** From a trial back to where the table was left. */
function goBack(event) {
  event?.preventDefault();
  go(["trials"], here().query);
}

/** Takes in what has changed; what the reader looks at stays where it is on the screen. */
function takeIn(data) {
  const seen = [...byId("overview").children].find((section) => section.getBoundingClientRect().bottom > 0);
  const before = seen?.getBoundingClientRect().top;
  update(run, data);
  renewOverview();
  renewTrials(run, here().query);
  if (seen) scrollBy(0, seen.getBoundingClientRect().top - before);
}

function connected(now) {
  if (live.connected === now) return;
  live.connected = now;
  renewOverview();
}

byId("skip").addEventListener("click", (event) => { event.preventDefault(); byId("main").focus(); });
addEventListener("hashchange", () => show());
document.addEventListener("DOMContentLoaded", drawAll); // the chart library comes last
start();
