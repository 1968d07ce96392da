// Building and updating the page. Text is inserted as text, never as markup.

import { setTimer } from "./time.js";

/** @typedef {Node | string | number | null | undefined | false} Child */

/**
 * An element with attributes and children. Attributes that are false or undefined are left out;
 * true becomes an empty attribute. Names that begin with -- are CSS variables.
 * @param {string} tag
 * @param {Record<string, string | number | boolean | undefined>} [attributes]
 * @param {...(Child | Child[])} children
 * @returns {HTMLElement}
 */
export function h(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/**
 * The same for SVG.
 * @param {string} tag
 * @param {Record<string, string | number | boolean | undefined>} [attributes]
 * @param {...(Child | Child[])} children
 * @returns {SVGElement}
 */
export function svg(tag, attributes = {}, ...children) {
  return filled(/** @type {SVGElement} */ (document.createElementNS("http://www.w3.org/2000/svg", tag)), attributes, children);
}

/**
 * @template {HTMLElement | SVGElement} E
 * @param {E} element @param {Record<string, string | number | boolean | undefined>} attributes @param {(Child | Child[])[]} children
 * @returns {E}
 */
function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === undefined) continue;
    if (name.startsWith("--")) element.style.setProperty(name, String(value));
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat().filter(isShown).map((child) => (child instanceof Node ? child : String(child))));
  return element;
}

/** @param {Child} child @returns {child is Node | string | number} */
function isShown(child) {
  return child !== null && child !== undefined && child !== false;
}

/**
 * Makes the page's children equal to the new ones and reuses nodes, so that focus, selection and
 * scroll position stay.
 * @param {Element} parent
 * @param {...(Child | Child[])} children
 */
export function show(parent, ...children) {
  const focused = document.activeElement;
  morphChildren(parent, h("div", {}, ...children));
  if (focused !== document.activeElement) refocus(focused, parent);
}

/**
 * Restores the focus to an element that lost it by moving. If the element is gone, the focus stays
 * in its section.
 * @param {Element | null} focused @param {Element} parent
 */
function refocus(focused, parent) {
  const place = focused?.isConnected ? focused : parent.closest("section, details, dialog");
  if (!(place instanceof HTMLElement)) return;
  if (place !== focused) place.tabIndex = -1;
  place.focus({ preventScroll: true });
}

/** @param {Element} from @param {Element} to */
function morphChildren(from, to) {
  /** @type {Map<string, Element>} */
  const keyed = new Map();
  for (const child of from.children) {
    const key = child.getAttribute("data-key");
    if (key !== null) keyed.set(key, child);
  }
  let place = from.firstChild;
  for (const wanted of [...to.childNodes]) {
    const old = oldFor(wanted, place, keyed);
    if (old === null) {
      from.insertBefore(wanted, place);
      continue;
    }
    if (old === place) place = place.nextSibling;
    else from.insertBefore(old, place);
    morph(old, wanted);
  }
  while (place) {
    const next = place.nextSibling;
    place.remove();
    place = next;
  }
}

/**
 * The old node to reuse for a wanted one, or null.
 * @param {ChildNode} wanted @param {ChildNode | null} place @param {Map<string, Element>} keyed
 * @returns {ChildNode | null}
 */
function oldFor(wanted, place, keyed) {
  if (wanted instanceof Element) {
    const key = wanted.getAttribute("data-key");
    if (key !== null) return keyed.get(key) ?? null;
    return place instanceof Element && place.tagName === wanted.tagName && !place.hasAttribute("data-key") ? place : null;
  }
  return place && place.nodeType === wanted.nodeType ? place : null;
}

/** @param {ChildNode} from @param {ChildNode} to */
function morph(from, to) {
  if (!isDrawn(from) || !isDrawn(to)) {
    if (from.nodeValue !== to.nodeValue) from.nodeValue = to.nodeValue;
    return;
  }
  morphAttributes(from, to);
  if (to.hasAttribute("data-keep")) return;
  morphChildren(from, to);
  if (from instanceof HTMLElement) morphValue(from, to);
}

/** @param {Node} node @returns {node is HTMLElement | SVGElement} */
function isDrawn(node) {
  return node instanceof HTMLElement || node instanceof SVGElement;
}

/** @param {HTMLElement | SVGElement} from @param {HTMLElement | SVGElement} to */
function morphAttributes(from, to) {
  for (const { name } of [...from.attributes]) {
    const isKept = name === "open" || (name === "tabindex" && from === document.activeElement); // otherwise the focus would be lost with it
    if (!to.hasAttribute(name) && !isKept) from.removeAttribute(name);
  }
  for (const { name, value } of to.attributes) {
    if (name === "style") continue; // the policy forbids the attribute, not the object
    if (from.getAttribute(name) !== value) from.setAttribute(name, value);
  }
  if (from.style.cssText !== to.style.cssText) from.style.cssText = to.style.cssText;
}

/** Shows the page's value in a field, unless somebody is typing there. A field with data-keep holds what they typed. @param {Element} from @param {Element} to */
function morphValue(from, to) {
  if (document.activeElement === from) return;
  if (from instanceof HTMLInputElement && to instanceof HTMLInputElement) {
    if (from.value !== to.value) from.value = to.value;
    from.checked = to.checked;
  }
  if (from instanceof HTMLSelectElement && to instanceof HTMLSelectElement) from.value = to.value;
}

/** Facts in a line, with dots between them; those that are empty are left out. @param {...(Child | Child[])} facts @returns {Child[]} */
export function dotted(...facts) {
  return facts.filter((fact) => fact && (!Array.isArray(fact) || fact.length > 0)).flatMap((fact, i) => [i > 0 && " · ", fact].flat());
}

/** A stranger's text, whose direction stays its own, or nothing. @param {string | undefined} text */
export function foreign(text) {
  return text ? h("bdi", { dir: "auto" }, text) : null;
}

/** @param {string} id @returns {HTMLElement} */
export function byId(id) {
  const element = document.getElementById(id);
  if (!element) throw new Error(`the page has no ${id}`);
  return element;
}

/**
 * A button whose click runs the action registered under this name.
 * @param {string} action @param {Child | Child[]} label
 * @param {Record<string, string | number | boolean | undefined>} [attributes]
 */
export function button(action, label, attributes = {}) {
  return h("button", { type: "button", "data-action": action, ...attributes }, label);
}

/** How long the browser may take to start saving a file, ms. */
const startsIn = 60_000;

/** Lets the browser save a file. @param {Blob} file @param {string} name */
export function saveFile(file, name) {
  const url = URL.createObjectURL(file);
  h("a", { href: url, download: name }).click();
  setTimer(() => URL.revokeObjectURL(url), startsIn);
}
