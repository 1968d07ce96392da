// One field for a game, on the pages that open a room: people type a part of its name.

import { h, show, svg } from "./dom.js";
import { lastTime } from "./opening.js";
import { locale, say } from "./say.js";
import { clearly, gameSign, meant } from "./which.js";

/** @typedef {{id: string, name: string, aliases?: string[], listed: boolean, here?: boolean}} Named */

/** The games that a text may mean, the nearest first. Without a text all: the last played, then those on this computer. @template {Named} G @param {G[]} games @param {string} text */
export function matching(games, text) {
  const last = lastTime().games ?? [];
  if (text.trim()) return meant(games, text, last);
  const since = (/** @type {G} */ game) => (last.includes(game.id) ? last.indexOf(game.id) : last.length);
  const rank = (/** @type {G} */ game) => (game.here ? 0 : game.listed ? 1 : 2);
  return [...games].sort((a, b) => since(a) - since(b) || rank(a) - rank(b) || a.name.localeCompare(b.name, locale));
}

/** How many games the one field offers at once. */
const offered = 8;

/**
 * One field for a game: the games that match what is typed are listed under it. It passes the
 * chosen game on, or undefined while the text names none.
 * @template {Named} G
 * @param {string} id @param {G[]} games @param {G | undefined} now
 * @param {(game: G) => string} aside what stands beside a game in the list
 * @param {(game: G | undefined) => void} choose
 */
export function gameField(id, games, now, aside, choose) {
  let chosen = now;
  let at = 0; // the match that Enter takes
  const input = /** @type {HTMLInputElement} */ (
    h("input", { id, type: "text", role: "combobox", "aria-label": say("pick-game.which-game"), "aria-autocomplete": "list", "aria-expanded": "false", "aria-controls": `${id}-matches`, placeholder: say("pick-game.search-game"), autocomplete: "off", spellcheck: "false", value: now?.name })
  );
  const list = h("ul", { id: `${id}-matches`, class: "matches", role: "listbox", "aria-label": say("pick-game.games"), hidden: true });
  const found = () => matching(games, input.value === chosen?.name ? "" : input.value).slice(0, offered);
  const draw = (isOpen = true) => {
    const all = isOpen ? found() : [];
    at = Math.max(0, Math.min(at, all.length - 1));
    show(
      list,
      all.map((game, i) => h("li", { id: `${id}-${game.id}`, role: "option", "aria-selected": String(i === at), "data-key": game.id, "data-game": game.id }, gameSign(game), h("bdi", {}, game.name), h("small", {}, aside(game)))),
      isOpen && all.length === 0 && h("li", { class: "quiet", role: "option", "aria-disabled": "true", "aria-selected": "false", "data-key": "none" }, say("pick-game.no-such-game")),
    );
    list.hidden = !isOpen;
    input.setAttribute("aria-expanded", String(isOpen));
    if (all[at]) input.setAttribute("aria-activedescendant", `${id}-${all[at].id}`);
    else input.removeAttribute("aria-activedescendant");
    document.getElementById(`${id}-${all[at]?.id}`)?.scrollIntoView({ block: "nearest" });
  };
  const take = (/** @type {G | undefined} */ game) => {
    chosen = game;
    if (game) input.value = game.name;
    draw(false);
    choose(game);
  };
  /** Takes the game that is meant without a doubt. */
  const settle = () => {
    const text = input.value.trim().toLowerCase();
    if (text && text === chosen?.name.toLowerCase()) return draw(false);
    const game = clearly(games, text);
    if (game !== chosen) take(game);
    else draw(false);
  };
  input.addEventListener("input", () => {
    at = 0;
    draw();
  });
  input.addEventListener("focus", () => input.select());
  input.addEventListener("click", () => draw());
  input.addEventListener("blur", settle);
  input.addEventListener("change", settle);
  input.addEventListener("keydown", (event) => {
    const isOpen = !list.hidden;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      at = isOpen ? at + (event.key === "ArrowDown" ? 1 : -1) : 0;
      draw();
    } else if (event.key === "Enter" && isOpen) take(found()[at]);
    else if (event.key === "Escape" && isOpen) draw(false);
    else return;
    event.preventDefault();
  });
  list.addEventListener("pointerdown", (event) => event.preventDefault()); // the field keeps the focus
  list.addEventListener("click", (event) => {
    const option = event.target instanceof Element ? event.target.closest("[data-game]") : null;
    if (option instanceof HTMLElement) take(games.find((game) => game.id === option.dataset.game));
  });
  const glass = svg("svg", { viewBox: "0 0 24 24", "aria-hidden": "true" }, svg("circle", { cx: 10, cy: 10, r: 7 }), svg("path", { d: "m15.5 15.5 6 6" }));
  return { field: h("span", { class: "game-field" }, glass, input, list), take, input };
}
