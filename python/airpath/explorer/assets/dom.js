// Elements, text and numbers. All text of the page is set as text, never as markup.

const SVG = "http://www.w3.org/2000/svg";

/** Return the element with this id. @type {(id: string) => any} */
export const byId = id => document.getElementById(id);

/** Return the elements that a selector matches. @type {(selector: string, inside?: ParentNode) => HTMLElement[]} */
export const all = (selector, inside = document) => [...inside.querySelectorAll(selector)].map(one => /** @type {any} */ (one));

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== undefined && value !== null && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter(child => child !== null && child !== undefined));
  return element;
}

/** Return a new HTML element; attributes that begin with "on" are listeners. */
export const el = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);

/** Return a new SVG element. */
export const svg = (tag, attributes = {}, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

/** Return a number with three significant digits, at least. */
export function format(value) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "—";
  const size = Math.abs(value);
  if (size === 0) return "0";
  if (size >= 99.95) return value.toFixed(0);
  if (size >= 9.995) return value.toFixed(1);
  if (size >= 0.9995) return value.toFixed(2);
  if (size >= 0.0995) return value.toPrecision(3);
  return size < 1e-4 ? value.toExponential(1) : value.toPrecision(2);
}

/** Return a tick of an axis as text. */
export const tick = value => {
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e6 || size < 1e-3)) return value.toExponential(0).replace("e+", "e").replace(/^-/, "\u2212");
  return String(+value.toPrecision(6)).replace("-", "\u2212");
};

/** Return a number with its sign, and a minus sign instead of a hyphen. */
export const signed = value => (value > 0 ? "+" : value < 0 ? "\u2212" : "") + format(Math.abs(value));

/** Make an element act on Enter and Space as on a click. */
export const onEnter = action => event => {
  if (event.key === "Enter" || event.key === " ") {
    event.preventDefault();
    action(event);
  }
};
