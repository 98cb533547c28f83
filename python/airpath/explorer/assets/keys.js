// Keys: ← → move, + − zoom, 0 everything, 1 to 9 schemes, D light or dark.
import { ALL, END } from "./head.js";
import { setRange } from "./panels.js";
import { state, toggle } from "./state.js";

/** Listen to keys. `actions` has draw and theme. */
export function listenToKeys(actions) {
  addEventListener("keydown", event => {
    if (event.ctrlKey || event.metaKey || event.altKey || /** @type {Element} */ (event.target).matches?.("input, textarea, select")) return;
    const { from, to } = state, width = to - from;
    const moves = {
      ArrowRight: () => setRange(from + width / 4, to + width / 4),
      ArrowLeft: () => setRange(from - width / 4, to - width / 4),
      "+": () => setRange(from + width / 4, to - width / 4),
      "=": () => setRange(from + width / 4, to - width / 4),
      "-": () => setRange(from - width / 2, to + width / 2),
      "−": () => setRange(from - width / 2, to + width / 2),
      0: () => setRange(0, END),
      d: actions.theme,
      D: actions.theme,
    };
    const scheme = /^[1-9]$/.test(event.key) ? ALL[Number(event.key) - 1] : undefined;
    if (scheme !== undefined) {
      toggle(scheme);
      actions.draw();
    } else if (Object.hasOwn(moves, event.key)) moves[event.key]();
    else return;
    event.preventDefault();
  });
}
