// Values next to the panels: at the cursor, else the means in view.
import { el, format } from "./dom.js";
import { H, TIMES } from "./head.js";
import { icon } from "./marks.js";
import { state } from "./state.js";
import { lookOf } from "./theme.js";

/** List the values of a chart at the cursor; return whether the cursor is over a chart. */
export function listAtCursor(u, { box, panel, lines, behind, times }) {
  const i = u.cursor.idx;
  if (i === null || i === undefined || u.cursor.left < 0) return false;
  if (panel.stretches?.length) {
    const time = times[i];
    listStretches(box, `at ${time.toFixed(2)} s`, panel, (from, to) => (from < time && time <= to ? 1 : 0), () => "");
  } else list(box, `at ${times[i].toFixed(times === TIMES ? 2 : 3)} s`, lines, behind, values => values[i]);
  return true;
}

/** List the values of the shown lines, the largest first. */
function list(box, title, lines, behind, valueOf) {
  const row = (name, value) => el("div", {}, el("span", { title: name.at(-1).trim() }, ...name), el("b", {}, format(value)));
  const rows = lines
    .filter(line => !state.off.has(line.scheme))
    .map(line => [line, valueOf(line.values)])
    .filter(([, value]) => value !== null)
    .sort(([, a], [, b]) => b - a)
    .map(([line, value]) => row([icon(lookOf(line.scheme, line.look)), ` ${line.name}`], value));
  box.replaceChildren(el("div", { class: "soft" }, title), behind ? row(["capacity"], valueOf(behind)) : "", ...rows);
}

const sureness = confidence => (confidence >= 0.9 ? "sure" : confidence >= 0.7 ? "likely" : "unclear");

/** List the labels of the shown schemes that have a share, the largest first. */
function listStretches(box, title, panel, lengthOf, textOf) {
  const sums = new Map();
  let total = 0;
  for (const [scheme, label, confidence, from, to] of panel.stretches) {
    const length = state.off.has(scheme) ? 0 : lengthOf(from, to);
    if (!length) continue;
    const [sum, sure] = sums.get(label) || [0, 0];
    sums.set(label, [sum + length, sure + length * confidence]);
    total += length;
  }
  const rows = [...sums].sort(([, [a]], [, [b]]) => b - a)
    .map(([label, [sum, sure]]) => {
      const colour = panel.colours[label], name = panel.certain ? label : `${label} (${sureness(sure / sum)})`;
      return el("div", {}, el("span", {}, icon({ marker: "s", colour, dark: colour }), ` ${name}`), el("b", {}, textOf(sum / total)));
    });
  box.replaceChildren(el("div", { class: "soft" }, title), ...rows);
}

let later = 0;

/** List the means in view of the charts that `made` returns, when the view has not changed for a moment. */
export function listMeans(made) {
  clearTimeout(later);
  later = setTimeout(() => {
    const mean = times => values => {
      const first = times.findIndex(time => time > state.from), last = times.findLastIndex(time => time <= state.to + H.time.step / 2);
      let sum = 0, count = 0;
      for (let i = first; i <= last; i++) if (values[i] !== null) (sum += values[i]), count++;
      return count ? sum / count : null;
    };
    for (const { panel, lines, values, behind, times } of made()) {
      if (!panel.stretches?.length) list(values, "mean in view", lines, behind, mean(times));
      else listStretches(values, "share of time in view", panel, (from, to) => Math.max(0, Math.min(to, state.to) - Math.max(from, state.from)), share => `${Math.round(100 * share)} %`);
    }
  }, 200);
}
