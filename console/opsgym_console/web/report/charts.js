// Charts. Invariant: a chart keeps its element when the page is updated, is drawn when it becomes visible or is printed, and gets all
// texts as data: tooltips are elements, never markup.

/** Hues of models: blue, vermilion, green, purple, orange, sky, grey, brown. */
const COLOURS = {
  light: ["#0072b2", "#d55e00", "#009e73", "#b0599a", "#c98a00", "#3f9fd6", "#6b6b6b", "#7a4a1f"],
  dark: ["#4ba3e3", "#f08a4b", "#33c79b", "#d98cc2", "#e8b84a", "#8accf2", "#a8a8a8", "#c79a6b"],
};
/** Shapes of the ways in which a model is used, agent and mode; they repeat after as many. */
const SYMBOLS = ["circle", "triangle", "rect", "diamond", "emptyCircle", "emptyTriangle", "emptyRect", "emptyDiamond"];
const charts = new Map();

/** A chart with its title, and its numbers in a folded table. */
function figure(id, label, data, option, height, table, clicked = null) {
  const chart = charts.get(id) ?? newChart(id);
  chart.box.style.height = `${height}px`;
  chart.box.setAttribute("aria-label", label);
  Object.assign(chart, { data, option, label, clicked });
  if (chart.shown) draw(chart);
  return h("figure", {}, h("figcaption", {}, label), chart.box, folded("Numbers", table, { key: `numbers-${id}`, name: "numbers" }));
}

function newChart(id) {
  const box = h("div", { class: "chart", role: "img", "data-chart": id });
  const chart = { box, shown: null };
  charts.set(id, chart);
  sight.observe(box);
  return chart;
}

const sight = new IntersectionObserver((seen) => {
  for (const { target, isIntersecting } of seen) {
    const chart = charts.get(target.dataset.chart);
    if (isIntersecting && !chart.shown) draw(chart);
  }
}, { rootMargin: "300px" });
const size = new ResizeObserver((changed) => {
  for (const { target } of changed) {
    const { shown } = charts.get(target.dataset.chart);
    if (target.clientWidth && (target.clientWidth !== shown.getWidth() || target.clientHeight !== shown.getHeight())) shown.resize();
  }
});

function draw(chart) {
  if (!window.echarts || !chart.box.clientWidth) return; // not loaded yet: see drawAll
  if (!chart.shown) {
    chart.shown = echarts.init(chart.box, null, { renderer: "svg" });
    chart.shown.on("click", (event) => chart.clicked?.(event));
    size.observe(chart.box);
  }
  const theme = themeOf(chart.box);
  chart.shown.setOption({ ...common(theme, chart.label), ...chart.option(chart.data, theme) }, { notMerge: true });
  chart.box.toggleAttribute("data-drawn", true);
}

const PRINTED_WIDTH = 460; // CSS pixels of one of two columns on a page of A4 or Letter within its margins
addEventListener("beforeprint", () => {
  for (const chart of charts.values()) {
    if (!chart.shown) draw(chart);
    if (chart.shown && chart.box.clientWidth > PRINTED_WIDTH) chart.shown.resize({ width: PRINTED_WIDTH });
  }
});
addEventListener("afterprint", () => { for (const chart of charts.values()) chart.shown?.resize(); });

/** Redraws drawn charts and draws visible ones: after the library has loaded or the theme has changed. */
function drawAll() {
  for (const chart of charts.values()) {
    if (chart.shown) draw(chart);
    else { sight.unobserve(chart.box); sight.observe(chart.box); }
  }
}

/** Colours of the page as it is now. */
function themeOf(box) {
  const style = getComputedStyle(box);
  const [ink, quiet, line, paper, panel] = ["--ink", "--quiet", "--line", "--paper", "--panel"].map((name) => style.getPropertyValue(name));
  const dark = style.colorScheme === "dark";
  return { ink, quiet, line, paper, panel, dark, narrow: box.clientWidth < 560, width: box.clientWidth,
    colours: dark ? COLOURS.dark : COLOURS.light };
}

function common(theme, label) {
  return {
    animation: false,
    aria: { enabled: true, label: { description: label } },
    color: theme.colours,
    textStyle: { color: theme.ink, fontFamily: "system-ui, sans-serif" },
    legend: { top: 0, left: 0, itemWidth: 14, itemHeight: 10, itemGap: 12, textStyle: { color: theme.ink } },
    tooltip: { trigger: "item", confine: true, backgroundColor: theme.panel, borderColor: theme.line, textStyle: { color: theme.ink }, formatter: tip },
  };
}

/** Height of the legend, whose names take as many lines as they need. */
function legendHeight(names, theme) {
  let [lines, left] = [1, 0];
  for (const name of distinct(names)) {
    const width = 34 + 6.8 * name.length;
    if (left && left + width > theme.width) [lines, left] = [lines + 1, 0];
    left += width;
  }
  return 18 + 22 * lines;
}

/** A tooltip: the lines of the point, else names. */
function tip({ data, seriesName, name }) {
  const lines = data?.tooltip ?? [seriesName, name];
  return h("div", {}, lines.filter(Boolean).map((line, i) => h(i ? "div" : "b", {}, line)));
}

const axis = (theme, rest = {}) => ({
  axisLine: { onZero: false, lineStyle: { color: theme.line } }, axisTick: { show: false }, axisLabel: { color: theme.quiet, ...rest.axisLabel },
  splitLine: { lineStyle: { color: theme.line } }, nameTextStyle: { color: theme.quiet }, ...without(rest, "axisLabel"),
});

function without({ [""]: _, ...rest }, name) {
  delete rest[name];
  return rest;
}

const shares = (theme, rest) => axis(theme, { type: "value", min: 0, max: 1, axisLabel: { formatter: (value) => `${Math.round(100 * value)}%` }, ...rest });

/** An axis has its name at its middle. */
const BELOW = { nameLocation: "middle", nameGap: 28 };
const LEFT = { nameLocation: "middle", nameGap: 44 };

/** Two axes in one place: the names of groups, and positions within them, of which the nth group has n - 0.5 to n + 0.5. */
function bands(groups, theme, rest) {
  return [axis(theme, { type: "category", data: groups, axisLabel: { color: theme.ink, interval: 0 }, ...rest }),
    { type: "value", show: false, min: -0.5, max: groups.length - 0.5, inverse: rest.inverse }];
}

/** Position of the nth of many dots in their group, side by side and at most so far apart. */
const abreast = (group, nth, many, apart) => group + (nth - (many - 1) / 2) * Math.min(apart, 0.76 / many);

/** A dot's look: a hue for each model, a shape for each agent and mode. */
const dotOf = (agent, theme) => ({ symbol: SYMBOLS[agent.shape % SYMBOLS.length], itemStyle: { color: colourOf(agent, theme), opacity: 1 } });

const colourOf = ({ hue }, theme) => theme.colours[hue] ?? theme.quiet;

/** Lines over the intervals of points: `[low, high]`, each end `[x, y]`. */
const intervalsOf = (name, color, ends, rest) => ({
  type: "line", name, silent: true, symbol: "none", z: 2, tooltip: { show: false }, itemStyle: { color }, lineStyle: { color, width: 2, opacity: 0.55 },
  data: ends.flatMap(([low, high]) => [low, high, ["-", "-"]]), ...rest,
});

/** Dots with their intervals: groups below each other, and in each a dot for every agent. `at(agent, group)` is a point of a group. */
function dotsOption({ groups, agents, at, name }, theme) {
  const onBands = { yAxisIndex: 1 };
  const series = agents.map((agent, nth) => {
    const points = groups.map((group, y) => ({ ...at(agent, group), y: abreast(y, nth, agents.length, 0.3) })).filter(({ rate }) => rate != null);
    return [
      { type: "scatter", name: agent.name, ...onBands, ...dotOf(agent, theme), symbolSize: 9, z: 3, data: points.map(({ rate, y, tooltip }) => ({ value: [rate, y], tooltip })) },
      intervalsOf(agent.name, colourOf(agent, theme), points.filter(({ interval }) => interval).map(({ interval: { low, high }, y }) => [[low, y], [high, y]]), onBands),
    ];
  }).flat();
  return { grid: { left: labelWidth(groups, theme), right: 24, top: legendHeight(agents.map((agent) => agent.name), theme), bottom: 46 },
    xAxis: shares(theme, { name, ...BELOW }), yAxis: bands(groups, theme, { inverse: true }), series };
}

/** Height of so many groups with so many dots each. */
const dotsHeight = (groups, many) => 80 + 24 * Math.ceil(many / 2) + groups * Math.max(40, 12 * many);

const pointOf = (series, name, success) => ({ rate: success?.rate, interval: success?.interval, tooltip: successTip(series, name, success) });

const successTip = (series, name, success) => success && [series, name, `${percent(success.rate)}, 95% interval ${interval(success.interval)}`,
  plural(success.tasks, "task")];

function heatOption({ domains, rows, at }, theme) {
  const data = rows.flatMap((row, y) => domains.map((domain, x) => {
    const success = at.get(`${row}\n${domain}`);
    const strong = theme.dark ? success?.rate < 0.46 : success?.rate > 0.72;
    return success?.rate == null ? null : { value: [x, y, success.rate], label: { color: strong ? "#ffffff" : "#0d1117" }, tooltip: [row, domain, `${percent(success.rate)}, 95% interval ${interval(success.interval)}`, plural(success.tasks, "task")] };
  })).filter(Boolean);
  const ramp = theme.dark ? ["#16283a", "#1f5c8f", "#5cb3f0", "#d5edff"] : ["#eef4fa", "#a9cfea", "#3e8ec4", "#0b4a7d"];
  return {
    grid: { left: labelWidth(rows, theme), right: 8, top: 8, bottom: 66 },
    xAxis: axis(theme, { type: "category", data: domains, splitLine: { show: false }, axisLabel: { color: theme.ink } }),
    yAxis: axis(theme, { type: "category", data: rows, inverse: true, splitLine: { show: false }, axisLabel: { color: theme.ink, width: labelWidth(rows, theme) - 12, overflow: "truncate" } }),
    visualMap: { min: 0, max: 1, calculable: false, orient: "horizontal", left: "center", bottom: 0, itemWidth: 12, itemHeight: 160, text: ["100%", "0%"], textStyle: { color: theme.quiet }, inRange: { color: ramp } },
    series: [{ type: "heatmap", data, itemStyle: { borderColor: theme.paper, borderWidth: 2, borderRadius: 4 },
      label: { show: true, formatter: ({ value }) => percent(value[2]), fontWeight: 600 } }],
  };
}

/** Room for the labels of a vertical axis. */
const labelWidth = (labels, theme) => Math.min(theme.narrow ? 150 : 340, 20 + 7 * Math.max(...labels.map((label) => label.length)));

/** Most points that all have their names beside them. */
const FEW = 5;

function paretoOption({ known, front }, theme) {
  const costs = known.map(({ score }) => score.cost_per_task);
  const logarithmic = Math.min(...costs) > 0; // $0 has no place on a logarithmic axis
  const point = ({ score }) => [score.cost_per_task, score.success.rate];
  const series = known.map((agent) => [
    { type: "scatter", name: agent.name, ...dotOf(agent, theme), symbolSize: 12, z: 4, labelLayout: { hideOverlap: true, moveOverlap: "shiftY" },
      data: [{ value: point(agent), tooltip: [...successTip(agent.name, `${dollars(agent.score.cost_per_task)} per task`, agent.score.success), front.includes(agent) && "on the front"] }],
      label: { show: front.includes(agent) || known.length <= FEW, position: "top", formatter: () => cutTo(agent.name, theme.narrow ? 18 : 40), // the others: legend, tooltip
        color: theme.ink, textBorderColor: theme.paper, textBorderWidth: 3 } },
    intervalsOf(agent.name, colourOf(agent, theme), [agent].filter(({ score }) => score.success.interval).map(({ score }) =>
      [[score.cost_per_task, score.success.interval.low], [score.cost_per_task, score.success.interval.high]])),
  ]).flat();
  return {
    grid: { left: 26, right: 40, top: 16 + legendHeight(known.map(({ name }) => name), theme), bottom: 30, containLabel: true },
    xAxis: axis(theme, { type: logarithmic ? "log" : "value", name: `cost per task${logarithmic ? ", logarithmic" : ""}`, ...BELOW,
      ...(logarithmic ? logTicks(costs, costLabel) : { min: 0, axisLabel: costLabel }) }),
    yAxis: shares(theme, { name: "success", ...LEFT }),
    series: [...series, { type: "line", name: "front", z: 1, data: front.map(point), step: "end", symbol: "none", silent: true, lineStyle: { type: "dashed", color: theme.quiet, width: 1.5 } }],
    legend: { ...common(theme).legend, data: known.map(({ name }) => name) },
  };
}

/** A logarithmic axis around values: 1, 2 and 5 with zeros, from the last one below the lowest to the first one above the highest. */
function logTicks(values, label) {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const decades = Array.from({ length: Math.ceil(Math.log10(high)) - Math.floor(Math.log10(low)) + 2 }, (_, i) => Math.floor(Math.log10(low)) - 1 + i);
  const ticks = decades.flatMap((decade) => [1, 2, 5].map((step) => Number((step * 10 ** decade).toPrecision(1))));
  const [min, max] = [ticks.findLast((tick) => tick < low), ticks.find((tick) => tick > high)];
  const customValues = ticks.filter((tick) => tick >= min && tick <= max);
  return { min, max, axisTick: { show: false, customValues }, axisLabel: { ...label, customValues } };
}

const cutTo = (text, length) => text.length > length ? `${text.slice(0, length - 1)}…` : text;
const costLabel = { formatter: (value) => value === 0 ? "$0" : `$${Number(value.toPrecision(3))}`, hideOverlap: true };

/** Failed trials by failure mode, stacked by model. */
function modesOption({ analysis, run }, theme) {
  const { models } = run;
  const groups = [...models.map((model, hue) => [model, colourOf({ hue }, theme), (name) => name === model]), ["others", theme.quiet, (name) => !models.includes(name)]];
  const labels = analysis.modes.map(({ mode }) => words(mode));
  const series = groups.map(([name, color, belongs]) => ({
    type: "bar", name, stack: "all", barMaxWidth: 20, cursor: "pointer", itemStyle: { color },
    emphasis: { disabled: true }, // it moves the bar to the end of the SVG; browsers drop a click whose element was moved between press and release
    data: analysis.modes.map((mode) => {
      const value = total(mode.trials.filter((_, cell) => belongs(run.data.cells[cell].cell.model)));
      return { value, tooltip: [words(mode.mode), name, plural(value, "failed trial")] };
    }),
  })).filter(({ data }) => data.some(({ value }) => value));
  return {
    grid: { left: labelWidth(labels, theme), right: 24, top: legendHeight(series.map(({ name }) => name), theme), bottom: 46 },
    xAxis: axis(theme, { type: "value", name: "failed trials", ...BELOW, minInterval: 1 }),
    yAxis: axis(theme, { type: "category", inverse: true, data: labels, axisLabel: { color: theme.ink, width: labelWidth(labels, theme) - 12, overflow: "truncate" } }),
    series,
  };
}

/** Success by mode: a line for each model and agent, its dots with the shape of their mode. */
function overloadOption({ modes, lines }, theme) {
  const onBands = { xAxisIndex: 1 };
  const series = lines.map(({ name, agents }, nth) => {
    const color = colourOf(agents.find(Boolean), theme);
    const points = agents.map((agent, x) => ({ agent, x: abreast(x, nth, lines.length, 0.06), success: agent?.score.success })).filter(({ success }) => success?.rate != null);
    return [
      { type: "line", name, ...onBands, z: 3, symbolSize: 9, symbol: "circle", itemStyle: { color }, lineStyle: { width: 1.5, color },
        data: points.map(({ agent, x, success }) => ({ value: [x, success.rate], ...dotOf(agent, theme), tooltip: successTip(name, words(agent.mode), success) })) },
      intervalsOf(name, color, points.filter(({ success }) => success.interval).map(({ x, success: { interval: { low, high } } }) => [[x, low], [x, high]]), onBands),
    ];
  }).flat();
  return { grid: { left: 26, right: 16, top: legendHeight(lines.map(({ name }) => name), theme), bottom: 30, containLabel: true },
    xAxis: bands(modes.map(words), theme, { name: "tools shown", ...BELOW }), yAxis: shares(theme, { name: "success", ...LEFT }), series };
}
