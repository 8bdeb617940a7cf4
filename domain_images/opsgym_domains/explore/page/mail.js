// Mailboxes as an inbox: labels, a search, threads and their messages. Invariant: the threads shown are those that the
// domain's own search tool lists for the owner of the mailbox, so the page finds what an agent finds.

import { callTool, query, quoted } from "./api.js";
import { h } from "./dom.js";
import { address, failure, heading, link } from "./view.js";

const SIZE = 50;
const ask = (sql) => query(sql, "postgres");

/** A mailbox: `mailbox` selects it, `label`, `q` and `page` its threads, `thread` one of them. */
export async function mail({ how }, domain) {
  const { mail: declared } = domain;
  if (!declared) throw new Error(`${domain.name} has no mailboxes.`);
  const mailboxes = await ask(declared.mailboxes);
  const box = mailboxes.find(({ key }) => key === how.get("mailbox")) ?? mailboxes[0];
  if (!box) return { title: "Mail", content: [heading("Mail"), h("p", { class: "quiet" }, "There are no mailboxes.")] };
  const labels = await ask(`SELECT * FROM (${declared.labels}) AS l WHERE mailbox = ${quoted(box.key)}`);
  const place = placeOf(how, box, labels, declared);
  const shown = place.thread ? await oneThread(place, declared) : await threadList(place, box, domain);
  return {
    title: `${place.name}, ${box.name}`,
    content: [
      heading(place.name, h("span", { class: "quiet" }, ` ${box.key}`)),
      searchForm(mailboxes, place),
      h("div", { class: "mail" }, labelList(labels, place), h("div", {}, shown)),
    ],
  };
}

/** What the address selects. Without a label and a search the first label is shown. */
function placeOf(how, box, labels, { first_label: first }) {
  const q = how.get("q") ?? "";
  const key = how.get("label") ?? (q ? "" : first);
  const label = labels.find((one) => one.key === key);
  const name = label?.name ?? (q ? `Search for ${q}` : "All mail");
  return { mailbox: box.key, label: label ? key : "", q, page: how.get("page") ?? "", thread: how.get("thread") ?? "", name };
}

const at = (place, change) => address(["mail"], { mailbox: place.mailbox, label: place.label, q: place.q, ...change });

// --- what is selected -------------------------------------------------------------------------------------------------

function searchForm(mailboxes, place) {
  const owner = h("select", { id: "mailbox", change: () => { location.hash = address(["mail"], { mailbox: owner.value }); } },
    mailboxes.map(({ key, name }) => h("option", { value: key, selected: key === place.mailbox }, `${name} <${key}>`)));
  const box = h("input", { type: "search", id: "mail-search", value: place.q, autocomplete: "off" });
  const submit = (event) => {
    event.preventDefault();
    location.hash = address(["mail"], { mailbox: place.mailbox, q: box.value.trim() });
  };
  return h("form", { role: "search", class: "actions", submit },
    h("label", { for: "mailbox" }, "Mailbox"), owner,
    h("label", { for: "mail-search" }, "Search mail"), box, h("button", {}, "Search"));
}

function labelList(labels, place) {
  return h("aside", { "aria-label": "Labels" }, h("ul", { class: "labels" }, labels.map(({ key, name, n, unread }) =>
    h("li", {}, h("a", { href: address(["mail"], { mailbox: place.mailbox, label: key }), "aria-current": key === place.label ? "true" : null },
      h("span", {}, name),
      h("span", { class: "quiet" }, unread > 0 ? `${unread} of ${n} unread` : String(n)))))));
}

// --- threads ----------------------------------------------------------------------------------------------------------

async function threadList(place, box, domain) {
  const { search, threads: all } = domain.mail;
  const given = { [search.mailbox]: place.mailbox, [search.size]: SIZE };
  if (place.q) given[search.text] = place.q;
  if (place.label) given[search.labels] = [place.label];
  if (place.page) given[search.page] = place.page;
  const answer = await callTool(search.name, given, box.identity ? { [domain.identity_header]: box.identity } : {});
  if (answer.isError) return failure(new Error(answer.text));
  const result = JSON.parse(answer.text);
  const keys = (result[search.threads] ?? []).map(({ id }) => id);
  if (!keys.length) return h("p", { class: "quiet" }, "No messages.");
  const rows = await ask(`SELECT * FROM (${all}) AS t WHERE key IN (${keys.map(quoted).join(", ")})`);
  const byKey = new Map(rows.map((row) => [row.key, row]));
  const token = result[search.next_page];
  return [
    h("ul", { class: "threads" }, keys.filter((key) => byKey.has(key)).map((key) => threadItem(byKey.get(key), place))),
    token ? h("p", {}, h("a", { href: at(place, { page: token }) }, "Older")) : null,
  ];
}

function threadItem({ key, title, people, snippet, time, n, unread }, place) {
  return h("li", { class: unread ? "unread" : null },
    h("span", {}, people || "(no sender)", n > 1 ? ` (${n})` : ""),
    h("span", {}, h("a", { href: at(place, { thread: key }) }, title || "(no subject)"), unread ? h("span", { class: "badge" }, "unread") : null,
      snippet && snippet !== title ? h("span", { class: "quiet" }, ` ${snippet}`) : null),
    h("time", { class: "quiet" }, time));
}

// --- one thread -------------------------------------------------------------------------------------------------------

async function oneThread(place, { messages: all, table, key: column }) {
  const messages = await ask(`SELECT * FROM (${all}) AS m WHERE thread = ${quoted(place.thread)} ORDER BY time, key`);
  const back = h("p", {}, h("a", { href: at(place, {}) }, "Back to the list"));
  if (!messages.length) return [back, h("p", { class: "quiet" }, "The thread has no messages.")];
  return [back, ...messages.map((message) => messageView(message, table, column))];
}

function messageView({ key, time, sender, recipients, labels, text, files }, table, column) {
  const id = `message-${key}`;
  return h("article", { "aria-labelledby": id },
    h("h2", { id }, sender || "(no sender)"),
    h("p", { class: "quiet" }, `${time}, to ${recipients || "no one"}${labels ? `, ${labels}` : ""}`),
    h("pre", {}, text ?? ""),
    files ? h("p", {}, `Files: ${files}`) : null,
    h("p", {}, link(["tables", table, "row"], { [column]: key }, "Row of the message")));
}
