// Entries with a start and an end, week by week. Invariant: times are those of the wall clock in the zone of the entry.

import { query, quoted, readClock } from "./api.js";
import { h } from "./dom.js";
import { address, heading, link } from "./view.js";

const DAY_MS = 86400000;
const NAMES = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

/** A week of one list; `list` selects it, `from` is a day of the week. */
export async function week({ how }, domain) {
  const { timeline } = domain;
  if (!timeline) throw new Error(`${domain.name} has no entries with a start and an end.`);
  const lists = await listsOf(timeline);
  if (!lists.length) return { title: "Week", content: [heading("Week"), h("p", { class: "quiet" }, "There are no entries.")] };
  const list = lists.find(({ key }) => key === how.get("list")) ?? lists[0];
  const monday = mondayOf(dayOf(how.get("from")) ?? dayOf((await readClock()).time));
  const entries = await entriesOf(timeline, list.key, monday);
  const days = NAMES.map((name, i) => dayView(name, monday + i * DAY_MS, entries, timeline));
  return {
    title: `Week of ${text(monday)}, ${list.name}`,
    content: [
      heading(list.name, h("span", { class: "quiet" }, ` week of ${text(monday)}`)),
      choices(lists, list, monday),
      h("section", { class: "week", "aria-label": `Week of ${text(monday)}` }, days),
    ],
  };
}

/** Lists that have entries, by name. */
async function listsOf({ query: all }) {
  const rows = await query(`SELECT list_key, list_name, COUNT(*) AS n FROM (${all}) GROUP BY list_key, list_name ORDER BY list_name, list_key`);
  return rows.map(({ list_key: key, list_name: name, n }) => ({ key, name, n }));
}

/** Entries of a list that touch a week, by start. */
function entriesOf({ query: all }, list, monday) {
  const [first, last] = [midnight(monday), midnight(monday + 7 * DAY_MS)];
  return query(`SELECT * FROM (${all}) WHERE list_key = ${quoted(list)} AND starts < '${last}' AND ends > '${first}' ORDER BY starts, ends, title, key`);
}

function choices(lists, list, monday) {
  const select = h("select", { id: "list", change: () => { location.hash = at(select.value, monday); } },
    lists.map(({ key, name, n }) => h("option", { value: key, selected: key === list.key }, `${name} (${n})`)));
  return h("p", { class: "actions" },
    h("label", { for: "list" }, "Calendar"), select,
    h("a", { href: at(list.key, monday - 7 * DAY_MS) }, "Week before"),
    h("a", { href: at(list.key, monday + 7 * DAY_MS) }, "Week after"),
    h("a", { href: address(["week"], { list: list.key }) }, "Week of the clock"));
}

const at = (list, monday) => address(["week"], { list, from: text(monday) });

function dayView(name, day, entries, timeline) {
  const [first, next] = [midnight(day), midnight(day + DAY_MS)];
  const shown = entries.filter(({ starts, ends }) => starts < next && (ends > first || starts >= first));
  const id = `day-${text(day)}`;
  return h("section", { class: "day", "aria-labelledby": id },
    h("h2", { id }, name, h("span", { class: "quiet" }, ` ${first.slice(8, 10)}.${first.slice(5, 7)}.`)),
    shown.length ? h("ul", {}, shown.map((entry) => entryView(entry, first, next, timeline))) : h("p", { class: "quiet" }, "Nothing"));
}

function entryView({ key, title, starts, ends, zone, note }, first, next, timeline) {
  const begins = starts > first ? starts.slice(11, 16) : "00:00";
  const finishes = ends < next ? ends.slice(11, 16) : "24:00";
  const time = begins === "00:00" && finishes === "24:00" ? "whole day" : `${begins}–${finishes}`;
  return h("li", { class: note === "cancelled" ? "off" : null },
    h("span", { class: "hours", title: zone }, time), " ",
    link(["tables", timeline.table, "row"], { [timeline.key]: key }, title || "(no title)"),
    h("span", { class: "quiet" }, ` ${[zone, note].filter(Boolean).join(", ")}`));
}

/** A day as milliseconds; null if the text names none. */
function dayOf(value) {
  const day = Date.parse(`${(value ?? "").slice(0, 10)}T00:00:00Z`);
  return Number.isNaN(day) ? null : day;
}

const mondayOf = (day) => day - ((new Date(day).getUTCDay() + 6) % 7) * DAY_MS;
const text = (day) => new Date(day).toISOString().slice(0, 10);
const midnight = (day) => `${text(day)} 00:00:00`;
