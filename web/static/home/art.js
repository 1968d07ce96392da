// The pictures of the page: index.html has them.

/** A picture of the page's own, for the eye alone. @param {string} id */
export function art(id) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("class", "art");
  svg.setAttribute("aria-hidden", "true");
  const use = document.createElementNS("http://www.w3.org/2000/svg", "use");
  use.setAttribute("href", `#art-${id}`);
  svg.append(use);
  return svg;
}
