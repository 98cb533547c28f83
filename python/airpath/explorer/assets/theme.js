// Light and dark, and the colours of schemes on either.
import { H } from "./head.js";
import { state } from "./state.js";

const system = matchMedia("(prefers-color-scheme: dark)");

/** Whether the page is dark. */
export const isDark = () => (state.theme ? state.theme === "dark" : system.matches);

/** Make the page light or dark. */
export function applyTheme() {
  document.documentElement.className = isDark() ? "dark" : "light";
}

/** Call `redraw` when the system changes to light or dark. */
export const onSystemTheme = redraw => system.addEventListener("change", redraw);

/** Return a colour of the style sheet. */
export const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** Return the style of a line: that of another scheme if it is named, else that of its own. */
export const lookOf = (scheme, look) => (look ? H.looks[look] : H.schemes[scheme]);

/** Return the colour of a style. */
export const colourOf = look => (isDark() ? look.dark : look.colour);
