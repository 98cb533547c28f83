// The marks of schemes and events: those of matplotlib, about as large.
import { svg } from "./dom.js";
import { H } from "./head.js";
import { colourOf } from "./theme.js";

function polygon(corners, radius, turn) {
  const points = Array.from({ length: corners }, (_, k) => {
    const angle = turn + (2 * Math.PI * k) / corners;
    return `${(radius * Math.sin(angle)).toFixed(2)} ${(-radius * Math.cos(angle)).toFixed(2)}`;
  });
  return `M${points.join("L")}Z`;
}

const CROSS = "M-1.5-4.5h3v3h3v3h-3v3h-3v-3h-3v-3h3z";
const STAR = "M0-5.2L1.3-1.7 5-1.6 2.1.7 3.1 4.3 0 2.2-3.1 4.3-2.1.7-5-1.6-1.3-1.7z";
const PATHS = {
  o: "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z",
  ".": "M-2.5 0a2.5 2.5 0 1 0 5 0a2.5 2.5 0 1 0-5 0z",
  s: "M-3.6-3.6h7.2v7.2h-7.2z",
  "^": "M0-4.6L4.4 3.6H-4.4z",
  v: "M0 4.6L4.4-3.6H-4.4z",
  "<": "M-4.6 0L3.6-4.4V4.4z",
  ">": "M4.6 0L-3.6-4.4V4.4z",
  D: "M0-5L5 0 0 5-5 0z",
  d: "M0-5L3.2 0 0 5-3.2 0z",
  P: CROSS,
  "+": CROSS,
  X: "M-4.5-2.5l2-2 2.5 2.5 2.5-2.5 2 2-2.5 2.5 2.5 2.5-2 2-2.5-2.5-2.5 2.5-2-2 2.5-2.5z",
  x: "M-4.4-3.2l1.2-1.2 3.2 3.2 3.2-3.2 1.2 1.2-3.2 3.2 3.2 3.2-1.2 1.2-3.2-3.2-3.2 3.2-1.2-1.2 3.2-3.2z",
  "*": STAR,
  p: polygon(5, 4.6, 0),
  H: polygon(6, 4.6, Math.PI / 2),
  h: polygon(6, 4.6, 0),
  8: polygon(8, 4.5, Math.PI / 8),
};

/** Return the path of a marker. */
export const pathOf = marker => PATHS[marker] || PATHS.o;

/** Return the mark of a style as an icon. */
export const icon = look =>
  svg(
    "svg",
    { class: "icon", width: 12, height: 12, viewBox: "-6 -6 12 12", "aria-hidden": "true" },
    svg("path", { d: pathOf(look.marker), fill: colourOf(look) }),
  );

/** Return the mark of a scheme. */
export const iconOf = scheme => icon(H.schemes[scheme]);

/** The marks of congestion events. */
export const EVENTS = { loss: "v", retransmission: "v", timeout: "X", "ecn reduction": "d", "spurious timeout": "*" };
