// Addresses of views. Invariant: every view has an address, and Back leads to the previous view.
// `#/<section>?<filters>` is the overview, `#/trial/<cell key>/<task>/<trial>?<filters>` a trial.

/** The current view: its path and its query. */
function currentView() {
  const [path, search = ""] = location.hash.replace(/^#\/?/, "").split(/\?(.*)/s);
  return { path: path.split("/").filter(Boolean).map(unquote), query: new URLSearchParams(search) };
}

function unquote(part) {
  try {
    return decodeURIComponent(part);
  } catch { // a stray percent sign
    return part;
  }
}

/** Address of a view. */
function addressOf(path, query) {
  const search = new URLSearchParams([...query].filter(([, value]) => value !== "")).toString();
  return `#/${path.map(encodeURIComponent).join("/")}${search && `?${search}`}`;
}
