// A list of any length. Only the visible rows exist on the page.

import { h } from "../dom.js";
import { nextFrame } from "../time.js";

/** Extra rows, so that scrolling shows no gaps. */
const spare = 8;

/** @template T */
export class Grid {
  /** @type {T[]} */
  items = [];
  /** @type {string} the key of the chosen one */
  chosen = "";
  /** @type {HTMLElement[]} */
  pool = [];
  #pending = 0;

  /**
   * @param {HTMLElement} place the scrolling element
   * @param {{key: (item: T) => string, row: () => HTMLElement, fill: (row: HTMLElement, item: T) => void, choose: (item: T) => void}} how
   */
  constructor(place, how) {
    this.place = place;
    this.how = how;
    this.canvas = h("div", { class: "canvas", role: "presentation" });
    place.append(this.canvas);
    place.addEventListener("scroll", () => this.schedule(), { passive: true });
    new ResizeObserver(() => this.schedule()).observe(place);
    this.canvas.addEventListener("click", (event) => {
      const row = event.target instanceof Element ? event.target.closest("[data-at]") : null;
      const item = row instanceof HTMLElement ? this.items[Number(row.dataset.at)] : undefined;
      if (item !== undefined) this.choose(item);
    });
  }

  /** In px, from the style sheet. */
  get rowHeight() {
    return parseFloat(getComputedStyle(this.place).getPropertyValue("--row")) || 44;
  }

  /** @param {T[]} items */
  show(items) {
    this.items = items;
    this.schedule();
  }

  schedule() {
    if (this.#pending) return;
    this.#pending = nextFrame(() => {
      this.#pending = 0;
      this.draw();
    });
  }

  draw() {
    const height = this.rowHeight;
    const total = `${this.items.length * height}px`;
    if (this.canvas.style.height !== total) this.canvas.style.height = total;
    this.place.setAttribute("aria-rowcount", String(this.items.length));
    const first = Math.max(0, Math.floor(this.place.scrollTop / height) - spare);
    const last = Math.min(this.items.length, Math.ceil((this.place.scrollTop + this.place.clientHeight) / height) + spare);
    const wanted = Math.max(0, last - first);
    while (this.pool.length < wanted) {
      const row = this.how.row();
      row.classList.add("row");
      this.pool.push(row);
      this.canvas.append(row);
    }
    let active = "";
    // A row keeps its element while it is visible: the index decides which.
    for (const [i, row] of this.pool.entries()) {
      const at = first + ((((i - first) % this.pool.length) + this.pool.length) % this.pool.length);
      const item = this.items[at];
      const isSeen = at < last && item !== undefined;
      row.hidden = !isSeen;
      if (!isSeen) continue;
      row.dataset.at = String(at);
      row.id = `row-${at}`;
      row.setAttribute("aria-rowindex", String(at + 1));
      row.style.transform = `translateY(${at * height}px)`;
      const isChosen = this.how.key(item) === this.chosen;
      row.setAttribute("aria-selected", String(isChosen));
      if (isChosen) active = row.id;
      this.how.fill(row, item);
    }
    if (active) this.place.setAttribute("aria-activedescendant", active);
    else this.place.removeAttribute("aria-activedescendant");
  }

  /** @param {T} item */
  choose(item) {
    this.chosen = this.how.key(item);
    this.schedule();
    this.how.choose(item);
  }

  /** The position of the chosen item, or -1. */
  at() {
    return this.chosen ? this.items.findIndex((item) => this.how.key(item) === this.chosen) : -1;
  }

  /** Moves the choice by a number of rows. @param {number} rows */
  move(rows) {
    if (this.items.length === 0) return;
    const at = Math.min(this.items.length - 1, Math.max(0, this.at() + rows));
    this.reveal(at);
    this.choose(this.items[at]);
  }

  /** @param {number} at */
  reveal(at) {
    const height = this.rowHeight;
    const top = at * height;
    if (top < this.place.scrollTop) this.place.scrollTop = top;
    else if (top + height > this.place.scrollTop + this.place.clientHeight) this.place.scrollTop = top + height - this.place.clientHeight;
  }

  /** How many rows are visible at once. */
  page() {
    return Math.max(1, Math.floor(this.place.clientHeight / this.rowHeight) - 1);
  }
}
