// The bar of schemes and seeds, which stays in view.
import { all, byId, el } from "./dom.js";
import { ALL, H } from "./head.js";
import { iconOf } from "./marks.js";
import { only, state, toggle } from "./state.js";

const MANY = 40;

/** Build the bar. `actions` has draw, seed, light and theme. */
export function bar(actions) {
  const box = byId("bar");
  const schemes = ALL.slice(0, MANY).map(k =>
    el(
      "button",
      {
        "data-scheme": k,
        title: `Show or hide; double-click: only this one${k < 9 ? `; key ${k + 1}` : ""}`,
        onclick: () => (toggle(k), actions.draw()),
        ondblclick: () => (only(k), actions.draw()),
        onmouseenter: () => actions.light(k),
        onmouseleave: () => actions.light(null),
        onfocus: () => actions.light(k),
        onblur: () => actions.light(null),
      },
      iconOf(k),
      H.schemes[k].name,
    ),
  );
  const seeds = H.seeds.slice(0, Math.min(H.seeds_shown, 8)).map((seed, k) => [k, `seed ${k + 1}`, `Seed ${seed} over time`]);
  if (H.seeds.length > 1) seeds.push(["mean", "mean", `Mean of ${H.seeds.length} seeds over time`]);
  box.replaceChildren(
    el("span", { class: "schemes" }, ...schemes),
    el(
      "span",
      { class: "right" },
      el("button", { title: "Show all schemes", onclick: () => ((state.off = new Set()), actions.draw()) }, "all"),
      ...(seeds.length > 1
        ? seeds.map(([seed, text, title]) =>
            el("button", { "data-seed": seed, title, onclick: () => ((state.seed = seed), actions.seed()) }, text),
          )
        : []),
      el("button", { title: "Light or dark (D)", "aria-label": "light or dark", onclick: actions.theme }, "◐"),
    ),
  );
  box.hidden = false;
}

/** Show in the bar what is hidden, and which seed is chosen. */
export function updateBar() {
  for (const button of all("[data-scheme]", byId("bar")))
    button.setAttribute("aria-pressed", String(!state.off.has(Number(button.dataset.scheme))));
  for (const button of all("[data-seed]", byId("bar")))
    button.setAttribute("aria-pressed", String(button.dataset.seed === String(state.seed)));
}
