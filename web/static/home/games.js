// Choosing a game: a search field, and the games on this computer first.

import { h, show } from "../dom.js";
import { matching } from "../gamefield.js";
import { say } from "../say.js";
import { gameSign } from "../which.js";

/** @typedef {import("./types.js").Game} Game */

/** How players get the game's list if nobody provides it. @param {Game | undefined} game */
export function noList(game) {
  return say(game?.steam ? "home.no-list-steam" : "home.no-list", { game: game?.name ?? "" });
}

/** How many games are shown at once: what a person can take in. */
const most = 60;

/**
 * A picker. It passes the game to choose, and shows it as pressed.
 * @param {string} id @param {Game[]} games @param {string} chosen @param {(game: Game) => void} choose
 */
export function picker(id, games, chosen, choose) {
  const list = h("ul", { class: "games", "aria-label": say("pick-game.games") });
  const input = /** @type {HTMLInputElement} */ (h("input", { id, type: "search", placeholder: say("pick-game.search-game"), autocomplete: "off", spellcheck: "false" }));
  const draw = () => {
    const found = matching(games, input.value);
    show(
      list,
      found.slice(0, most).map((game) =>
        h(
          "li",
          { "data-key": game.id },
          h("button", { type: "button", class: "game", "data-game": game.id, "aria-pressed": String(game.id === chosen) }, gameSign(game), h("bdi", {}, game.name), game.silent ? h("small", {}, say("home.silent")) : game.here ? h("small", { class: "here" }, say("home.here")) : !game.listed && h("small", {}, say(game.steam ? "pick-game.bring-list-steam" : "pick-game.bring-list"))),
        ),
      ),
      found.length === 0 && h("li", { class: "quiet" }, say("pick-game.no-such-game")),
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
  return h("div", { class: "picker" }, h("label", { for: id }, say("pick-game.which-game")), input, list);
}

/** What stands beside a game in a list: why it takes more, or that it is here. @param {Game} game */
export function aside(game) {
  if (game.silent) return say("home.silent");
  if (game.here) return say("home.here");
  return game.listed ? "" : say(game.steam ? "pick-game.bring-list-steam" : "pick-game.bring-list");
}
