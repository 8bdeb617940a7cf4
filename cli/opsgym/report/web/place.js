// Where in the page somebody is. Invariant: every place has an address, and Back leads to where one came from.
// `#/<section>?<filters>` is the overview, `#/trial/<cell key>/<task>/<trial>?<filters>` a trial.

/** The place that the address names. */
function here() {
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

/** Address of a place. */
function addressOf(path, query) {
  const search = new URLSearchParams([...query].filter(([, value]) => value !== "")).toString();
  return `#/${path.map(encodeURIComponent).join("/")}${search && `?${search}`}`;
}
