// Axes of figures in SVG.
import { svg, tick } from "./dom.js";

function linearTicks(low, high, count) {
  const raw = (high - low) / count, power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map(k => k * power).find(k => k >= raw);
  const ticks = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k++) ticks.push(k * step);
  return ticks;
}

function logTicks(low, high, base, count) {
  const ticks = [];
  if (base === 2) {
    const first = Math.ceil(Math.log2(low)), last = Math.floor(Math.log2(high));
    for (let k = first; k <= last; k++) ticks.push(2 ** k);
    // Values that span less than two octaves have few powers of two between them.
    return ticks.length > 1 ? ticks : linearTicks(low, high, 4);
  }
  const first = Math.floor(Math.log10(low)), last = Math.ceil(Math.log10(high));
  const factors = (last - first) * 3 <= count * 2 ? [1, 2, 5] : [1];
  for (let k = first; k <= last; k++) for (const factor of factors) ticks.push(factor * 10 ** k);
  return ticks.filter(value => value >= low * 0.999 && value <= high * 1.001);
}

/** Return a scale: `to(value)` gives the place; `log` is 2, 10 or 0. */
function scale({ low, high, log = 0, reversed = false, ticks: count = 6 }, begin, end) {
  const warp = log ? value => Math.log(Math.max(value, low * 1e-3)) : value => value;
  const [a, b] = [warp(low), warp(high)], [first, last] = reversed ? [end, begin] : [begin, end];
  return {
    to: value => first + ((warp(value) - a) / (b - a || 1)) * (last - first),
    ticks: log ? logTicks(low, high, log, count) : linearTicks(low, high, count),
  };
}

const pen = document.createElement("canvas").getContext("2d");

/** Return the width of a text in a figure, in pixels. */
export function textWidth(text) {
  pen.font = "11px system-ui, sans-serif";
  return pen.measureText(text).width;
}

/** Return a figure with axes: its element, the places of values, and its edges. */
export function frame({ width, height, x, y, label }) {
  const edge = { left: y.log ? 58 : 48, right: width - 12, top: 10, bottom: height - 40 };
  const across = scale(x, edge.left, edge.right), up = scale(y, edge.bottom, edge.top);
  const picture = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": label });
  for (const value of across.ticks) {
    const at = across.to(value);
    picture.append(
      svg("line", { class: "grid", x1: at, x2: at, y1: edge.top, y2: edge.bottom }),
      svg("text", { x: at, y: edge.bottom + 15, "text-anchor": "middle" }, tick(value)),
    );
  }
  for (const value of up.ticks) {
    const at = up.to(value);
    picture.append(
      svg("line", { class: "grid", x1: edge.left, x2: edge.right, y1: at, y2: at }),
      svg("text", { x: edge.left - 6, y: at + 4, "text-anchor": "end" }, tick(value)),
    );
  }
  picture.append(
    svg("text", { x: (edge.left + edge.right) / 2, y: height - 6, "text-anchor": "middle" }, x.label),
    svg("text", { transform: `translate(11 ${(edge.top + edge.bottom) / 2}) rotate(-90)`, "text-anchor": "middle" }, y.label),
  );
  return { picture, X: across.to, Y: up.to, edge };
}
