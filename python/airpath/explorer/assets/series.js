// Lines of panels: of the chosen seed, or their mean over seeds.
import { H, TIMES, valuesAt } from "./head.js";
import { shown, state } from "./state.js";
import { lookOf } from "./theme.js";

const FIRST_SEED = 0, MEAN = -1;

/** Return the line of a panel as an object. */
const named = ([scheme, seed, label, look, role, every, ...place]) => ({ scheme, seed, label, look, role, every, place });

const lines = new Map(H.panels.map(panel => [panel.key, panel.lines.map(named)]));
const means = new Map();

function mean(key, of) {
  if (means.has(key)) return means.get(key);
  const values = of[0].map((_, i) => {
    const known = of.map(one => one[i]).filter(value => value !== null);
    return known.length ? known.reduce((a, b) => a + b, 0) / known.length : null;
  });
  means.set(key, values);
  return values;
}

/** Return the name of a line; that of the other scheme if the line has another scheme's style. */
function nameOf({ scheme, label, look }) {
  const part = look ? lookOf(scheme, look).name : label;
  return part ? `${H.schemes[scheme].name} · ${part}` : H.schemes[scheme].name;
}

/** Add the labels to names that several lines have. */
function distinct(found) {
  const count = new Map();
  for (const { name } of found) count.set(name, (count.get(name) || 0) + 1);
  return found.map(line => (count.get(line.name) > 1 ? { ...line, name: `${line.name} · ${line.label}` } : line));
}

/** Whether single flows are shown: of one scheme only, because they would hide others. */
export const showsFlows = () => shown().length === 1 && (state.seed === FIRST_SEED || state.seed === "mean");

/** Return the lines of a panel for the chosen seed, hidden schemes included. */
export function linesOf(panel) {
  if (panel.fixed) return panel.fixed;
  const alike = new Map();
  for (const line of lines.get(panel.key)) {
    if (line.role !== "line") continue;
    const key = `${panel.key} ${line.scheme} ${line.label} ${line.look}`;
    if (!alike.has(key)) alike.set(key, []);
    alike.get(key).push(line);
  }
  const found = [], dashes = new Map();
  for (const [key, of] of alike) {
    const whole = of.find(line => line.seed === MEAN), single = of.find(line => line.seed === state.seed);
    const chosen = state.seed === "mean" ? whole || of[0] : single;
    if (!chosen) continue;
    const values = state.seed === "mean" && !whole ? mean(key, of.map(line => valuesAt(line.place))) : valuesAt(chosen.place);
    const place = dashes.get(chosen.scheme) || 0;
    dashes.set(chosen.scheme, place + 1);
    const dash = place ? [[6, 3], [2, 2], [9, 3, 2, 3]][(place - 1) % 3] : H.schemes[chosen.scheme].dash;
    found.push({ ...chosen, values, name: nameOf(chosen), dash });
  }
  return distinct(found);
}

/** Return the values of a line whose values cover several intervals, one for each interval. */
const spread = ({ every, place }) => (every === 1 ? valuesAt(place) : TIMES.map((_, i) => valuesAt(place)[Math.floor(i / every)]));

/** Return single flows and percentiles of a panel, if they are shown. */
export function flowsOf(panel) {
  if (panel.fixed || !showsFlows()) return [];
  const [scheme] = shown();
  return lines.get(panel.key)
    .filter(line => line.role !== "line" && line.scheme === scheme)
    .map(line => ({ ...line, values: spread(line), name: nameOf(line), dash: [] }));
}

/** Return the capacity in each interval; null if it is not known. */
export function capacity() {
  if (!H.capacity.length) return null;
  const of = H.capacity.map(([seed, ...place]) => [seed, valuesAt(place)]);
  if (state.seed === "mean") return of.length === 1 ? of[0][1] : mean("capacity", of.map(([, values]) => values));
  const [, values] = of.find(([seed]) => seed === state.seed) || of[0];
  return values;
}

/** Return the congestion events of the shown schemes in the chosen seed. */
export function marks() {
  const seed = H.seeds.length === 1 ? 0 : state.seed;
  return H.marks
    .filter(([scheme, of]) => of === seed && !state.off.has(scheme))
    .map(([scheme, , event, leftOut, ...place]) => ({ scheme, event, leftOut, times: valuesAt(place) }));
}
