// What is shown: all of it is in the address after "#", so that a link leads to the same view.
import { ALL, END, H } from "./head.js";

/**
 * The state. `seed` is an index, or "mean"; `lit` is the scheme under the pointer.
 * @type {{off: Set<number>, seed: number | "mean", from: number, to: number, pairs: number, sort: number, down: boolean, all: boolean, theme: string, lit: number | null}}
 */
export const state = {
  off: new Set(),
  seed: 0,
  from: 0,
  to: END,
  pairs: 0,
  sort: 0,
  down: true,
  all: false,
  theme: "",
  lit: null,
};

const inRange = (value, count) => Number.isInteger(value) && value >= 0 && value < count;

/** Read the state from the address; what is not valid is ignored. */
export function readAddress() {
  state.off = new Set(ALL.slice(H.shown));
  const given = new URLSearchParams(location.hash.slice(1));
  const off = (given.get("off") || "").split(".").filter(Boolean).map(Number).filter(k => inRange(k, ALL.length));
  if (given.get("off") !== null && off.length < ALL.length) state.off = new Set(off);
  if (given.get("seed") === "mean") state.seed = "mean";
  else if (inRange(Number(given.get("seed") || 0), H.seeds_shown)) state.seed = Number(given.get("seed") || 0);
  const [from, to] = (given.get("x") || "").split("_").map(Number);
  if (from >= 0 && to <= END && from < to) [state.from, state.to] = [from, to];
  if (inRange(Number(given.get("pairs") || 0), H.pairs.length)) state.pairs = Number(given.get("pairs") || 0);
  const sort = Number(given.get("sort") || 0);
  if (Number.isInteger(sort) && sort >= -1 && sort < H.columns.length) state.sort = sort;
  state.down = given.get("up") === null;
  state.all = given.get("all") !== null;
  if (["light", "dark"].includes(given.get("theme"))) state.theme = given.get("theme");
}

function address() {
  const parts = [];
  if (state.off.size || H.shown < ALL.length) parts.push("off=" + [...state.off].join("."));
  if (state.seed !== 0) parts.push("seed=" + state.seed);
  if (state.from > 0 || state.to < END) parts.push(`x=${+state.from.toFixed(4)}_${+state.to.toFixed(4)}`);
  if (state.pairs) parts.push("pairs=" + state.pairs);
  if (state.sort) parts.push("sort=" + state.sort);
  if (!state.down) parts.push("up");
  if (state.all) parts.push("all");
  if (state.theme) parts.push("theme=" + state.theme);
  return parts.join("&");
}

let waiting = 0;

/** Write the state to the address when it has not changed for a moment: browsers limit how often. */
export function save() {
  clearTimeout(waiting);
  waiting = setTimeout(() => {
    dispatchEvent(new Event("settled"));
    try {
      history.replaceState(null, "", "#" + address());
    } catch {
      // A page in a frame of a notebook has no address of its own.
    }
  }, 250);
}

/** Return the schemes that are shown. */
export const shown = () => ALL.filter(k => !state.off.has(k));

/** Show or hide a scheme. */
export function toggle(scheme) {
  if (!state.off.delete(scheme)) state.off.add(scheme);
}

/** Show only this scheme; all schemes if it is the only one already. */
export function only(scheme) {
  const others = ALL.filter(k => k !== scheme);
  const alone = !state.off.has(scheme) && others.every(k => state.off.has(k));
  state.off = new Set(alone ? [] : others);
}
