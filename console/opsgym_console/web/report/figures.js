// Small drawings inside text and tables. Invariant: the text beside a drawing contains its values, so screen readers
// skip it.

/** A rate as a bar, its interval as a whisker. */
function rateBar(rate, range) {
  if (rate == null) return null;
  const x = (share) => (100 * share).toFixed(2);
  const drawn = [
    svg("rect", { class: "all", x: 0, y: 2, width: 100, height: 8, rx: 1.5 }),
    svg("rect", { class: "part", x: 0, y: 2, width: x(rate), height: 8, rx: 1.5 }),
  ];
  if (range) {
    drawn.push(svg("path", { class: "whisker", d: `M${x(range.low)} 6H${x(range.high)}M${x(range.low)} 3v6M${x(range.high)} 3v6` }));
  }
  return svg("svg", { class: "bar", viewBox: "0 0 100 12", preserveAspectRatio: "none", "aria-hidden": "true" }, drawn);
}

/** A success rate in a cell of a table: bar, number, interval. */
function rateCell(success) {
  if (success.rate == null) return NOTHING;
  return h("span", { class: "rate" }, rateBar(success.rate, success.interval), h("b", {}, percent(success.rate)),
    success.interval && h("span", { class: "quiet" }, interval(success.interval)),
    incomplete(success) && h("span", { class: "quiet" }, worstBest(success.coverage)));
}

/** Whether planned trials behind a rate have no score. */
const incomplete = ({ coverage }) => coverage != null && coverage.scored < coverage.planned;

/** The rates if every trial without a score failed, and if every one passed. */
const worstBest = ({ planned, scored, worst, best }) =>
  `${percent(worst)} to ${percent(best)} with ${count(planned - scored)} not scored`;

/** Parts of a whole in one line: `[name, value, class]`; every part stays wide enough to be seen. */
function partsBar(parts) {
  const whole = parts.reduce((sum, [, value]) => sum + value, 0);
  if (!whole) return null;
  const bar = h("div", { class: "parts", "aria-hidden": "true" });
  for (const [, value, name] of parts.filter(([, value]) => value > 0)) {
    const part = h("span", { class: name });
    part.style.flexGrow = String(value / whole);
    bar.append(part);
  }
  return bar;
}

/** A bar of parts with its legend; `format` writes a value. */
function partsFigure(parts, format) {
  const legend = parts.filter(([, value]) => value > 0).map(([name, value, style, link]) =>
    h("li", {}, h("span", { class: `dot ${style}`, "aria-hidden": "true" }), link ? h("a", { href: link }, name) : name, " ",
      h("b", {}, format(value))));
  return [partsBar(parts), h("ul", { class: "legend" }, legend)];
}

/** The outcome of a trial or verifier: a word, a sign and a colour. */
function verdict(name, text = words(name)) {
  const [style, sign] = { passed: ["good", "✓"], failed: ["bad", "✕"] }[name] ?? ["other", "!"];
  return h("span", { class: `verdict ${style}` }, h("span", { "aria-hidden": "true" }, sign), " ", text);
}
