// Elements and addresses of views. Invariant: every view has an address.

import { h } from "./dom.js";

/** The heading of a view, which gets the focus when the view is shown. */
export function heading(...children) {
  return h("h1", { tabindex: "-1" }, ...children);
}

/** A link to a view, by its path and query. */
export function link(path, query, ...children) {
  return h("a", { href: address(path, query) }, ...children);
}

/** Address of a view. */
export function address(path, query = {}) {
  const entries = Object.entries(query).filter(([, value]) => value !== "" && value != null);
  const search = new URLSearchParams(entries).toString();
  return `#/${path.map(encodeURIComponent).join("/")}${search && `?${search}`}`;
}

/** Sets the address bar without loading the view again. */
export function remember(path, query) {
  history.replaceState(null, "", address(path, query));
}

/** A value of a row, as SQL writes it. */
export function cell(value) {
  if (value === null || value === undefined) return h("span", { class: "null" }, "null");
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** The message of a view that cannot be loaded. */
export function failure(error) {
  return h("p", { class: "failure", role: "alert" }, error.message);
}
