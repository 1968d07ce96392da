// A match of two sides, in the forms that open a room: one choice, which shows four more fields.

import { h } from "./dom.js";
import { say } from "./say.js";

/** The kinds of a match; none is a room as ever. */
const kinds = ["bo1", "bo3", "bo5"];
/** Orders of moves to choose from. Without one, captains ban until one server is left. */
const orders = ["ban ban ban ban pick", "ban ban pick", "pick"];
/** The longest side's name and pool of maps, in letters. */
const longestName = 24;
const longestPool = 1000;

/** The fields; without a kind, one of them shows. */
export function matchFields() {
  const kind = /** @type {HTMLSelectElement} */ (h("select", { id: "match", name: "match" }, h("option", { value: "" }, say("setting.match.unset")), kinds.map((one) => h("option", { value: one }, say(`setting.match.${one}`)))));
  const order = h("select", { id: "order", name: "order" }, h("option", { value: "" }, say("setting.order.unset")), orders.map((one) => h("option", { value: one }, one.split(" ").map((move) => say(`match.word.${move}`)).join(" · "))));
  const side = (/** @type {"a" | "b"} */ which) => h("input", { id: `side-${which}`, name: `side_${which}`, maxlength: longestName, autocomplete: "off", placeholder: say(`match.side.${which}`) });
  const maps = h("input", { id: "maps", name: "maps", maxlength: longestPool, autocomplete: "off", spellcheck: "false", placeholder: "dm6, dm17, ztn" });
  const rest = h("div", { class: "match-rest", hidden: true }, field("side-a", say("setting.side_a.label"), side("a")), field("side-b", say("setting.side_b.label"), side("b")), field("order", say("setting.order.label"), order), field("maps", say("setting.maps.label"), maps));
  kind.addEventListener("change", () => (rest.hidden = kind.value === ""));
  return h("div", { class: "match-fields" }, field("match", say("setting.match.label"), kind), rest);
}

/** @param {string} id @param {string} label @param {HTMLElement} input */
function field(id, label, input) {
  return h("div", { class: "field" }, h("label", { for: id }, label), input);
}

/** A match's settings from a form, or none. @param {FormData} given @returns {Record<string, string>} */
export function matchOf(given) {
  if (!given.get("match")) return {};
  const set = ["match", "order", "maps", "side_a", "side_b"].map((name) => [name, String(given.get(name) ?? "").trim()]);
  return Object.fromEntries(set.filter(([, value]) => value !== ""));
}

/** What kind of match a form sets, in words, or nothing. @param {FormData} given */
export function matchIn(given) {
  const kind = String(given.get("match") ?? "");
  return kinds.includes(kind) && `${say("setting.match.label")}: ${say(`setting.match.${kind}`)}`;
}
