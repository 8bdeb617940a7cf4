// Shows the view of the current address. Invariant: every view and selection has its own address.

import { database, readDomain, reset } from "./api.js";
import { announce } from "./dom.js";
import { failure, heading } from "./view.js";
import { clock } from "./clock.js";
import { conversations } from "./conversations.js";
import { files } from "./files.js";
import { mail } from "./mail.js";
import { policy } from "./policy.js";
import { recorder, restart } from "./record.js";
import { records } from "./records.js";
import { sql } from "./sql.js";
import { tables } from "./tables.js";
import { tools } from "./tools.js";
import { week } from "./week.js";

const views = { tables, records, week, mail, files, conversations, tools, policy, sql, clock, record: recorder };
const main = document.getElementById("main");
let turn = 0;

/** View, path and parameters of an address. */
function routeOf(hash) {
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
  const current = ++turn;
  const route = routeOf(location.hash);
  markCurrent(route.view);
  main.setAttribute("aria-busy", "true");
  const shown = await contentOf(route);
  if (current !== turn) return; // the user opened another view in the meantime
  main.replaceChildren(...shown.content);
  document.title = `${shown.title} · opsgym explore`;
  main.setAttribute("aria-busy", "false");
  if (focus) main.querySelector("h1")?.focus();
  shown.after?.();
}

async function contentOf(route) {
  try {
    const domain = await readDomain();
    document.getElementById("domain").textContent = domain.name;
    document.getElementById("database").textContent = `database ${database}, access ${domain.access}`;
    document.getElementById("week-link").hidden = !domain.timeline;
    document.getElementById("mail-link").hidden = !domain.mail;
    document.getElementById("files-link").hidden = !domain.files;
    document.getElementById("conversations-link").hidden = !domain.conversations;
    document.getElementById("records-link").hidden = !domain.story;
    if (domain.story) document.getElementById("records-link").textContent = domain.story.name;
    const view = views[route.view];
    if (!view) throw new Error(`Unknown view “${route.view}”.`);
    return await view(route, domain);
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
    restart();
    await show({ focus: false });
    announce("The database was reset to its seed.");
  } catch (error) {
    announce(error.message);
  }
});
document.getElementById("skip").addEventListener("click", (event) => { event.preventDefault(); main.focus(); });
document.getElementById("database").textContent = `database ${database}`;
addEventListener("hashchange", () => show({ focus: true }));
show({ focus: false });
