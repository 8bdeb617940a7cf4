// Shows the view that the address names. Invariant: everything a person looks at has an address of its own.

import { database, readDomain, reset } from "./api.js";
import { failure, heading, tell } from "./dom.js";
import { clock } from "./clock.js";
import { policy } from "./policy.js";
import { sql } from "./sql.js";
import { tables } from "./tables.js";
import { tools } from "./tools.js";

const views = { tables, tools, policy, sql, clock };
const main = document.getElementById("main");
let turn = 0;

/** The place an address names: view, what of it, and how. */
function placeOf(hash) {
  const [path, search = ""] = hash.replace(/^#\/?/, "").split(/\?(.*)/s);
  const [view, ...what] = path.split("/").map(decode);
  return { view: view || "tables", what, how: new URLSearchParams(search) };
}

function decode(part) {
  try {
    return decodeURIComponent(part);
  } catch { // a stray percent sign
    return part;
  }
}

async function show({ focus }) {
  const mine = ++turn;
  const there = placeOf(location.hash);
  markCurrent(there.view);
  main.setAttribute("aria-busy", "true");
  const shown = await contentOf(there);
  if (mine !== turn) return; // somebody went elsewhere in the meantime
  main.replaceChildren(...shown.content);
  document.title = `${shown.title} · opsgym explore`;
  main.setAttribute("aria-busy", "false");
  if (focus) main.querySelector("h1")?.focus();
  shown.after?.();
}

async function contentOf(there) {
  try {
    const domain = await readDomain();
    document.getElementById("domain").textContent = domain.name;
    document.getElementById("database").textContent = `database ${database}, access ${domain.access}`;
    const view = views[there.view];
    if (!view) throw new Error(`There is no view “${there.view}”.`);
    return await view(there, domain);
  } catch (error) {
    return { title: "Not shown", content: [heading("This cannot be shown"), failure(error)] };
  }
}

function markCurrent(view) {
  for (const anchor of document.querySelectorAll("nav a")) {
    if (anchor.hash === `#/${view}`) anchor.setAttribute("aria-current", "page");
    else anchor.removeAttribute("aria-current");
  }
}

const ask = document.getElementById("ask-reset");
document.getElementById("reset").addEventListener("click", () => { ask.returnValue = "keep"; ask.showModal(); });
ask.addEventListener("close", async () => {
  if (ask.returnValue !== "reset") return;
  try {
    await reset();
    await show({ focus: false });
    tell("The database is back to its seed.");
  } catch (error) {
    tell(error.message);
  }
});
document.getElementById("skip").addEventListener("click", (event) => { event.preventDefault(); main.focus(); });
document.getElementById("database").textContent = `database ${database}`;
addEventListener("hashchange", () => show({ focus: true }));
show({ focus: false });
