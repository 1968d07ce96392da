// Choosing a game: a search field, and the games on this computer first.

import { h, show, svg } from "../dom.js";
import { locale, say } from "../say.js";

/** @typedef {import("./types.js").Game} Game */

/** How players get the game's list if nobody provides it. @param {Game | undefined} game */
export function noList(game) {
  return say(game?.steam ? "home.no-list-steam" : "home.no-list", { game: game?.name ?? "" });
}

/** How many games are shown at once: what a person can take in. */
const most = 60;

/** The games that match a text, those on this computer first. @param {Game[]} games @param {string} text */
export function matching(games, text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const hit = (/** @type {Game} */ game) => words.every((word) => game.name.toLowerCase().includes(word) || game.id.includes(word));
  const rank = (/** @type {Game} */ game) => (game.here ? 0 : game.listed ? 1 : 2);
  return games.filter(hit).sort((a, b) => rank(a) - rank(b) || a.name.localeCompare(b.name, locale));
}

/**
 * A picker. It passes the game to choose, and shows it as pressed.
 * @param {string} id @param {Game[]} games @param {string} chosen @param {(game: Game) => void} choose
 */
export function picker(id, games, chosen, choose) {
  const list = h("ul", { class: "games", "aria-label": say("home.games") });
  const input = /** @type {HTMLInputElement} */ (h("input", { id, type: "search", placeholder: say("home.search-game"), autocomplete: "off", spellcheck: "false" }));
  const draw = () => {
    const found = matching(games, input.value);
    show(
      list,
      found.slice(0, most).map((game) =>
        h(
          "li",
          { "data-key": game.id },
          h("button", { type: "button", class: "game", "data-game": game.id, "aria-pressed": String(game.id === chosen) }, h("bdi", {}, game.name), game.silent ? h("small", {}, say("home.silent")) : game.here ? h("small", { class: "here" }, say("home.here")) : !game.listed && h("small", {}, say(game.steam ? "home.bring-list-steam" : "home.bring-list"))),
        ),
      ),
      found.length === 0 && h("li", { class: "quiet" }, say("home.no-such-game")),
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
  return h("div", { class: "picker" }, h("label", { for: id }, say("home.which-game")), input, list);
}

/** How many games the one field offers at once. */
const offered = 8;

/** What stands beside a game in a list: why it takes more, or that it is here. @param {Game} game */
function aside(game) {
  if (game.silent) return say("home.silent");
  if (game.here) return say("home.here");
  return game.listed ? "" : say(game.steam ? "home.bring-list-steam" : "home.bring-list");
}

/**
 * One field for a game: the games that match what is typed are listed under it. It passes the
 * chosen game on, or undefined while the text names none.
 * @param {string} id @param {Game[]} games @param {Game | undefined} now @param {(game: Game | undefined) => void} choose
 */
export function gameField(id, games, now, choose) {
  let chosen = now;
  let at = 0; // the match that Enter takes
  const input = /** @type {HTMLInputElement} */ (
    h("input", { id, type: "text", role: "combobox", "aria-label": say("home.which-game"), "aria-autocomplete": "list", "aria-expanded": "false", "aria-controls": `${id}-matches`, placeholder: say("home.search-game"), autocomplete: "off", spellcheck: "false", value: now?.name })
  );
  const list = h("ul", { id: `${id}-matches`, class: "matches", role: "listbox", "aria-label": say("home.games"), hidden: true });
  const found = () => matching(games, input.value === chosen?.name ? "" : input.value).slice(0, offered);
  const draw = (isOpen = true) => {
    const all = isOpen ? found() : [];
    at = Math.max(0, Math.min(at, all.length - 1));
    show(
      list,
      all.map((game, i) => h("li", { id: `${id}-${game.id}`, role: "option", "aria-selected": String(i === at), "data-key": game.id, "data-game": game.id }, h("bdi", {}, game.name), h("small", {}, aside(game)))),
      isOpen && all.length === 0 && h("li", { class: "quiet", role: "option", "aria-disabled": "true", "aria-selected": "false", "data-key": "none" }, say("home.no-such-game")),
    );
    list.hidden = !isOpen;
    input.setAttribute("aria-expanded", String(isOpen));
    if (all[at]) input.setAttribute("aria-activedescendant", `${id}-${all[at].id}`);
    else input.removeAttribute("aria-activedescendant");
    document.getElementById(`${id}-${all[at]?.id}`)?.scrollIntoView({ block: "nearest" });
  };
  const take = (/** @type {Game | undefined} */ game) => {
    chosen = game;
    if (game) input.value = game.name;
    draw(false);
    choose(game);
  };
  /** Takes a whole name, or the only one that is meant. */
  const settle = () => {
    const text = input.value.trim().toLowerCase();
    const all = matching(games, text);
    const meant = all.find((game) => game.name.toLowerCase() === text) ?? (text && all.length === 1 ? all[0] : undefined);
    if (meant !== chosen || meant?.name !== input.value) take(meant);
    else draw(false);
  };
  input.addEventListener("input", () => {
    at = 0;
    draw();
  });
  input.addEventListener("focus", () => input.select());
  input.addEventListener("click", () => draw());
  input.addEventListener("blur", settle);
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
