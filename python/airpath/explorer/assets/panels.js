// Panels over time with one x axis.
import { byId, el, format } from "./dom.js";
import { END, H } from "./head.js";
import { chartOf, heightOf } from "./plot.js";
import { marks, showsFlows } from "./series.js";
import { save, state } from "./state.js";
import { listAtCursor, listMeans } from "./values.js";

const SHORTEST = 5, WIDE_PX = 760, PRINTED_PX = 680;
const AHEAD_PX = 300;
const NAMES = { loss: "▼ loss", retransmission: "▼ retransmission", timeout: "✖ timeout", "ecn reduction": "♦ ECN reduction", "spurious timeout": "★ spurious timeout" };
/** The panels: their content, their elements, and their chart after they have come near the view. */
let charts = [], detail = [], withFlows = false, printing = false;

// Panels out of view are neither made nor redrawn, because that would take most of the time.
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
    const cursor = (u, of) => listAtCursor(u, { box: chart.values, panel: chart.panel, ...of }) || listMeans(made);
    Object.assign(chart, chartOf(chart, { setRange, cursor }));
    listMeans(made);
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
  listMeans(made);
  save();
}

function noteOf(panel, wide) {
  const parts = [];
  if (panel.top) parts.push(`larger values are cut off at ${format(panel.top)}`);
  if (panel.second && wide) parts.push(`right: ${panel.second[0]}`);
  if (panel.marks) {
    const found = marks(), kinds = [...new Set(found.filter(one => one.times.length).map(one => one.event))];
    if (kinds.length) parts.push(kinds.map(kind => NAMES[kind]).join(", "));
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
  charts = [...H.panels, ...detail].map(panel => {
    const box = el("div", { class: "chart" }), values = el("div", { class: "values" });
    const title = panel.unit ? `${panel.title} (${panel.unit})` : panel.title, note = noteOf(panel, wide);
    main.append(el("div", { class: "panel", role: "img", "aria-label": title },
      el("div", {}, el("h3", {}, title, note ? el("span", { class: "soft" }, ` ${note}`) : null), box), values));
    // An element that is empty at first has the height that it will have.
    box.style.minHeight = `${heightOf(panel)}px`;
    return { panel, box, values, width, wide, near: false, u: null };
  });
  hideEmpty();
  for (const chart of charts) {
    chart.near = printing || chart.box.getBoundingClientRect().top < innerHeight + AHEAD_PX;
    if (chart.near) refresh(chart);
    watcher.observe(chart.box);
  }
  const seed = state.seed === "mean" ? `mean of ${H.seeds.length} seeds` : H.seeds.length > 1 ? `seed ${state.seed + 1} of ${H.seeds.length}` : "";
  byId("seed").textContent = seed;
  byId("time").hidden = !H.panels.length;
  listMeans(made);
}

/** Hide the panels in which no shown scheme has a line. */
function hideEmpty() {
  for (const { panel, box } of charts)
    box.closest(".panel").hidden = !panel.fixed && [...panel.lines, ...panel.stretches].every(([scheme]) => state.off.has(scheme));
}

/** Show or hide lines. */
export function updatePanels() {
  if (showsFlows() !== withFlows) return drawPanels();
  for (const { u, first, lines } of made())
    u.batch(() => lines.forEach((line, k) => {
      const visible = !state.off.has(line.scheme);
      if (u.series[first + k].show !== visible) u.setSeries(first + k, { show: visible });
    }));
  hideEmpty();
  listMeans(made);
}

/** Dim all lines but those of the scheme under the pointer. */
export function lightPanels() {
  for (const { u, first, lines } of made()) {
    const place = state.lit === null ? -1 : lines.findIndex(line => line.scheme === state.lit);
    u.setSeries(place < 0 ? null : first + place, { focus: place >= 0 });
  }
}

/** Show panels of a part of a run, which have lines and times of their own, after the others. */
export function showDetail(panels) {
  if (!panels.length && !detail.length) return;
  detail = panels;
  drawPanels();
}

/** Redraw for paper, and back. */
export function printPanels(on) {
  printing = on;
  drawPanels();
}

/** Return the charts with their current content, for saving. */
export function shownCharts() {
  charts.forEach(refresh);
  return charts;
}
