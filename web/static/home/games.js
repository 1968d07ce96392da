// Choosing a game: a search field, and the games on this computer first.

import { h, show } from "../dom.js";

/** @typedef {import("./types.js").Game} Game */

/** How players get the game's list if nobody provides it. @param {Game | undefined} game */
export function noList(game) {
  if (!game?.steam) return `Nobody lists servers of ${game?.name}: paste some addresses first.`;
  return `Steam lists servers of ${game.name} to who has a key: give yours under “This computer”, or paste some addresses first.`;
}

/** How many games are shown at once: what a person can take in. */
const most = 60;

/** The games that match a text, those on this computer first. @param {Game[]} games @param {string} text */
export function matching(games, text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const hit = (/** @type {Game} */ game) => words.every((word) => game.name.toLowerCase().includes(word) || game.id.includes(word));
  const rank = (/** @type {Game} */ game) => (game.here ? 0 : game.listed ? 1 : 2);
  return games.filter(hit).sort((a, b) => rank(a) - rank(b) || a.name.localeCompare(b.name, "en"));
}

/**
 * A picker. It passes the game to choose, and shows it as pressed.
 * @param {string} id @param {Game[]} games @param {string} chosen @param {(game: Game) => void} choose
 */
export function picker(id, games, chosen, choose) {
  const list = h("ul", { class: "games", "aria-label": "Games" });
  const input = /** @type {HTMLInputElement} */ (h("input", { id, type: "search", placeholder: "Search a game", autocomplete: "off", spellcheck: "false" }));
  const draw = () => {
    const found = matching(games, input.value);
    show(
      list,
      found.slice(0, most).map((game) =>
        h(
          "li",
          { "data-key": game.id },
          h("button", { type: "button", class: "game", "data-game": game.id, "aria-pressed": String(game.id === chosen) }, h("bdi", {}, game.name), game.silent ? h("small", {}, "its servers do not answer") : game.here ? h("small", { class: "here" }, "on this computer") : !game.listed && h("small", {}, game.steam ? "bring a list, or your Steam key" : "bring a list")),
        ),
      ),
      found.length === 0 && h("li", { class: "quiet" }, "No game of that name. Your own can be added: docs/games.md shows how."),
    );
  };
  const take = (/** @type {Game | undefined} */ game) => {
    if (!game) return;
    chosen = game.id;
    draw();
    choose(game);
  };
  input.addEventListener("input", draw);
  input.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    take(matching(games, input.value)[0]);
  });
  list.addEventListener("click", (event) => {
    const button = event.target instanceof Element ? event.target.closest("[data-game]") : null;
    if (button instanceof HTMLElement) take(games.find((game) => game.id === button.dataset.game));
  });
  draw();
  return h("div", { class: "picker" }, h("label", { for: id }, "Which game?"), input, list);
}
