// Differences between final databases and seeds: rows added, changed and removed, by gym server and table.

const SIGNS = { added: ["good", "+"], changed: ["other", "±"], removed: ["bad", MINUS] };
const ROWS_OPEN = 12;

function differences(byGym) {
  return Object.entries(byGym).map(([gym, { tables }]) => [
    h("h3", {}, gym),
    tables.length ? tables.map((table) => tableDifference(table)) : h("p", { class: "quiet" }, "The final database equals the seed."),
  ]);
}

function tableDifference(table) {
  const counts = Object.keys(SIGNS).filter((change) => table[change]).map((change) => changeMark(change, `${count(table[change])} ${change}`));
  const all = table.added + table.changed + table.removed;
  const rest = all - table.rows.length;
  return folded([h("code", {}, table.table), " ", counts], [
    table.rows.length > 0 && tableOf(`Rows of ${table.table} that differ`, ["change", "key", ["values", "prose"]],
      table.rows.map((row) => [changeMark(row.change, row.change), keyOf(row.key), columns(row)])),
    rest > 0 && h("p", { class: "quiet" }, `${plural(rest, "more row")} not listed; the stored final database has them.`),
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
function value(cell) {
  if (cell === null || cell === undefined) return "null";
  return typeof cell === "object" ? JSON.stringify(cell) : String(cell);
}
