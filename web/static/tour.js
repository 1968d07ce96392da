// The night of a room as a poster and awards. It loads when the night is over, with the map.
//
//	state ──▶ nightOf ──▶ poster.js (SVG, a text) ──▶ shown, shared, or saved as PNG

import { awards } from "./awards.js";
import { nameOnly } from "./choice.js";
import { gameName } from "./gather.js";
import { middleOf, moveApart, projectionOf, wayTo } from "./map/projection.js";
import { placeOf, world } from "./map/world.js";
import { height, posterOf, signSize, topOf, width } from "./poster.js";
import { country, locale, say, time } from "./say.js";
import { fontStyle, png, shareFile } from "./share.js";

/** @typedef {import("./types.js").State} State */
/** @typedef {import("./types.js").Person} Person */
/** @typedef {import("./types.js").Played} Played */
/** @typedef {import("./poster.js").Point} Point */

/** The earth's radius, km. */
const earth = 6371;

/** The distance of two places, km. @param {string | undefined} from @param {string | undefined} to */
function km(from, to) {
  const [a, b] = [placeOf(from), placeOf(to)];
  return a && b && from !== to ? earth * wayTo(a, b).angle : undefined;
}

/** The country that a person shows. @param {Person | undefined} person */
const homeOf = (person) => person?.country;

/** @param {State} state @param {Person[]} players */
export function awardsOf(state, players) {
  const favourites = state.lists?.favourites ?? [];
  return awards(state.evening ?? [], players, (round, name) => km(homeOf(players.find((one) => one.name === name)), round.country), favourites);
}

/** @param {State} state @param {Person[]} players @param {Person[]} guests @param {boolean} nameless @returns {import("./poster.js").Night} */
function nightOf(state, players, guests, nameless) {
  const rounds = state.evening ?? [];
  const first = new Date(rounds[0]?.at ?? state.now);
  const someone = (/** @type {Person} */ { name, arrival = 0 }) => ({ name, arrival });
  return {
    title: state.room.name || say("room.unnamed"),
    date: first.toLocaleDateString(locale, { dateStyle: "long" }),
    game: gameName(state),
    nameless,
    people: [...players.map(someone), ...guests.map((guest) => ({ ...someone(guest), guest: true }))],
    stops: rounds.map((round) => ({
      time: time(new Date(round.at)),
      flag: round.country && /^[A-Z]{2}$/.test(round.country) ? String.fromCodePoint(...[...round.country].map((letter) => 0x1f1e6 + letter.charCodeAt(0) - 65)) : "",
      server: round.place ? say("souvenir.host-in", { place: round.server }) : nameOnly(round.server),
      country: round.country ? country(round.country) : "",
      own: state.lists?.favourites.find(({ addr }) => addr === round.connect)?.by?.[0],
      mean: round.mean_ms,
      people: players.filter(({ name }) => (round.rtt_ms?.[name] ?? 0) > 0).map((player) => ({ ...someone(player), ms: round.rtt_ms?.[player.name] ?? 0, estimated: false })),
    })),
  };
}

/** How far the poster's map is from its sides, px, and the least that it shows, as a part of the globe. */
const sides = { left: 130, right: 130, top: 250, bottom: 110 };
const leastShown = 0.35;

/** The size of a stop on the map, px. */
const stopSize = 38;

/** The stops and players on the world, or null if no stop or no player has a place. @param {Played[]} rounds @param {Person[]} players @returns {Promise<import("./poster.js").Chart | null>} */
async function chartOf(rounds, players) {
  const [stops, homes] = [rounds.map((round) => placeOf(round.country)), players.map((player) => placeOf(homeOf(player)))];
  const places = [...stops, ...homes].filter((place) => place !== undefined);
  if (!stops.some(Boolean) || !homes.some(Boolean)) return null;
  try {
    const { d3, land, borders } = await world();
    const bottom = topOf(rounds.length) - sides.bottom;
    const projection = projectionOf(d3, "globe", { ...middleOf(places), clip: 140 }).precision(0.5);
    const at = places.map(({ lon, lat }) => projection([lon, lat]));
    const [x0, x1, y0, y1] = [Math.min(...at.map((p) => p[0])), Math.max(...at.map((p) => p[0])), Math.min(...at.map((p) => p[1])), Math.max(...at.map((p) => p[1]))];
    const [across, down] = [width - sides.left - sides.right, bottom - sides.top];
    const scale = Math.min(across / Math.max(leastShown, x1 - x0), down / Math.max(leastShown, y1 - y0));
    projection.scale(scale).translate([sides.left + across / 2 - (scale * (x0 + x1)) / 2, sides.top + down / 2 - (scale * (y0 + y1)) / 2]).clipExtent([[18, 18], [width - 18, bottom + sides.bottom]]);
    const path = d3.geoPath(projection).digits(1);
    const spot = (/** @type {typeof stops[number]} */ place) => {
      const [x, y] = place ? projection([place.lon, place.lat]) : [];
      return place ? { x, y } : null;
    };
    const ways = rounds.flatMap((round, stop) => players.flatMap(({ name }, person) => (round.players.includes(name) && homes[person] && stops[stop] ? [{ stop, person }] : [])));
    const fixed = spread(stops.map(spot), [], stopSize, bottom + 40);
    return { land: path(land) ?? "", borders: path(borders) ?? "", stops: fixed, people: spread(homes.map(spot), fixed, signSize(players.length), bottom + 40), ways };
  } catch {
    return null; // the pings are enough
  }
}

/** Moves signs off each other and off the stops. @param {(Point | null)[]} people @param {(Point | null)[]} stops @param {number} size @param {number} lowest @returns {(Point | null)[]} */
function spread(people, stops, size, lowest) {
  const [at, fixed] = [people, stops].map((all) => all.filter((one) => one !== null));
  moveApart(at, () => size * 1.12, (one) => {
    for (const stop of fixed) {
      const [far, room] = [Math.hypot(one.x - stop.x, one.y - stop.y), size / 2 + 34];
      if (far < room) [one.x, one.y] = far > 0 ? [stop.x + ((one.x - stop.x) * room) / far, stop.y + ((one.y - stop.y) * room) / far] : [stop.x, stop.y - room];
    }
    one.x = Math.min(width - 80, Math.max(80, one.x));
    one.y = Math.min(lowest, Math.max(one.x < 640 ? 270 : 215, one.y));
  });
  return people;
}

/** The poster as SVG. @param {State} state @param {Person[]} players @param {Person[]} guests @param {boolean} nameless */
export async function poster(state, players, guests, nameless) {
  const [chart, style] = await Promise.all([chartOf(state.evening ?? [], players), fontStyle(true)]);
  return posterOf({ ...nightOf(state, players, guests, nameless), chart }, style);
}

/** Saves a poster, or passes it to the system's share dialog. @param {string} svg @param {boolean} shares */
export async function give(svg, shares) {
  return shareFile(new File([await png(svg, width, height)], "game-night.png", { type: "image/png" }), shares);
}
