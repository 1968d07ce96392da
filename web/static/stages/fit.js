// Fits a title into its place: narrower letters first, then two lines, then smaller ones. A word
// never breaks.

/** The widths of letters to try, percent. */
const stretches = [118, 108, 98, 88, 80, 75];
/** Sizes of smaller letters, as shares of the usual size. */
const sizes = [1, 0.88, 0.78, 0.69, 0.61, 0.54, 0.47, 0.4];

/** What fitted last, by text and room. @type {WeakMap<Element, {key: string, stretch: number, size: number, breaks?: boolean}>} */
const fitted = new WeakMap();

/**
 * The first way in which a title fits, as its letters' width and size. fits tries one.
 * @param {(stretch: number, size: number, lines: number) => boolean} fits
 * @returns {{stretch: number, size: number, breaks?: boolean}} breaks if even the smallest does not fit
 */
export function fitting(fits) {
  for (const stretch of stretches) if (fits(stretch, 1, 1)) return { stretch, size: 1 };
  for (const size of sizes) for (const stretch of stretches) if (fits(stretch, size, 2)) return { stretch, size };
  return { stretch: 75, size: 0.4, breaks: true }; // a word of one letter sixty times
}

/** Fits a title's text, which may be drawn anew. @param {HTMLElement | null} title */
export function fitTitle(title) {
  if (!title?.parentElement) return;
  const key = `${title.textContent} ${title.parentElement.clientWidth} ${innerHeight} ${document.fonts?.status}`;
  let found = fitted.get(title);
  if (found?.key !== key) {
    const style = title.style;
    style.display = "block";
    const fits = (/** @type {number} */ stretch, /** @type {number} */ size, /** @type {number} */ lines) => {
      style.fontStretch = `${stretch}%`;
      style.fontSize = `${size}em`;
      style.whiteSpace = lines === 1 ? "nowrap" : "normal";
      if (title.scrollWidth > title.clientWidth + 1) return false;
      return lines === 1 || title.clientHeight <= 2.3 * parseFloat(getComputedStyle(title).lineHeight);
    };
    found = { key, ...fitting(fits) };
    fitted.set(title, found);
  }
  title.style.cssText += `;display:block;font-stretch:${found.stretch}%;font-size:${found.size}em;white-space:normal${found.breaks ? ";overflow-wrap:anywhere" : ""}`;
}
