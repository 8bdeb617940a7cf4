// Where the run's data comes from: the file itself, files beside it, or the console.
// Invariant: nothing is fetched but by relative addresses, and every answer is JSON that becomes text on the page.

const api = document.querySelector("meta[name=opsgym-data]")?.content ?? null;

/** Reads the page's data; the console takes `?baseline=` of the page's own address. */
async function readPage() {
  if (api === null) return unpack(byId("page-data").textContent);
  const answer = await fetch(`${api}page${location.search}`);
  if (!answer.ok) throw new Error(await refusal(answer));
  return answer.json();
}

async function refusal(answer) {
  const text = (await answer.text()).slice(0, 500);
  return `The console answered ${answer.status}: ${text || answer.statusText}`;
}

/** Follows a run that goes on: calls `changed` with each page that comes, `gone` when the run is no longer there. */
function follow({ changed, gone, connected }) {
  const events = new EventSource(`${api}events${location.search}`);
  events.addEventListener("page", (event) => changed(JSON.parse(event.data)));
  events.addEventListener("gone", () => { events.close(); gone(); });
  events.addEventListener("open", () => connected(true));
  // The browser tries again by itself.
  events.addEventListener("error", () => connected(false));
  return () => events.close();
}

/** JSON from compressed base64. */
async function unpack(text) {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json();
}

// --- details of a trial ---

/** The whole file has been read: details stand at its end. */
const whole = new Promise((resolve) => { document.addEventListener("DOMContentLoaded", resolve); });
let inline = null;

/** Everything about a trial; null where nothing is kept. */
async function readDetail(run, row, cell, task, trial) {
  if (api !== null) return fromConsole(cell, task, trial);
  if (row === -1) return null;
  if (run.data.details === "inline") {
    inline ??= whole.then(() => unpack(byId("details-data").textContent));
    return (await inline)[row] ?? null;
  }
  if (run.data.details !== "beside") return null;
  const each = run.data.details_per_file;
  return (await fromFile(Math.floor(row / each)))[row % each] ?? null;
}

async function fromConsole(cell, task, trial) {
  const answer = await fetch(`${api}trials/${[cell, task, trial].map(encodeURIComponent).join("/")}`);
  if (answer.status === 404) return null;
  if (!answer.ok) throw new Error(await refusal(answer));
  return answer.json();
}

const files = new Map();
const awaited = new Map();

/** Details in `trials/<n>.js`: a script, since a page that was opened from disk may read nothing else. */
function fromFile(n) {
  if (!files.has(n)) files.set(n, loaded(n).catch((error) => { files.delete(n); throw error; }));
  return files.get(n);
}

async function loaded(n) {
  const script = h("script", { src: `trials/${n}.js` });
  const packed = await new Promise((resolve, reject) => {
    awaited.set(n, resolve);
    script.addEventListener("error", () => reject(new Error(
      `trials/${n}.js cannot be read. The folder “trials” belongs beside this page; copy both together.`)));
    script.addEventListener("load", () => reject(new Error(`trials/${n}.js holds no details of trials.`)));
    document.head.append(script);
  }).finally(() => { script.remove(); awaited.delete(n); });
  return unpack(packed);
}

window.opsgymDetails = (n, packed) => awaited.get(n)?.(packed);
