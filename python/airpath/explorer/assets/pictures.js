// First figures of commands: a coloured matrix, or numbers with intervals against a band.
import { byId, el, format, svg } from "./dom.js";
import { frame, textWidth } from "./chart.js";
import { H } from "./head.js";

/** Return the shade of a number from -4 to 4. */
function shadeOf(value, { middle }, low, high) {
  if (middle !== null) {
    const far = (value - middle) / (middle || 1);
    return Math.max(-4, Math.min(4, Math.round(far * 4)));
  }
  const place = high > low ? Math.log(Math.max(value, low) / low) / Math.log(high / low) : 0;
  return Math.max(0, Math.min(4, Math.round(place * 4)));
}

function matrix(one) {
  const known = one.values.flat().filter(value => value !== null);
  const low = Math.max(1e-3, Math.min(...known)), high = Math.max(...known);
  const cell = (value, text, link) => {
    if (value === null) return el("td", { class: "soft" }, "—");
    const shade = shadeOf(value, one, low, high);
    return el("td", { class: shade < 0 ? `less shade${-shade}` : shade > 0 ? `more shade${shade}` : undefined, tabindex: link ? undefined : 0, title: text },
      link ? el("a", { href: link }, format(value)) : format(value));
  };
  return el("div", { class: "scroll" }, el("table", { class: "matrix" },
    el("thead", {}, el("tr", {}, el("th", {}, one.corner), ...one.columns.map(name => el("th", { scope: "col" }, name)))),
    el("tbody", {}, ...one.rows.map((name, row) =>
      el("tr", {}, el("th", { scope: "row" }, name), ...one.values[row].map((value, column) => cell(value, one.texts[row][column], one.links[row]?.[column])))))));
}

/** Return the groups of the rows of a figure. */
const groupsOf = one => [...new Set(one.rows.map(([, group]) => group))].filter(Boolean);

/** Return the title, with the group if all rows have the same. */
const titleOf = one => (one.kind === "intervals" && groupsOf(one).length === 1 ? `${one.title} (${groupsOf(one)[0]})` : one.title);

function intervals(one, width) {
  const reach = Math.min(12, Math.max(1.5 * one.band, ...one.rows.flatMap(([, , value, low, high]) => [value, low, high].map(x => Math.abs(x ?? 0)))));
  const nameOf = ([label, group]) => (groupsOf(one).length > 1 ? `${label}, ${group}` : label);
  // The axes begin where the names end, whose width is that of the longest.
  const text = Math.max(...one.rows.map(row => textWidth(nameOf(row)))) + 12, row = 20, height = one.rows.length * row + 60;
  const { picture, X, edge } = frame({
    width: width - text + 40, height, label: one.title,
    x: { low: -reach * 1.05, high: reach * 1.05, label: one.x, ticks: 6 },
    y: { low: 0, high: 1, label: "", ticks: 1 },
  });
  for (const label of picture.querySelectorAll("text[text-anchor=end]")) label.remove();
  const body = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": one.title });
  const inside = svg("g", { transform: `translate(${text - 40} 0)` }, picture);
  picture.prepend(svg("rect", { class: "band", x: X(-one.band), width: X(one.band) - X(-one.band), y: edge.top, height: edge.bottom - edge.top }));
  one.rows.forEach(([label, group, value, low, high, all], k) => {
    const y = edge.top + (k + 0.5) * row, clip = x => Math.max(edge.left, Math.min(edge.right, X(x)));
    const outside = value === null || Math.abs(value) > one.band;
    body.append(svg("text", { x: text - 4, y: y + 4, "text-anchor": "end" }, nameOf(one.rows[k])));
    if (value === null) return;
    if (low !== null && high !== null) picture.append(svg("line", { class: "whisker", x1: clip(low), x2: clip(high), y1: y, y2: y }));
    picture.append(svg("circle", { class: outside ? "outside" : "inside", cx: clip(value), cy: y, r: 4 }, svg("title", {}, `${label}${group ? `, ${group}` : ""}: ${all}`)));
  });
  body.append(inside);
  return body;
}

/** Draw the figures of the sections, before everything else. */
export function drawPictures() {
  const box = byId("first"), found = H.sections.flatMap(section => section.pictures);
  const room = box.clientWidth || 620, width = Math.max(280, Math.min(620, room > 1140 ? room / 2 - 18 : room));
  box.replaceChildren(...found.map(one =>
    el("figure", {}, el("figcaption", {}, titleOf(one)), one.kind === "matrix" ? matrix(one) : intervals(one, width))));
}
