// Files in their folders: the tree of folders, the trash, a search, and who reaches a file and why.
// Invariant: a search shows the files that the domain's own tool finds for the chosen user, so a person finds what an agent finds.

import { callTool, query, quoted } from "./api.js";
import { h, tableOf } from "./dom.js";
import { address, failure, heading, link } from "./view.js";

const ask = (sql) => query(sql, "postgres");
const select = (sql, condition) => ask(`SELECT * FROM (${sql}) AS chosen WHERE ${condition}`);

/** A folder, a file (its key in the path), what `place` has at its top level or in its `trash`, or what a search (`q`, `as`) finds. */
export async function files({ what: [key], how }, domain) {
  const { files: declared } = domain;
  if (!declared) throw new Error(`${domain.name} has no files.`);
  const tree = await treeOf(declared);
  const q = how.get("q") ?? "";
  const shown = q ? await found(q, how.get("as") ?? "", domain) : await selected(key, how, tree, declared);
  return {
    title: shown.title,
    content: [
      heading(shown.title, badges(shown.file)),
      searchForm(q, how.get("as") ?? "", domain),
      h("div", { class: "files" }, folderTree(tree, shown), h("div", {}, shown.content)),
    ],
  };
}

async function selected(key, how, tree, declared) {
  if (key) return oneFile(key, tree, declared);
  const place = tree.places.get(how.get("place")) ?? tree.places.values().next().value;
  if (!place) return { title: "Files", content: h("p", { class: "quiet" }, "There are no files.") };
  return how.get("trash") ? trashOf(place, declared) : topOf(place, declared);
}

// --- the tree ---------------------------------------------------------------------------------------------------------

/** Places and folders by key, with the keys of the folders in each of them. */
async function treeOf({ places, files: all }) {
  const [tops, folders, trash] = await Promise.all([
    ask(places),
    select(all, "folder AND NOT trashed"),
    ask(`SELECT place, count(*) AS n FROM (${all}) AS chosen WHERE trashed GROUP BY place`),
  ]);
  const tree = { places: new Map(tops.map((place) => [place.key, place])), folders: new Map(folders.map((one) => [one.key, one])), inside: new Map() };
  tree.trash = new Map(trash.map(({ place, n }) => [place, n]));
  for (const { key, parent, place } of folders) {
    const above = tree.folders.has(parent) ? parent : place;
    tree.inside.set(above, [...(tree.inside.get(above) ?? []), key]);
  }
  return tree;
}

/** Places with the folders of those that are open. */
function folderTree(tree, { open = [], current = null }) {
  const item = (key, href, name, note) => h("li", {},
    h("a", { href, "aria-current": key === current ? "true" : null }, name), note ? h("span", { class: "quiet" }, ` ${note}`) : null,
    open.includes(key) ? h("ul", {}, below(key)) : null);
  const below = (key) => [
    ...(tree.inside.get(key) ?? []).map((one) => item(one, address(["files", one]), tree.folders.get(one).name)),
    tree.trash.has(key) ? item(trashKey(key), address(["files"], { place: key, trash: 1 }), "Trash", tree.trash.get(key)) : null,
  ];
  const places = [...tree.places.values()].map(({ key, name, kind }) => item(key, address(["files"], { place: key }), name, kind));
  return h("aside", { "aria-label": "Folders" }, h("ul", {}, places));
}

const trashKey = (place) => `trash of ${place}`;

/** The folders above a file, from the top down. */
function pathOf(file, tree) {
  const path = [];
  for (let above = tree.folders.get(file.parent); above && !path.includes(above); above = tree.folders.get(above.parent)) path.unshift(above);
  return path;
}

// --- places and folders -----------------------------------------------------------------------------------------------

async function topOf(place, declared) {
  const [inside, access] = await Promise.all([
    select(declared.files, `place = ${quoted(place.key)} AND parent IS NULL AND NOT trashed`),
    select(declared.access, `file = ${quoted(place.key)}`),
  ]);
  return { title: place.name, current: place.key, open: [place.key], content: [fileList(inside), accessTable(access)] };
}

async function trashOf(place, { files: all }) {
  const inside = await select(all, `place = ${quoted(place.key)} AND trashed`);
  return { title: `Trash of ${place.name}`, current: trashKey(place.key), open: [place.key], content: fileList(inside) };
}

function fileList(rows) {
  if (!rows.length) return h("p", { class: "quiet" }, "Nothing is here.");
  return h("ul", { class: "list", "aria-label": "Files" }, rows.map((file) => h("li", { class: file.folder ? "folder" : null },
    h("span", {}, link(["files", file.key], {}, file.name), badges(file)),
    h("span", { class: "quiet" }, [file.folder ? "folder" : file.kind, file.people].filter(Boolean).join(", ")),
    h("time", { class: "quiet" }, file.time))));
}

function badges(file) {
  if (!file) return null;
  const texts = [...(file.labels ? file.labels.split("\n") : []), file.shared ? "shared" : null, file.trashed ? "in the trash" : null];
  return texts.filter(Boolean).map((text) => h("span", { class: "badge" }, text));
}

// --- one file ---------------------------------------------------------------------------------------------------------

async function oneFile(key, tree, declared) {
  const [[file], inside, facts, access] = await Promise.all([
    select(declared.files, `key = ${quoted(key)}`),
    select(declared.files, `parent = ${quoted(key)} AND NOT trashed`),
    ask(`SELECT * FROM (${declared.facts}) AS chosen WHERE file = ${quoted(key)} AND value IS NOT NULL ORDER BY place`),
    select(declared.access, `file = ${quoted(key)}`),
  ]);
  if (!file) throw new Error(`File ${key} is not in the database.`);
  const path = pathOf(file, tree);
  const place = tree.places.get((path[0] ?? file).place);
  return {
    file,
    title: file.name,
    current: key,
    open: [place?.key, ...path.map((one) => one.key), key],
    content: [
      trail(place, path, file, declared),
      file.folder ? fileList(inside) : null,
      h("dl", { "aria-label": "Facts" }, facts.map(({ name, value }) => [h("dt", {}, name), h("dd", {}, value)])),
      accessTable(access),
    ],
  };
}

function trail(place, path, file, { table, key: column }) {
  const above = [place ? link(["files"], { place: place.key }, place.name) : null, ...path.map(({ key, name }) => link(["files", key], {}, name))];
  return h("p", {}, above.filter(Boolean).map((one) => [one, " › "]), file.name, " · ", link(["tables", table, "row"], { [column]: file.key }, "Row"));
}

function accessTable(rows) {
  if (!rows.length) return null;
  const label = "Who reaches it";
  const lines = rows.map(({ who, note, role, gone, table, column, key, ...from }) => [
    [who ?? "unknown", gone ? h("span", { class: "badge" }, "account gone") : null, note ? h("span", { class: "quiet" }, ` ${note}`) : null],
    role,
    reason(from),
    link(["tables", table, "row"], { [column]: key }, "Row"),
  ]);
  return h("section", {}, h("h2", {}, label), tableOf(label, ["Who", "Role", "Why", "Row"], lines));
}

function reason({ folder, folder_name: folderName, drive, drive_name: driveName }) {
  if (folder) return ["inherited from ", link(["files", folder], {}, folderName)];
  if (drive) return ["member of ", link(["files"], { place: drive }, driveName)];
  return "direct";
}

// --- the search -------------------------------------------------------------------------------------------------------

function searchForm(q, user, { actors, files: { search } }) {
  const who = h("select", { id: "searcher" }, actors.map(({ name, note }) => h("option", { value: note, selected: note === user }, name)));
  const box = h("input", { type: "search", id: "file-search", value: q, placeholder: search.example, autocomplete: "off" });
  const submit = (event) => {
    event.preventDefault();
    location.hash = address(["files"], { q: box.value.trim(), as: who.value });
  };
  return h("form", { role: "search", class: "actions", submit },
    h("label", { for: "file-search" }, "Search files"), box, h("label", { for: "searcher" }, "as"), who, h("button", {}, "Search"));
}

async function found(q, user, { identity_header: header, actors, files: { search, files: all } }) {
  const actor = actors.find(({ note }) => note === user) ?? actors[0];
  const answer = await callTool(search.name, { ...search.given, [search.text]: q }, actor ? { [header]: actor.identity } : {});
  const title = `Search for ${q}`;
  if (answer.isError) return { title, content: failure(new Error(answer.text)) };
  const keys = (JSON.parse(answer.text)[search.files] ?? []).map(({ id }) => id);
  const rows = keys.length ? await select(all, `key IN (${keys.map(quoted).join(", ")})`) : [];
  const byKey = new Map(rows.map((row) => [row.key, row]));
  return { title, content: fileList(keys.map((one) => byKey.get(one)).filter(Boolean)) };
}
