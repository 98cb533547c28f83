// The table: schemes are rows. Heads sort; rows show or hide their scheme.
import { all, byId, el, onEnter } from "./dom.js";
import { ALL, H } from "./head.js";
import { iconOf } from "./marks.js";
import { save, state, toggle } from "./state.js";

const heading = column => (column.unit ? `${column.title} (${column.unit})` : column.title);

/** Split "12.0 ± 0.1" so that the interval can be set apart. */
function cell([, , , text], column) {
  const [mean, half] = text.split(" ± ");
  const wide = column.narrow ? undefined : "wide";
  return el("td", { class: wide }, mean, half ? el("span", { class: "half" }, ` ± ${half}`) : null);
}

function sorted() {
  if (state.sort < 0 || !H.columns.length) return state.down ? ALL : [...ALL].reverse();
  const cells = H.columns[state.sort].cells, sign = state.down ? -1 : 1;
  const value = k => cells[k][0];
  return [...ALL].sort((a, b) => {
    if (value(a) === null || value(b) === null) return Number(value(a) === null) - Number(value(b) === null);
    return sign * (value(a) - value(b));
  });
}

function head(index, text, hint, wide, actions) {
  const chosen = state.sort === index;
  const sort = () => {
    state.down = chosen ? !state.down : index >= 0;
    state.sort = index;
    drawTable(actions);
    save();
  };
  const arrow = chosen ? (state.down ? " ▾" : " ▴") : "";
  return el(
    "th",
    { scope: "col", class: wide ? "wide" : undefined, "aria-sort": chosen ? (state.down ? "descending" : "ascending") : undefined },
    el("button", { class: "head", title: hint, onclick: sort }, text + arrow),
  );
}

/** Draw the table. `actions` has draw and light. */
export function drawTable(actions) {
  byId("table").hidden = !H.columns.length;
  const columns = H.columns.filter(column => state.all || column.main);
  const heads = columns.map(column => {
    const index = H.columns.indexOf(column);
    return head(index, heading(column), `${column.definition} (${column.metric})`, !column.narrow, actions);
  });
  const rows = sorted().map(k => {
    const change = () => (toggle(k), actions.draw());
    return el(
      "tr",
      {
        "data-scheme": k, tabindex: 0, class: state.off.has(k) ? "off" : undefined, title: "Show or hide",
        onclick: change, onkeydown: onEnter(change),
        onmouseenter: () => actions.light(k), onmouseleave: () => actions.light(null),
        onfocus: () => actions.light(k), onblur: () => actions.light(null),
      },
      el("th", { scope: "row" }, iconOf(k), ` ${H.schemes[k].name}`),
      ...columns.map(column => cell(column.cells[k], column)),
    );
  });
  const others = H.columns.filter(column => !column.main).length;
  const more = el("button", { "aria-pressed": String(state.all), onclick: () => ((state.all = !state.all), drawTable(actions), save()) },
    state.all ? "main columns" : `all: ${others} more columns`);
  byId("table").replaceChildren(
    el("div", { class: "scroll" }, el("table", { class: "schemes" },
      el("thead", {}, el("tr", {}, head(-1, H.noun, "First order", false, actions), ...heads)),
      el("tbody", {}, ...rows))),
    el("p", { class: "small soft" }, `${H.table_note} `, others ? more : null),
  );
  lightTable();
}

/** Light up the row of the scheme under the pointer. */
export function lightTable() {
  for (const row of all("tr[data-scheme]", byId("table")))
    row.classList.toggle("lit", Number(row.dataset.scheme) === state.lit);
}
