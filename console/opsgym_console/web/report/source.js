// Reads the run's data: from the file itself, from files beside it, or from the console.
// Invariant: only relative addresses are fetched, and every response is JSON that becomes text on the page.

const api = document.querySelector("meta[name=opsgym-data]")?.content ?? null;

/** Reads the page's data; the console takes `?baseline=` of the page's own address. */
async function readPage() {
  if (api === null) return unpack(byId("page-data").textContent);
  const response = await fetch(`${api}page${location.search}`);
  if (!response.ok) throw new Error(await errorMessage(response));
  return response.json();
}

async function errorMessage(response) {
  const text = (await response.text()).slice(0, 500);
  return `The console responded ${response.status}: ${text || response.statusText}`;
}

/** Subscribes to a live run: calls `changed` with each update, and `gone` when the run has been deleted. */
function follow({ changed, gone, connected }) {
  const events = new EventSource(`${api}events${location.search}`);
  events.addEventListener("page", (event) => changed(JSON.parse(event.data)));
  events.addEventListener("gone", () => { events.close(); gone(); });
  events.addEventListener("open", () => connected(true));
  // The browser reconnects by itself.
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

/** The documentParsed file is parsed: details are at its end. */
const documentParsed = new Promise((resolve) => { document.addEventListener("DOMContentLoaded", resolve); });
let inline = null;

/** Details of a trial; null if there are none. */
async function readDetail(run, row, cell, task, trial) {
  if (api !== null) return fromConsole(cell, task, trial);
  if (row === -1) return null;
  if (run.data.details === "inline") {
    inline ??= documentParsed.then(() => unpack(byId("details-data").textContent));
    return (await inline)[row] ?? null;
  }
  if (run.data.details !== "beside") return null;
  const each = run.data.details_per_file;
  return (await fromFile(Math.floor(row / each)))[row % each] ?? null;
}

async function fromConsole(cell, task, trial) {
  const response = await fetch(`${api}trials/${[cell, task, trial].map(encodeURIComponent).join("/")}`);
  if (response.status === 404) return null;
  if (!response.ok) throw new Error(await errorMessage(response));
  return response.json();
}

const files = new Map();
const waiting = new Map();

/** Details in `trials/<n>.js`: a script, since a page opened from disk may load nothing else. */
function fromFile(n) {
  if (!files.has(n)) files.set(n, loaded(n).catch((error) => { files.delete(n); throw error; }));
  return files.get(n);
}

async function loaded(n) {
  const script = h("script", { src: `trials/${n}.js` });
  const packed = await new Promise((resolve, reject) => {
    waiting.set(n, resolve);
    script.addEventListener("error", () => reject(new Error(
      `trials/${n}.js cannot be read. The folder “trials” must be beside this page; copy both together.`)));
    script.addEventListener("load", () => reject(new Error(`trials/${n}.js contains no details of trials.`)));
    document.head.append(script);
  }).finally(() => { script.remove(); waiting.delete(n); });
  return unpack(packed);
}

window.opsgymDetails = (n, packed) => waiting.get(n)?.(packed);
