// Panels over time with one x axis. uPlot is used in this file only.
import { byId, el, format, tick } from "./dom.js";
import { gestures } from "./gestures.js";
import { END, H, TIMES } from "./head.js";
import { EVENTS, icon, pathOf } from "./marks.js";
import { capacity, flowsOf, linesOf, marks, showsFlows } from "./series.js";
import { save, state } from "./state.js";
import { colourOf, css, lookOf } from "./theme.js";

const SHORTEST = 5, WIDE_PX = 760, PRINTED_PX = 680;
const AHEAD_PX = 300;
/** The panels: what they show, their elements, and their chart once they have come near the view. */
let charts = [], withFlows = false, printing = false;

// Panels out of view are neither made nor redrawn: that would take most of the time.
const watcher = new IntersectionObserver(entries => {
  for (const entry of entries) {
    const chart = charts.find(one => one.box === entry.target);
    if (!chart) continue;
    chart.near = entry.isIntersecting;
    if (chart.near) refresh(chart);
  }
}, { rootMargin: `${AHEAD_PX}px 0px` });

/** Make a chart, or bring it to the current range. */
function refresh(chart) {
  if (!chart.u) {
    Object.assign(chart, chartOf(chart));
    listMeans();
  } else if (chart.u.scales.x.min !== state.from || chart.u.scales.x.max !== state.to)
    chart.u.setScale("x", { min: state.from, max: state.to });
}

const made = () => charts.filter(chart => chart.u);

/** Set the range of all panels, in seconds. */
export function setRange(from, to) {
  const least = SHORTEST * H.time.step, width = Math.min(END, Math.max(least, to - from));
  const begin = Math.max(0, Math.min(from, END - width));
  [state.from, state.to] = [begin, begin + width];
  charts.filter(chart => chart.near).forEach(refresh);
  listMeans();
  save();
}

/** Stretches of at least two intervals without capacity. */
function outages() {
  const values = capacity(), found = [];
  for (let i = 0, first = -1; values && i <= values.length; i++) {
    const none = i < values.length && values[i] !== null && values[i] <= 0;
    if (none && first < 0) first = i;
    if (!none && first >= 0) {
      if (i - first >= 2) found.push([first ? TIMES[first - 1] : 0, TIMES[i - 1]]);
      first = -1;
    }
  }
  return found;
}

function shade(u, stretches) {
  const { ctx, bbox } = u;
  ctx.save();
  ctx.fillStyle = css("--outage");
  for (const [from, to] of stretches) {
    if (to < u.scales.x.min || from > u.scales.x.max) continue;
    const left = Math.max(bbox.left, u.valToPos(from, "x", true)), right = Math.min(bbox.left + bbox.width, u.valToPos(to, "x", true));
    ctx.fillRect(left, bbox.top, right - left, bbox.height);
  }
  ctx.restore();
}

function drawLevels(u, levels) {
  const { ctx, bbox } = u;
  ctx.save();
  ctx.strokeStyle = ctx.fillStyle = css("--soft");
  ctx.lineWidth = devicePixelRatio;
  ctx.font = `${10 * devicePixelRatio}px system-ui, sans-serif`;
  levels.forEach(([value, text], k) => {
    const y = u.valToPos(value, "y", true);
    if (y < bbox.top || y > bbox.top + bbox.height) return;
    ctx.setLineDash([5 * devicePixelRatio, 3 * devicePixelRatio]);
    ctx.beginPath();
    ctx.moveTo(bbox.left, y);
    ctx.lineTo(bbox.left + bbox.width, y);
    ctx.stroke();
    // Neighbouring levels have their labels at different ends.
    ctx.textAlign = k % 2 ? "left" : "right";
    ctx.fillText(text, k % 2 ? bbox.left + 4 : bbox.left + bbox.width - 4, y - 3 * devicePixelRatio);
  });
  ctx.restore();
}

function heightAt(values, time) {
  const i = Math.min(TIMES.length - 1, Math.max(0, Math.ceil(time / H.time.step) - 1));
  return values[i] ?? values[i - 1] ?? values[i + 1] ?? null;
}

function drawMarks(u, lines) {
  const { ctx, bbox } = u, ratio = devicePixelRatio;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  for (const { scheme, event, times } of marks()) {
    const line = lines.find(one => one.scheme === scheme);
    if (!line) continue;
    const path = new Path2D(pathOf(EVENTS[event]));
    for (const time of times) {
      if (time < u.scales.x.min || time > u.scales.x.max) continue;
      const height = heightAt(line.values, time);
      if (height === null) continue;
      ctx.setTransform(ratio, 0, 0, ratio, u.valToPos(time, "x", true), u.valToPos(height, "y", true));
      ctx.fillStyle = colourOf(lookOf(scheme, line.look));
      ctx.strokeStyle = css("--ink");
      ctx.lineWidth = 0.8;
      ctx.fill(path);
      ctx.stroke(path);
    }
  }
  ctx.restore();
}

function seriesOf(line) {
  const colour = colourOf(lookOf(line.scheme, line.look));
  const thin = line.role !== "line";
  return {
    label: line.name,
    stroke: line.role === "low" || line.role === "high" ? "transparent" : thin ? colour + "80" : colour,
    width: thin ? 0.9 : 1.5,
    dash: line.dash.length ? line.dash : undefined,
    points: { show: false },
    show: !state.off.has(line.scheme),
  };
}

const heightOf = panel => (panel.key === "rate" ? 190 : 150);

function chartOf({ panel, box, values, width, wide }) {
  const behind = panel.over ? capacity() : null;
  const lines = linesOf(panel), flows = flowsOf(panel);
  // Flows are drawn first, behind the lines.
  const drawn = [...flows, ...lines], first = behind ? 2 : 1;
  const data = [TIMES, ...(behind ? [behind] : []), ...drawn.map(line => line.values)];
  const stepped = window.uPlot.paths.stepped({ align: -1 });
  const series = [{}];
  if (behind) series.push({ label: "capacity", stroke: css("--cap-line"), fill: css("--cap"), width: 1, points: { show: false }, paths: stepped });
  for (const line of drawn) series.push({ ...seriesOf(line), ...(panel.over ? { paths: stepped } : {}) });
  const bands = [];
  flows.forEach((line, k) => {
    const other = flows.findIndex(one => one.role === "low" && one.label === line.label);
    if (line.role === "high" && other >= 0) bands.push({ series: [first + k, first + other], fill: colourOf(lookOf(line.scheme, line.look)) + "30" });
  });
  const axis = { stroke: css("--soft"), grid: { stroke: css("--grid"), width: 1 }, ticks: { stroke: css("--grid"), width: 1 }, font: "11px system-ui, sans-serif" };
  const axes = [{ ...axis, size: 24, values: (_, ticks) => ticks.map(value => `${tick(value)} s`) }, { ...axis, size: 52, values: (_, ticks) => ticks.map(tick) }];
  const scales = {
    x: { time: false, min: state.from, max: state.to },
    y: { range: (_, low, high) => (low === null ? [0, 1] : [Math.min(0, low * 1.05), high > 0 ? high * 1.06 : low < 0 ? 0 : 1]) },
  };
  const right = { ...axis, side: 1, size: 44, grid: { show: false } };
  if (panel.second && wide) {
    scales.second = { from: "y", range: (_, low, high) => [low * panel.second[1], high * panel.second[1]] };
    axes.push({ ...right, scale: "second", values: (_, ticks) => ticks.map(tick) });
  } else if (wide && H.panels.some(one => one.second)) {
    // All panels have the same width of x axis.
    axes.push({ ...right, scale: "y", ticks: { show: false }, values: (_, ticks) => ticks.map(() => "") });
  }
  const shaded = outages();
  const u = new window.uPlot({
    width, height: heightOf(panel),
    legend: { show: false },
    padding: [8, 4, 0, 0],
    cursor: {
      sync: { key: "time", setSeries: false },
      drag: { x: true, y: false, setScale: false },
      points: { size: 5 },
      bind: { dblclick: () => () => (setRange(0, END), null) },
    },
    focus: { alpha: 0.2 },
    scales, series, bands, axes,
    hooks: {
      drawClear: [one => shade(one, shaded)],
      draw: [one => (drawLevels(one, panel.levels), panel.marks && drawMarks(one, lines))],
      setSelect: [one => {
        if (one.select.width < 4) return;
        const [low, high] = [one.select.left, one.select.left + one.select.width].map(x => one.posToVal(x, "x"));
        one.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
        setRange(low, high);
      }],
      setCursor: [one => showValues(one, values, lines, behind)],
    },
  }, data, box);
  gestures(u, setRange);
  return { u, first: first + flows.length, lines, behind };
}

function showValues(u, box, lines, behind) {
  const i = u.cursor.idx;
  if (i === null || i === undefined || u.cursor.left < 0) return listMeans();
  list(box, `at ${TIMES[i].toFixed(2)} s`, lines, behind, values => values[i]);
}

/** List the values of the shown lines, the largest first. */
function list(box, title, lines, behind, valueOf) {
  const row = (name, value) => el("div", {}, el("span", {}, ...name), el("b", {}, format(value)));
  const rows = lines
    .filter(line => !state.off.has(line.scheme))
    .map(line => [line, valueOf(line.values)])
    .filter(([, value]) => value !== null)
    .sort(([, a], [, b]) => b - a)
    .map(([line, value]) => row([icon(lookOf(line.scheme, line.look)), ` ${line.name}`], value));
  box.replaceChildren(el("div", { class: "soft" }, title), behind ? row(["capacity"], valueOf(behind)) : "", ...rows);
}

let later = 0;

/** List the means in view, when the view has not changed for a moment. */
function listMeans() {
  clearTimeout(later);
  later = setTimeout(() => {
    const [first, last] = [TIMES.findIndex(time => time > state.from), TIMES.findLastIndex(time => time <= state.to + H.time.step / 2)];
    const mean = values => {
      let sum = 0, count = 0;
      for (let i = first; i <= last; i++) if (values[i] !== null) (sum += values[i]), count++;
      return count ? sum / count : null;
    };
    for (const { lines, values, behind } of made()) list(values, "mean in view", lines, behind, mean);
  }, 200);
}

function noteOf(panel, wide) {
  const parts = [];
  if (panel.second && wide) parts.push(`right: ${panel.second[0]}`);
  if (panel.marks) {
    const found = marks(), kinds = [...new Set(found.filter(one => one.times.length).map(one => one.event))];
    if (kinds.length) parts.push(kinds.map(kind => ({ loss: "▼ loss", timeout: "✖ timeout", "ecn reduction": "♦ ECN reduction", "spurious timeout": "★ spurious timeout" })[kind]).join(", "));
    else if (state.seed === "mean" && H.marks.length) parts.push("losses are marked for single seeds");
    const many = new Set(found.filter(one => one.leftOut).map(one => H.schemes[one.scheme].name));
    if (many.size) parts.push(`not marked, more than ${H.most_marks}: of ${[...many].join(", ")}`);
  }
  return parts.join("; ");
}

/** Draw all panels. */
export function drawPanels() {
  watcher.disconnect();
  for (const { u } of made()) u.destroy();
  const main = byId("panels");
  const wide = innerWidth > WIDE_PX && !printing;
  const width = printing ? PRINTED_PX : Math.max(280, (main.clientWidth || 1000) - (wide ? 216 : 0));
  withFlows = showsFlows();
  main.replaceChildren();
  charts = H.panels.map(panel => {
    const box = el("div", { class: "chart" }), values = el("div", { class: "values" });
    const title = panel.unit ? `${panel.title} (${panel.unit})` : panel.title, note = noteOf(panel, wide);
    main.append(el("div", { class: "panel", role: "img", "aria-label": title },
      el("div", {}, el("h3", {}, title, note ? el("span", { class: "soft" }, ` ${note}`) : null), box), values));
    // An element that is empty at first has the height that it will have.
    box.style.minHeight = `${heightOf(panel)}px`;
    return { panel, box, values, width, wide, near: false, u: null };
  });
  for (const chart of charts) {
    chart.near = printing || chart.box.getBoundingClientRect().top < innerHeight + AHEAD_PX;
    if (chart.near) refresh(chart);
    watcher.observe(chart.box);
  }
  const seed = state.seed === "mean" ? `mean of ${H.seeds.length} seeds` : H.seeds.length > 1 ? `seed ${state.seed + 1} of ${H.seeds.length}` : "";
  byId("seed").textContent = seed;
  byId("time").hidden = !H.panels.length;
  listMeans();
}

/** Show or hide lines. */
export function updatePanels() {
  if (showsFlows() !== withFlows) return drawPanels();
  for (const { u, first, lines } of made())
    u.batch(() => lines.forEach((line, k) => {
      const visible = !state.off.has(line.scheme);
      if (u.series[first + k].show !== visible) u.setSeries(first + k, { show: visible });
    }));
  listMeans();
}

/** Dim all lines but those of the scheme under the pointer. */
export function lightPanels() {
  for (const { u, first, lines } of made()) {
    const place = state.lit === null ? -1 : lines.findIndex(line => line.scheme === state.lit);
    u.setSeries(place < 0 ? null : first + place, { focus: place >= 0 });
  }
}

/** Redraw for paper, and back. */
export function printPanels(on) {
  printing = on;
  drawPanels();
}

/** Return the charts with what they show, for saving. */
export function shownCharts() {
  charts.forEach(refresh);
  return charts;
}
