// Sections with text and tables, and the closed details at the end.
import { byId, el } from "./dom.js";
import { H } from "./head.js";

function table({ title, head, rows }) {
  const first = row => el("th", { scope: "row" }, row[0]);
  return [
    title ? el("h3", {}, title) : null,
    el("div", { class: "scroll" }, el("table", { class: "plain" },
      head.length ? el("thead", {}, el("tr", {}, ...head.map(text => el("th", { scope: "col" }, text)))) : null,
      el("tbody", {}, ...rows.map(row => el("tr", {}, first(row), ...row.slice(1).map(text => el("td", {}, text))))))),
  ];
}

const body = section => [
  section.note ? el("p", { class: "small soft" }, section.note) : null,
  ...section.remarks.map(text => el("p", {}, text)),
  ...section.tables.flatMap(table),
];

const closed = (id, title, ...children) => el("details", { id }, el("summary", {}, title), ...children);

/** Add the sections of the command, and the details. */
export function buildDetails(saving) {
  const written = H.sections.filter(section => section.note || section.remarks.length || section.tables.length);
  byId("sections").append(...written.map(section => el("section", { id: section.id }, el("h2", {}, section.title), ...body(section))));
  const details = byId("details");
  details.append(...H.details.map(section => closed(section.id, section.title, ...body(section))));
  if (H.scenario) details.append(closed("scenario", "Scenario", el("pre", {}, H.scenario)));
  details.append(closed("definitions", "Definitions of the metrics", el("p", {}, H.scope),
    el("div", { class: "scroll" }, el("table", { class: "plain" }, el("tbody", {}, ...H.definitions.map(([title, name, text]) =>
      el("tr", {}, el("th", { scope: "row" }, title), el("td", {}, el("code", {}, name)), el("td", { class: "soft" }, text))))))));
  if (H.provenance) details.append(closed("provenance", "Provenance", el("pre", {}, H.provenance)));
  if (H.provenance) {
    const folder = location.protocol === "file:" ? decodeURIComponent(location.pathname).replace(/\/[^/]*$/, "") : "DIR";
    byId("provenance").append(el("p", {}, "Run the same again, and compare every byte: ", el("code", {}, `airpath rerun ${/^[\w./+-]+$/.test(folder) ? folder : JSON.stringify(folder)}`)));
  }
  details.append(el("p", { class: "noprint" }, ...saving),
    el("p", { class: "small soft" }, "Series are stored here with 16 bits: the error is at most 1/131 000 of their range. The Parquet files of the same directory have the exact numbers."));
}
