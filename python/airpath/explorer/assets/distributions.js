// Distributions: one line for each scheme.
import { byId, el, svg } from "./dom.js";
import { frame } from "./chart.js";
import { H, valuesAt } from "./head.js";
import { state } from "./state.js";
import { colourOf } from "./theme.js";

const CAN_HIDE = H.distributions.length > 0;

/** Add the closed section of distributions. */
export function buildDistributions() {
  if (!CAN_HIDE) return;
  const box = el("div", { class: "distributions" });
  const section = el("details", { id: "distributions", ontoggle: drawDistributions },
    el("summary", {}, `Distributions: ${H.distributions.map(one => one.title).join("; ")}`), box);
  byId("pairs").before(section);
}

function drawn(one, width) {
  const lines = one.lines
    .map(([scheme, ...places]) => [scheme, valuesAt(places.slice(0, 4)), valuesAt(places.slice(4))])
    .filter(([scheme]) => !state.off.has(scheme));
  const xs = lines.flatMap(([, x]) => x).filter(x => !one.x_log || x > 0), ys = lines.flatMap(([, , y]) => y).filter(y => y > 0);
  if (!xs.length || !ys.length) return el("p", { class: "soft" }, "No scheme is shown.");
  const [low, high] = [Math.min(...xs), Math.max(...xs)];
  const { picture, X, Y } = frame({
    width, height: 300, label: one.title,
    x: { low: one.x_log ? low : Math.min(0, low), high, log: one.x_log ? 10 : 0, label: one.x },
    y: { low: one.y_log ? Math.min(...ys) : 0, high: 1, log: one.y_log ? 10 : 0, label: one.y },
  });
  for (const [scheme, x, y] of lines) {
    const points = x.map((value, i) => (y[i] > 0 ? `${X(value).toFixed(1)},${Y(y[i]).toFixed(1)}` : null)).filter(Boolean);
    picture.append(svg("polyline", {
      "data-scheme": scheme,
      points: points.join(" "), fill: "none", stroke: colourOf(H.schemes[scheme]), "stroke-width": 1.6,
      "stroke-dasharray": H.schemes[scheme].dash.join(" ") || undefined,
    }, svg("title", {}, H.schemes[scheme].name)));
  }
  return picture;
}

/** Draw the distributions, if they are open. */
export function drawDistributions() {
  const section = byId("distributions");
  if (!section || !section.open) return;
  const box = section.querySelector(".distributions");
  const width = Math.max(280, Math.min(600, section.clientWidth > 700 ? section.clientWidth / 2 - 12 : section.clientWidth));
  box.replaceChildren(...H.distributions.map(one => el("figure", {}, el("figcaption", {}, one.title), drawn(one, width))));
}
