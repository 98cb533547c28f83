// One panel as a chart. uPlot is used in this file only.
import { tick } from "./dom.js";
import { gestures } from "./gestures.js";
import { END, H, TIMES } from "./head.js";
import { drawLevels, drawMarks, drawStretches, outages, shade } from "./overlays.js";
import { capacity, flowsOf, linesOf } from "./series.js";
import { state } from "./state.js";
import { colourOf, css, lookOf } from "./theme.js";

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

const { uPlot } = /** @type {any} */ (window);

/** Return the height of a panel, in pixels. */
export const heightOf = panel => (panel.stretches?.length ? 72 : panel.key === "rate" ? 190 : 150);

function rangeOf(low, high, top) {
  if (low === null) return [0, 1];
  const end = high > 0 ? high * 1.06 : low < 0 ? 0 : 1;
  return [Math.min(0, low * 1.05), top ? Math.min(top, end) : end];
}

/** Make a chart. `actions` has setRange and cursor, which is called with the chart when the cursor moves. */
export function chartOf({ panel, box, width, wide }, actions) {
  const behind = panel.over ? capacity() : null;
  const lines = linesOf(panel), flows = flowsOf(panel);
  // Flows are drawn first, behind the lines.
  const drawn = [...flows, ...lines], first = behind ? 2 : 1;
  const times = panel.times || TIMES;
  const data = [times, ...(behind ? [behind] : []), ...drawn.map(line => line.values)];
  const stepped = uPlot.paths.stepped({ align: -1 });
  const series = [{}];
  if (behind) series.push({ label: "capacity", stroke: css("--cap-line"), fill: css("--cap"), width: 1, points: { show: false }, paths: stepped });
  for (const line of drawn) series.push({ ...seriesOf(line), ...(panel.over ? { paths: stepped } : {}) });
  const bands = [];
  flows.forEach((line, k) => {
    const other = flows.findIndex(one => one.role === "low" && one.label === line.label);
    if (line.role === "high" && other >= 0) bands.push({ series: [first + k, first + other], fill: colourOf(lookOf(line.scheme, line.look)) + "30" });
  });
  /** @type {any} */
  const axis = { stroke: css("--soft"), grid: { stroke: css("--grid"), width: 1 }, ticks: { stroke: css("--grid"), width: 1 }, font: "11px system-ui, sans-serif" };
  const axes = [{ ...axis, size: 24, values: (_, ticks) => ticks.map(value => `${tick(value)} s`) }, { ...axis, size: 52, values: (_, ticks) => ticks.map(value => (panel.stretches?.length ? "" : tick(value))) }];
  /** @type {any} */
  const scales = {
    x: { time: false, min: state.from, max: state.to },
    y: { range: (_, low, high) => rangeOf(low, high, panel.top) },
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
  const u = new uPlot({
    width, height: heightOf(panel),
    legend: { show: false },
    padding: [8, 16, 0, 0],
    cursor: {
      sync: { key: "time", setSeries: false },
      drag: { x: true, y: false, setScale: false },
      points: { size: 5 },
      bind: { dblclick: () => () => (actions.setRange(0, END), null) },
    },
    focus: { alpha: 0.2 },
    scales, series, bands, axes,
    hooks: {
      drawClear: [one => shade(one, shaded)],
      draw: [one => {
        drawLevels(one, panel.levels);
        if (panel.marks) drawMarks(one, lines);
        if (panel.stretches?.length) drawStretches(one, panel);
      }],
      setSelect: [one => {
        if (one.select.width < 4) return;
        const [low, high] = [one.select.left, one.select.left + one.select.width].map(x => one.posToVal(x, "x"));
        one.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
        actions.setRange(low, high);
      }],
      setCursor: [one => actions.cursor(one, { lines, behind, times })],
    },
  }, data, box);
  gestures(u, actions.setRange);
  return { u, first: first + flows.length, lines, behind, times };
}
