// Pairs of schemes as a matrix: row minus column, one metric at a time.
import { byId, el, format, signed } from "./dom.js";
import { ALL, H } from "./head.js";
import { iconOf } from "./marks.js";
import { save, state } from "./state.js";

const NOTE = "Row minus column, mean over equal seeds. Green: the row is better, red: it is worse, where the paired 95 % interval excludes zero; ~: it does not. Not adjusted for the number of pairs.";

const titleOf = one => (one.unit ? `${one.title} (${one.unit})` : one.title);

function between(pairs, row, column) {
  for (const [first, second, n, difference, low, high, p] of pairs) {
    if (first === row && second === column) return { n, difference, low, high, p };
    if (first === column && second === row) return { n, difference: -difference, low: high === null ? null : -high, high: low === null ? null : -low, p };
  }
  return null;
}

function sentence(one, row, column, found) {
  const unit = one.unit ? ` ${one.unit}` : "", names = `${H.schemes[row].name} \u2212 ${H.schemes[column].name}, ${one.title}: `;
  if (found.low === null) return `${names}${signed(found.difference)}${unit} in every seed (n = ${found.n})`;
  const half = format((found.high - found.low) / 2), sure = found.low > 0 || found.high < 0;
  return `${names}${signed(found.difference)} ± ${half}${unit} (95 %, n = ${found.n}, p = ${found.p.toPrecision(2)})${sure ? "" : ", not significant"}`;
}

function cell(one, row, column, most) {
  if (row === column) return el("td", { class: "self" });
  const found = between(one.pairs, row, column);
  if (!found) return el("td", {}, "—");
  const same = found.low === null, sure = !same && (found.low > 0 || found.high < 0);
  const better = found.difference > 0 !== one.less, share = most ? Math.ceil((Math.abs(found.difference) / most) * 4) : 0;
  const show = () => (byId("pair").textContent = sentence(one, row, column, found));
  const kind = sure ? `${better ? "better" : "worse"} shade${Math.min(4, Math.max(1, share))}` : "open";
  return el("td", { class: kind, tabindex: 0, title: sentence(one, row, column, found), onmouseenter: show, onfocus: show },
    signed(found.difference) + (sure || (same && found.difference === 0) ? "" : same ? "" : " ~"));
}

/** Draw the matrix of the chosen metric. */
export function drawMatrix() {
  byId("pairs").hidden = !H.pairs.length;
  if (!H.pairs.length) return;
  const one = H.pairs[state.pairs], most = Math.max(...one.pairs.map(pair => Math.abs(pair[3] ?? 0)));
  byId("metrics").replaceChildren(...H.pairs.map((other, k) =>
    el("button", { "aria-pressed": String(k === state.pairs), onclick: () => ((state.pairs = k), drawMatrix(), save()) }, titleOf(other))));
  byId("pair").textContent = [NOTE, H.pairs_note].filter(Boolean).join(" ");
  byId("matrix").replaceChildren(
    el("thead", {}, el("tr", {}, el("th", {}, "row \u2212 column"), ...ALL.map(k => el("th", { scope: "col", title: H.schemes[k].name }, iconOf(k), el("span", { class: "short" }, ` ${H.schemes[k].name}`))))),
    el("tbody", {}, ...ALL.map(row =>
      el("tr", {}, el("th", { scope: "row" }, `${H.schemes[row].name} `, iconOf(row)), ...ALL.map(column => cell(one, row, column, most))))),
  );
}
