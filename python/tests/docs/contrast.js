// Texts of the page whose contrast is below that of WCAG 2.2, level AA, with the contrast: 4.5, or 3 for large text.
() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgba = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    const [red, green, blue, alpha] = canvas.getImageData(0, 0, 1, 1).data;
    return [red, green, blue, alpha / 255];
  };
  const over = (above, below) => below.map((part, index) => above[index] * above[3] + part * (1 - above[3]));
  const luminance = (colour) => {
    const [red, green, blue] = colour.map((part) =>
      part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4,
    );
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const ground = (element) =>
    element ? over(rgba(getComputedStyle(element).backgroundColor), ground(element.parentElement)) : [255, 255, 255];
  const found = new Set();
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const text = texts.currentNode.textContent.trim();
    const element = texts.currentNode.parentElement;
    if (!text || !element.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true })) continue;
    const { color, fontSize, fontWeight } = getComputedStyle(element);
    const below = ground(element);
    const [dark, light] = [luminance(over(rgba(color), below)), luminance(below)].sort((a, b) => a - b);
    const contrast = (light + 0.05) / (dark + 0.05);
    const size = parseFloat(fontSize);
    const large = size >= 24 || (size >= 18.66 && fontWeight >= 700);
    if (contrast < (large ? 3 : 4.5)) found.add(`${text.slice(0, 30)}: ${contrast.toFixed(2)}`);
  }
  return [...found];
}
