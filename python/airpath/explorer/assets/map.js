// The trade-off: throughput against p95 delay. Up and right is better.
import { all, byId, format, onEnter, svg } from "./dom.js";
import { frame, textWidth } from "./chart.js";
import { H } from "./head.js";
import { pathOf } from "./marks.js";
import { only, shown, state } from "./state.js";
import { colourOf, css } from "./theme.js";

const THROUGHPUT = "throughput_mbps", DELAY = "delay_p95_ms";
const columnOf = metric => H.columns.find(column => column.metric === metric);

/** Whether there is a trade-off to show. */
export const hasMap = H.compared && Boolean(columnOf(THROUGHPUT) && columnOf(DELAY)) && H.points.length > 0;

/** Return the mean of a scheme, and the ends of its intervals. */
function meanOf(scheme) {
  const [y, lowY, highY] = columnOf(THROUGHPUT).cells[scheme], [x, lowX, highX] = columnOf(DELAY).cells[scheme];
  return x === null || y === null ? null : { x, y, lowX: lowX ?? x, highX: highX ?? x, lowY: lowY ?? y, highY: highY ?? y };
}

/** Return the schemes that no other one exceeds in both means, from the least delay on. */
function front(schemes, means) {
  const beaten = one => schemes.some(other => {
    const [a, b] = [means.get(other), means.get(one)];
    return a.x <= b.x && a.y >= b.y && (a.x < b.x || a.y > b.y);
  });
  return schemes.filter(one => !beaten(one)).sort((a, b) => means.get(a).x - means.get(b).x);
}

/** Draw the trade-off. `actions` has draw and light. */
export function drawMap(actions) {
  const box = byId("map");
  if (!hasMap) return;
  const width = Math.max(280, Math.min(560, box.clientWidth || 500)), height = width < 420 ? 300 : 372;
  const xs = H.points.map(point => point[2]), ys = H.points.map(point => point[3]);
  const [least, most] = [Math.min(...xs), Math.max(...xs)];
  const margin = (most / least) ** 0.1 * 1.08, highest = Math.max(H.capacity_mbps ?? 0, ...ys), lowest = Math.min(...ys);
  // Points that are all near the top get an axis that does not begin at zero.
  const bottom = lowest > 0.6 * highest ? Math.max(0, lowest - Math.max(0.6 * (highest - lowest), 0.02 * highest)) : 0;
  const top = highest + 0.1 * (highest - bottom);
  const { picture, X, Y, edge } = frame({
    width, height,
    label: "throughput against p95 one-way delay",
    x: { low: least / margin, high: most * margin, log: 2, reversed: true, label: "← p95 one-way delay (ms), less is better" },
    y: { low: bottom, high: top, label: "throughput (Mbit/s)" },
  });
  if (H.capacity_mbps) {
    const at = Y(H.capacity_mbps);
    picture.append(
      svg("line", { class: "capacity", x1: edge.left, x2: edge.right, y1: at, y2: at }),
      svg("text", { class: "soft", x: edge.right, y: at - 4, "text-anchor": "end" }, `capacity ${format(H.capacity_mbps)}`),
    );
  }
  const means = new Map(shown().map(k => [k, meanOf(k)]).filter(([, mean]) => mean));
  const schemes = [...means.keys()];
  const line = front(schemes, means).map(k => `${X(means.get(k).x)},${Y(means.get(k).y)}`);
  picture.append(svg("polyline", { class: "front", points: line.join(" ") }));
  const marks = schemes.map(k => markOf(k, means.get(k), { X, Y, edge }, actions));
  const labels = placeLabels(schemes.map(k => [k, X(means.get(k).x), Y(means.get(k).y)]), edge, H.capacity_mbps ? Y(H.capacity_mbps) : null);
  picture.append(...marks, ...labels);
  box.replaceChildren(picture);
  lightPictures();
}

function markOf(scheme, mean, { X, Y, edge }, actions) {
  const look = H.schemes[scheme], colour = colourOf(look);
  const alone = () => (only(scheme), actions.draw());
  const text = `${look.name}: ${columnOf(THROUGHPUT).cells[scheme][3]} Mbit/s, p95 delay ${columnOf(DELAY).cells[scheme][3]} ms`;
  const group = svg("g", {
    "data-scheme": scheme, class: "mark", tabindex: 0, role: "button", "aria-label": text,
    onclick: alone, onkeydown: onEnter(alone),
    onmouseenter: () => actions.light(scheme), onmouseleave: () => actions.light(null),
    onfocus: () => actions.light(scheme), onblur: () => actions.light(null),
  }, svg("title", {}, text));
  for (const [k, , x, y] of H.points) if (k === scheme) group.append(svg("circle", { cx: X(x), cy: Y(y), r: 2, fill: colour, opacity: 0.5 }));
  if (mean.highY > mean.lowY) group.append(svg("line", { stroke: colour, x1: X(mean.x), x2: X(mean.x), y1: Math.min(Y(mean.lowY), edge.bottom), y2: Y(mean.highY) }));
  if (mean.highX > mean.lowX && mean.lowX > 0) group.append(svg("line", { stroke: colour, y1: Y(mean.y), y2: Y(mean.y), x1: X(mean.lowX), x2: X(mean.highX) }));
  group.append(svg("path", { class: "point", d: pathOf(look.marker), transform: `translate(${X(mean.x)} ${Y(mean.y)}) scale(1.35)`, fill: colour, stroke: css("--back") }));
  return group;
}

const PLACES = [[9, 4], [9, 16], [9, -8], [-1, 4], [-1, 16], [-1, -8], [0, -12], [0, 20], [12, 28], [-2, 28], [12, -20], [-2, -20], [12, 40], [-2, 40], [0, 34]];

/** Put each name at the first free place near its mark; names without one are left to the tooltip. */
function placeLabels(points, edge, capacity) {
  const taken = points.map(([, x, y]) => [x - 7, y - 7, x + 7, y + 7]), labels = [];
  if (capacity !== null) taken.push([edge.right - textWidth("capacity 000.0"), capacity - 15, edge.right, capacity]);
  for (const [scheme, x, y] of points) {
    const name = H.schemes[scheme].name, width = textWidth(name) + 2;
    for (const [dx, dy] of PLACES) {
      const left = dx > 0 ? x + dx : dx < 0 ? x - 8 + dx - width : x - width / 2, base = y + dy;
      const place = [left, base - 10, left + width, base + 3];
      if (place[0] < edge.left || place[2] > edge.right + 10 || place[1] < edge.top - 8 || place[3] > edge.bottom) continue;
      if (taken.some(one => one[0] < place[2] && one[2] > place[0] && one[1] < place[3] && one[3] > place[1])) continue;
      taken.push(place);
      if (Math.abs(dy) > 17) labels.push(svg("line", { class: "leader", x1: x, y1: y, x2: dx > 0 ? left : dx < 0 ? left + width : x, y2: dy > 0 ? base - 10 : base + 2 }));
      labels.push(svg("text", { class: "name", "data-scheme": scheme, x: left, y: base }, name));
      break;
    }
  }
  return labels;
}

/** Dim all schemes but the one under the pointer, here and in the distributions. */
export function lightPictures() {
  for (const one of all("#map [data-scheme], #distributions [data-scheme]"))
    one.classList.toggle("dim", state.lit !== null && Number(one.dataset.scheme) !== state.lit);
}
