// The table of servers as data: the servers, the ones that pass the filters, and their order. It
// does not depend on the page.

/** @typedef {import("./types.js").Row} Row */
/** @typedef {{text: string, map: string, mode: string, country: string, most: number, least: number, people: boolean, seats: boolean, open: boolean, favourites: boolean, hidden: boolean}} Filter */

/** @type {Filter} */
export const noFilter = { text: "", map: "", mode: "", country: "", most: 0, least: 0, people: false, seats: false, open: false, favourites: false, hidden: false };

/** Empty seats. @param {Row} row */
export function free(row) {
  return Math.max(0, row.max_players - row.players);
}

/** Players without bots. @param {Row} row */
export function people(row) {
  return Math.max(0, row.players - row.bots);
}

/** The value by which each column sorts. A column in which more is better starts with the largest. @type {Record<string, {of: (row: Row) => string | number, down?: boolean}>} */
export const columns = {
  ping: { of: (row) => row.rtt_ms ?? Infinity },
  players: { of: people, down: true },
  name: { of: (row) => row.sort ?? "" },
  map: { of: (row) => row.map.toLowerCase() },
  mode: { of: (row) => row.mode.toLowerCase() },
  country: { of: (row) => row.country || "~" },
};

export class Table {
  /** @type {Map<string, Row>} */
  rows = new Map();
  /** All rows in their order. @type {Row[]} */
  sorted = [];
  /** The rows that pass the filters. @type {Row[]} */
  shown = [];
  /** @type {{by: string, down: boolean}} */
  order = { by: "ping", down: false };
  filter = { ...noFilter };
  /** @type {Set<string>} */
  favourites = new Set();
  /** @type {Set<string>} */
  hidden = new Set();

  clear() {
    this.rows.clear();
    this.sorted = [];
    this.shown = [];
  }

  /** Adds results. New rows are merged, which costs one pass. @param {Row[]} fresh */
  add(fresh) {
    let isOld = false;
    /** @type {Row[]} */
    const news = [];
    for (const row of fresh) {
      row.sort = (row.name || row.addr).toLowerCase();
      isOld ||= this.rows.has(row.addr);
      this.rows.set(row.addr, row);
      news.push(row);
    }
    if (isOld) return this.arrange(true);
    const compare = this.comparison();
    news.sort(compare);
    this.sorted = merged(this.sorted, news, compare);
    this.shown = merged(this.shown, news.filter((row) => this.passes(row)), compare);
  }

  /** Filters all rows again, and sorts them if needed. Each keystroke costs one pass. */
  arrange(anew = false) {
    if (anew) this.sorted = this.#arranged();
    this.shown = this.sorted.filter((row) => this.passes(row));
  }

  /** All rows in their order. The keys for comparing are computed once for each row. */
  #arranged() {
    const { of } = columns[this.order.by] ?? columns.ping;
    const sign = this.order.down ? -1 : 1;
    const keyed = [...this.rows.values()].map((row) => ({ row, key: of(row) }));
    keyed.sort((a, b) => (a.key === b.key ? tie(a.row, b.row) : a.key < b.key ? -sign : sign));
    return keyed.map(({ row }) => row);
  }

  /** @param {Row} row */
  passes(row) {
    const f = this.filter;
    const text = f.text; // in small letters
    if (!f.hidden && this.hidden.has(row.addr)) return false;
    if (f.favourites && !this.favourites.has(row.addr)) return false;
    if (text && !(row.sort ?? "").includes(text) && !row.addr.includes(text)) return false;
    if (f.map && !row.map.toLowerCase().includes(f.map.toLowerCase())) return false;
    if (f.mode && !row.mode.toLowerCase().includes(f.mode.toLowerCase())) return false;
    if (f.country && row.country !== f.country) return false;
    if (f.most > 0 && (row.rtt_ms ?? Infinity) > f.most) return false;
    if (f.people && people(row) === 0) return false;
    if (people(row) < f.least) return false;
    if (f.seats && row.max_players > 0 && free(row) === 0) return false;
    return !(f.open && row.password);
  }

  /** Ties break by ping, then by address. @returns {(a: Row, b: Row) => number} */
  comparison() {
    const { of } = columns[this.order.by] ?? columns.ping;
    const sign = this.order.down ? -1 : 1;
    return (a, b) => {
      const x = of(a);
      const y = of(b);
      return x === y ? tie(a, b) : x < y ? -sign : sign;
    };
  }

  /** Sorts by a column; a second time reverses the order. @param {string} by */
  sort(by) {
    const down = columns[by]?.down ?? false;
    this.order = this.order.by === by ? { by, down: !this.order.down } : { by, down };
    this.arrange(true);
  }

  /** The values of a field, the most frequent first. @param {"country" | "map" | "mode"} field @param {number} most */
  values(field, most) {
    /** @type {Map<string, number>} */
    const counts = new Map();
    for (const row of this.rows.values()) if (row[field]) counts.set(row[field], (counts.get(row[field]) ?? 0) + 1);
    return [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).slice(0, most);
  }
}

/** @param {Row} a @param {Row} b */
function tie(a, b) {
  return (a.rtt_ms ?? 0) - (b.rtt_ms ?? 0) || (a.addr < b.addr ? -1 : 1);
}

/** Merges two sorted lists. @param {Row[]} a @param {Row[]} b @param {(a: Row, b: Row) => number} compare */
function merged(a, b, compare) {
  if (b.length === 0) return a;
  /** @type {Row[]} */
  const all = new Array(a.length + b.length);
  for (let i = 0, j = 0, k = 0; k < all.length; k++) {
    if (j >= b.length || (i < a.length && compare(a[i], b[j]) <= 0)) all[k] = a[i++];
    else all[k] = b[j++];
  }
  return all;
}
