// Teams with their channels, and chats: posts with replies, reactions and pins.
// Invariant: every place and every message leads to its row; texts are shown as text, markup included.

import { query, quoted } from "./api.js";
import { h } from "./dom.js";
import { address, heading, link } from "./view.js";

const PAGE = 50;
const GIST = 80; // characters of a pinned message in the list of pins
let narrowed = ""; // kept while places are opened

/** A team, a channel or a chat (table and key in the path) with its newest posts, or those of `page`. */
export async function conversations({ what: [table, key], how }, domain) {
  const { conversations: declared } = domain;
  if (!declared) throw new Error(`${domain.name} has no channels.`);
  const places = await query(declared.places);
  const place = key ? places.find((one) => one.table === table && String(one.key) === key) : places.find((one) => one.of !== null) ?? places[0];
  if (key && !place) throw new Error(`${table} has no row ${key}.`);
  if (!place) return { title: "Channels", content: [heading("Channels"), h("p", { class: "quiet" }, "There are no channels and no chats.")] };
  const side = placeList(places, place);
  const shown = await onePlace(place, places, declared, Math.max(1, Number.parseInt(how.get("page") ?? "1", 10) || 1));
  return {
    title: place.name,
    content: [heading(place.name, badge(place.kind), badge(place.state)), h("div", { class: "conversations" }, side, h("div", {}, shown))],
    after: () => side.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" }),
  };
}

const minute = (time) => time?.slice(0, 16) ?? "";
const badge = (text) => text && h("span", { class: "badge" }, text);
const at = ({ table, key }, page) => address(["conversations", table, String(key)], { page: page > 1 ? page : "" });
const rowLink = (table, column, key, ...text) => link(["tables", table, "row"], { [column]: key }, ...text);

// --- the list of places -----------------------------------------------------------------------------------------------

/** Teams with their channels and chats; a box shows those only whose name or people match. */
function placeList(places, current) {
  const channelsOf = Map.groupBy(places.filter((one) => one.of !== null), (one) => one.of);
  const entries = [];
  const item = (place) => {
    const own = (place.of === null && channelsOf.get(place.key)) || [];
    const below = own.map(item);
    const entry = h("li", {}, placeLink(place, place === current), below.length ? h("ul", {}, below) : null);
    entries.push([place, entry, own]);
    return entry;
  };
  const tops = Map.groupBy(places.filter((one) => one.of === null), (one) => one.section);
  const sections = [...tops].map(([name, own]) => [h("h2", {}, name), h("ul", {}, own.map(item))]);
  const box = h("input", { type: "search", id: "places", value: narrowed, autocomplete: "off", input: narrow });

  function narrow() {
    narrowed = box.value;
    const wanted = narrowed.trim().toLowerCase();
    const fits = ({ name, people }) => [name, people ?? ""].some((text) => text.toLowerCase().includes(wanted));
    for (const [place, entry, own] of entries) entry.hidden = !fits(place) && !own.some(fits);
  }

  narrow();
  return h("aside", { "aria-label": "Teams and chats" }, h("label", { for: "places" }, "Name or person"), box, sections);
}

function placeLink(place, isCurrent) {
  return h("a", { href: at(place), "aria-current": isCurrent ? "page" : null },
    place.name, place.of !== null && place.kind !== "standard" ? badge(place.kind) : null, badge(place.state));
}

// --- one place --------------------------------------------------------------------------------------------------------

async function onePlace(place, places, declared, page) {
  const here = `"table" = ${quoted(place.table)}`;
  const messages = `(SELECT * FROM (${declared.messages}) WHERE ${here} AND place = ${quoted(place.key)})`;
  const [facts, [{ n }], posts, pinned] = await Promise.all([
    query(`SELECT * FROM (${declared.facts}) WHERE ${here} AND key = ${quoted(place.key)} AND value IS NOT NULL ORDER BY place`),
    query(`SELECT COUNT(*) AS n FROM ${messages} WHERE reply_to IS NULL`),
    query(`SELECT * FROM ${messages} WHERE reply_to IS NULL ORDER BY time DESC, key DESC LIMIT ${PAGE} OFFSET ${(page - 1) * PAGE}`),
    query(`SELECT * FROM ${messages} WHERE pinned ORDER BY time, key`),
  ]);
  const replies = await query(`SELECT * FROM ${messages} WHERE reply_to IN (${posts.map((one) => quoted(one.key)).join(", ")}) ORDER BY time, key`);
  const byPost = Map.groupBy(replies, (one) => one.reply_to);
  const above = places.find((one) => one.of === null && one.section === place.section && one.key === place.of);
  return [
    h("p", {}, above && ["Channel of ", h("a", { href: at(above) }, above.name), " · "], rowLink(place.table, place.column, place.key, "Row")),
    h("details", { open: !place.has_messages }, h("summary", {}, "About"),
      h("dl", {}, facts.map(({ name, value }) => [h("dt", {}, name), h("dd", {}, String(value))]))),
    pinned.length ? h("section", { "aria-label": "Pinned" }, h("h2", {}, "Pinned"), h("ul", {}, pinned.map(pinView))) : null,
    place.has_messages ? [
      h("section", { "aria-label": "Messages" }, n ? posts.reverse().map((one) => messageView(one, byPost.get(one.key) ?? [], "h2")) : h("p", { class: "quiet" }, "No messages.")),
      paging(place, page, n),
    ] : null,
  ];
}

function pinView({ row_table: table, row_column: column, key, sender, title, text }) {
  const gist = title || text || "(no text)";
  return h("li", {}, rowLink(table, column, key, gist.length > GIST ? `${gist.slice(0, GIST)}…` : gist), h("span", { class: "quiet" }, ` ${sender ?? ""}`));
}

function messageView(message, replies, level) {
  const { row_table: table, row_column: column, key, time, sender, title, text, reactions, pinned, edited, deleted } = message;
  const id = `message-${table}-${key}`;
  return h("article", { "aria-labelledby": id, class: deleted ? "gone" : null },
    h(level, { id }, sender || "(no sender)", " ", h("time", { class: "quiet" }, minute(time)),
      pinned ? badge("pinned") : null, edited ? badge(`edited ${minute(edited)}`) : null, deleted ? badge(`deleted ${minute(deleted)}`) : null),
    title && h("p", {}, h("strong", {}, title)),
    h("pre", {}, text ?? ""),
    reactions && h("ul", { class: "reactions", "aria-label": "Reactions" }, reactions.split("\n").map((line) => h("li", {}, line))),
    h("p", {}, rowLink(table, column, key, "Row of the message")),
    replies.map((reply) => messageView(reply, [], "h3")));
}

function paging(place, page, count) {
  const last = Math.max(1, Math.ceil(count / PAGE));
  const to = (number, label) => number >= 1 && number <= last && h("a", { href: at(place, number) }, label);
  return last > 1 && h("p", { class: "paging" }, to(page + 1, "Older"), to(page - 1, "Newer"), h("span", { role: "status" }, `page ${page} of ${last}`));
}
