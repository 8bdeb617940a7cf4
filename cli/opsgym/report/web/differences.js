// What an episode did to the databases: rows added, changed and removed, by gym server and table.

const SIGNS = { added: ["good", "+"], changed: ["other", "±"], removed: ["bad", MINUS] };
const ROWS_OPEN = 12;

function differences(found) {
  return Object.entries(found).map(([gym, { tables }]) => [
    h("h3", {}, gym),
    tables.length ? tables.map((table) => tableDifference(table)) : h("p", { class: "quiet" }, "The final database is as the seed was."),
  ]);
}

function tableDifference(table) {
  const counts = Object.keys(SIGNS).filter((change) => table[change]).map((change) => changeMark(change, `${count(table[change])} ${change}`));
  const all = table.added + table.changed + table.removed;
  const rest = all - table.rows.length;
  return folded([h("code", {}, table.table), " ", counts], [
    table.rows.length > 0 && tableOf(`Rows of ${table.table} that differ`, ["change", "key", ["what", "prose"]],
      table.rows.map((row) => [changeMark(row.change, row.change), keyOf(row.key), columns(row)])),
    rest > 0 && h("p", { class: "quiet" }, `${plural(rest, "more row")} not kept; the stored final database has them.`),
  ], { open: table.rows.length <= ROWS_OPEN });
}

function changeMark(change, text) {
  const [style, sign] = SIGNS[change];
  return h("span", { class: `verdict ${style}` }, h("span", { "aria-hidden": "true" }, sign), ` ${text} `);
}

const keyOf = (key) => Object.values(key).map(value).join(" ");

function columns({ change, before, after }) {
  const names = distinct([...Object.keys(before), ...Object.keys(after)]);
  return h("ul", { class: "columns" }, names.map((name) => h("li", {}, h("span", { class: "quiet" }, name), " ",
    change === "changed" ? [h("del", {}, value(before[name])), h("span", {}, " → "), h("ins", {}, value(after[name]))] : h("span", {}, value((change === "added" ? after : before)[name])))));
}

/** A value of a row, as SQL has it. */
function value(given) {
  if (given === null || given === undefined) return "null";
  return typeof given === "object" ? JSON.stringify(given) : String(given);
}
