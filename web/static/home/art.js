// The page's pictures, which index.html contains.

/** A picture of the page, hidden from screen readers. @param {string} id */
export function art(id) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("class", "art");
  svg.setAttribute("aria-hidden", "true");
  const use = document.createElementNS("http://www.w3.org/2000/svg", "use");
  use.setAttribute("href", `#art-${id}`);
  svg.append(use);
  return svg;
}
