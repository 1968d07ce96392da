// The map of a room that looks for a place: the same world as the lobby's, with every place as a hollow
// dot, because nothing stands there yet.
//
//	asks       a dashed ring round each place
//	measures   a line from the reader's sign to each place that has answered, the nearest by name
//	search     signs with rings, their ways to the leading place, pins 2 and 3
//
// Where people live is not known, so a connector leads from a sign to its country.

import { svg } from "../dom.js";
import { draw, homeOf, load, settle, sightOf } from "../map/flat.js";
import { labelled } from "../map/labels.js";
import { moveApart, projectionOf } from "../map/projection.js";
import { placeOf } from "../map/world.js";
import { country, say } from "../say.js";
import { shortened, sign } from "../sign.js";

/** @typedef {import("../types.js").Candidate} Candidate */
/** @typedef {import("../types.js").Person} Person */
/** @typedef {{x: number, y: number}} Point */
/** @typedef {{at: string, name: string, home: {lat: number, lon: number}}} Spot a place whose position is known */
/** @typedef {{person: Person, text?: string, isGuess?: boolean, share: number}} Mark a person: their ping to the leader in words, and how far they are, from 0 to 1 */
/** @typedef {{answered: Map<string, number>, waiting: Set<string>}} Own the reader's pings by address, ms, and the places that are being asked */
/** @typedef {{spots: Spot[], leaders?: string[], marks: Mark[], own?: Own, isAsking?: boolean}} Scene leaders are addresses, the best first */

/** The sizes of signs and dots, px, on a small map and on others, for letters of the usual size. */
const sizes = { small: { sign: 30, dot: 4, ring: 10, em: 14 }, usual: { sign: 44, dot: 5, ring: 13, em: 16 } };
const smallMap = 600;
const usualLetter = 16;
/** The number of people from which signs are smaller, and up to which they have their names. */
const several = 8;
const longestName = 12;
/** How many of the nearest places have their names. */
const named = 4;
/** How far a place stands off the reader's sign, in its sizes. */
const off = 1.5;

/** The position of a place; its country's if only that is known. @param {Candidate} place */
function homeOfPlace({ lat = 0, lon = 0, country: code }) {
  return lat !== 0 || lon !== 0 ? { lat, lon } : placeOf(code);
}

/** The places that a map can show. @param {Candidate[]} candidates @returns {Spot[]} */
export function spotsOf(candidates) {
  return candidates.flatMap((one) => {
    const home = homeOfPlace(one);
    return home ? [{ at: one.at, name: one.name, home }] : [];
  });
}

export class PlaceMap {
  /** @param {HTMLElement} place */
  constructor(place) {
    this.place = place;
    this.land = document.createElement("div");
    this.land.className = "land";
    this.picture = svg("svg", { class: "marks", "aria-hidden": "true" });
    place.replaceChildren(this.land, this.picture);
    this.size = { width: 0, height: 0 };
    /** @type {Scene | null} */
    this.scene = null;
    /** @type {import("../map/world.js").World | null} */
    this.world = null;
    this.drawn = "";
    this.marked = "";
    new ResizeObserver(([entry]) => {
      this.size = { width: Math.round(entry.contentRect.width), height: Math.round(entry.contentRect.height) };
      this.show();
    }).observe(place);
    load().then((world) => {
      this.world = world;
      this.show();
    }, () => {}); // the words say everything that the map does
  }

  /** @param {Scene | null} [scene] */
  show(scene = this.scene) {
    this.scene = scene;
    const { world, size: { width, height } } = this;
    if (!world || !scene || width < 60 || height < 60) return;
    const isDark = matchMedia("(prefers-color-scheme: dark)").matches;
    const marked = JSON.stringify([width, height, isDark, scene.leaders, scene.isAsking, scene.spots.length, scene.marks.map(({ person, text, share }) => [person.name, person.arrival, person.country, person.connected, text, Math.round(24 * share)]), scene.own && [[...scene.own.answered], [...scene.own.waiting]]]);
    if (marked === this.marked) return;
    this.marked = marked;
    const homes = scene.marks.flatMap(({ person }) => homeOf(person) ?? []);
    const sight = sightOf(world.d3, [...scene.spots.map(({ home }) => home), ...homes], width, height);
    const drawn = JSON.stringify([width, height, isDark, sight]);
    if (drawn !== this.drawn) draw(this.land, world, sight, width, height);
    this.drawn = drawn;
    this.picture.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.mark(scene, projectionOf(world.d3, "flat", sight), width, height);
  }

  /** @param {Scene} scene @param {any} projection @param {number} width @param {number} height */
  mark(scene, projection, width, height) {
    const looks = width < smallMap ? sizes.small : sizes.usual;
    const wide = Math.max(1, parseFloat(getComputedStyle(this.place).fontSize) / usualLetter || 1); // on a wall
    const pointOf = (/** @type {{lat: number, lon: number}} */ { lat, lon }) => {
      const [x, y] = projection([lon, lat]);
      return { x, y };
    };
    const spots = scene.spots.map((spot) => ({ ...spot, ...pointOf(spot.home) }));
    if (scene.isAsking) apart(spots, 2.1 * looks.ring * wide, width, height);
    if (scene.own) return this.measures(scene, spots, pointOf, { ...looks, width, height });
    const leader = scene.leaders?.[0] === undefined ? undefined : spots.find(({ at }) => at === scene.leaders?.[0]);
    const dots = spots.filter((spot) => spot !== leader).map((spot) => hollow(spot, looks.dot * wide, scene.isAsking ? looks.ring * wide : 0));
    const others = (scene.leaders ?? []).slice(1).flatMap((at, i) => spots.filter((spot) => spot.at === at).map((spot) => ({ ...spot, rank: i + 2 })));
    const em = looks.em * wide;
    const size = looks.sign * wide * (scene.marks.length > several ? 0.75 : 1);
    const [placed, lost] = [scene.marks.filter(({ person }) => homeOf(person)), scene.marks.filter(({ person }) => !homeOf(person))];
    const isNamed = width >= smallMap && scene.marks.length <= several;
    const words = placed.map((mark) => (isNamed ? wordsOf(mark, em) : null));
    this.picture.replaceChildren(...dots, ...words.filter((one) => one !== null));
    const stands = placed.map((mark, i) => {
      const at = pointOf(/** @type {{lat: number, lon: number}} */ (homeOf(mark.person)));
      const lines = words[i] ? [...words[i].children].map((line) => /** @type {SVGTextContentElement} */ (line).getComputedTextLength?.() ?? 0) : [];
      return { mark, ...at, trueX: at.x, trueY: at.y, face: size * 1.35, width: Math.max(size * 1.35, ...lines.map((line) => line + em * 0.8)), height: size * 1.35 + (words[i] ? em * 2.2 : 0) };
    });
    const pins = others.map((spot) => ({ ...spot, ...besides(spot, spot.rank, looks.ring * wide, height) }));
    settle([...stands, ...(leader ? [obstacle(leader, looks.ring * wide * 1.5)] : []), ...(isNamed ? pins.map(({ to }) => obstacle(to, looks.ring * wide * 0.8)) : [])], width, height);
    const ways = leader ? stands.map((stand) => way(stand, leader, stand.mark)) : [];
    const connectors = stands.filter((one) => Math.hypot(one.x - one.trueX, one.y - one.trueY) > size / 2).map((one) => svg("g", { class: `p${(one.mark.person.arrival ?? 0) % 16}` }, svg("line", { class: "connector", x1: one.x, y1: one.y, x2: one.trueX, y2: one.trueY }), svg("circle", { class: "home", cx: one.trueX, cy: one.trueY, r: size / 9 })));
    stands.forEach((stand, i) => words[i]?.setAttribute("transform", `translate(${stand.x} ${stand.y + size * 0.68 + em})`));
    const row = lost.map((mark, i) => ringed(mark, size + i * size * 1.7, height - size, size));
    const alone = lost.length === 1 && isNamed ? lost[0] : null;
    const somewhere = lost.length > 0 ? [svg("text", { class: "somewhere", x: size * 0.2 + lost.length * size * 1.7, y: height - size, "dominant-baseline": "central" }, alone && svg("tspan", { class: "called" }, `\u2068${shortened(alone.person.name, longestName)}\u2069 ${alone.text ?? ""}  `), say("map.somewhere"))] : [];
    this.picture.replaceChildren(...dots, ...(leader ? [chosen(leader, looks.ring * wide)] : []), ...ways, ...connectors, ...pins.map((one) => pin(one, looks.ring * wide)), ...stands.map((one) => ringed(one.mark, one.x, one.y, size)), ...row, ...somewhere, ...words.filter((one) => one !== null));
  }

  /** The reader's own measuring: a line to each place that has answered. @param {Scene} scene @param {(Spot & Point)[]} spots @param {(home: {lat: number, lon: number}) => Point} pointOf @param {{sign: number, dot: number, em: number, width: number, height: number}} looks */
  measures({ marks: [mark], own }, spots, pointOf, { sign: size, dot, em, width, height }) {
    if (!mark || !own) return;
    const home = homeOf(mark.person);
    const me = home ? pointOf(home) : { x: width / 2, y: height - size };
    const large = size * 1.3;
    [me.x, me.y] = [Math.min(width - large, Math.max(large, me.x)), Math.min(height - large, Math.max(large, me.y))];
    const ends = spots.map((spot) => {
      const far = Math.hypot(spot.x - me.x, spot.y - me.y) || 1;
      const by = Math.max(1, (off * large) / far);
      return { ...spot, x: me.x + (spot.x - me.x || 1) * by, y: me.y + (spot.y - me.y) * by };
    });
    const seen = ends.filter(({ at }) => own.answered.has(at));
    const nearest = seen.toSorted((a, b) => (own.answered.get(a.at) ?? 0) - (own.answered.get(b.at) ?? 0)).slice(0, named);
    const texts = nearest.map((spot) => svg("text", { class: "called", "font-size": em }, `${spot.name} ${Math.max(1, Math.round(own.answered.get(spot.at) ?? 0))}`));
    this.picture.replaceChildren(...texts);
    const boxes = texts.map((text) => ({ width: /** @type {SVGTextContentElement} */ (/** @type {unknown} */ (text)).getComputedTextLength?.() ?? 0, height: em * 1.2 }));
    const places = labelled(me, nearest, em, boxes, { left: 4, right: width - 4, top: 4, bottom: height - 4 }, { taken: [{ left: me.x - large / 2, right: me.x + large / 2, top: me.y - large / 2, bottom: me.y + large / 2 }] });
    texts.forEach((text, i) => {
      const place = places[i];
      if (!place) return;
      text.setAttribute("text-anchor", place.anchor);
      text.setAttribute("transform", `translate(${place.x} ${place.y + em * 0.35})`);
    });
    const line = (/** @type {Point} */ to, /** @type {string} */ name) => svg("line", { class: name, x1: me.x, y1: me.y, x2: to.x, y2: to.y });
    const shape = sign({ ...mark.person, able: false }, large);
    shape.setAttribute("x", String(me.x - large / 2));
    shape.setAttribute("y", String(me.y - large / 2));
    this.picture.replaceChildren(
      svg("g", { class: `own p${(mark.person.arrival ?? 0) % 16}` }, ends.filter(({ at }) => own.waiting.has(at)).map((end) => line(end, "asked")), seen.map((end) => line(end, "answered")), seen.map(({ x, y }) => svg("circle", { class: "answered", cx: x, cy: y, r: dot * 1.4 }))),
      ...ends.filter(({ at }) => !own.answered.has(at)).map((end) => hollow(end, dot, 0)),
      shape,
      ...texts.filter((_, i) => places[i]),
    );
  }
}

/** Moves rings off each other. @param {Point[]} spots @param {number} least @param {number} width @param {number} height */
function apart(spots, least, width, height) {
  moveApart(spots, () => least, (spot) => {
    spot.x = Math.min(width - least / 2, Math.max(least / 2, spot.x));
    spot.y = Math.min(height - least / 2, Math.max(least / 2, spot.y));
  });
}

/** A place where nothing stands yet. @param {Point} at @param {number} r @param {number} ring its radius, 0 for none */
function hollow({ x, y }, r, ring) {
  return svg("g", { class: "hollow" }, ring > 0 && svg("circle", { class: "dashed", cx: x, cy: y, r: ring }), svg("circle", { class: "dot", cx: x, cy: y, r }));
}

/** The leading place. @param {Point} at @param {number} ring */
function chosen({ x, y }, ring) {
  return svg("g", { class: "best-place" }, svg("circle", { class: "glow", cx: x, cy: y, r: ring * 3 }), svg("circle", { class: "dashed", cx: x, cy: y, r: ring * 1.5 }), svg("circle", { class: "dot", cx: x, cy: y, r: ring * 0.75 }));
}

/** Where the pin of the second or the third stands, off its place. @param {Point} at @param {number} rank @param {number} r @param {number} height */
function besides({ x, y }, rank, r, height) {
  return { to: { x: x + (rank === 2 ? 2 : -2) * r, y: Math.min(height - r, y + 4 * r) } };
}

/** The second or the third: a number on a pin. @param {Point & {rank: number, to: Point}} one @param {number} r */
function pin({ x, y, rank, to }, r) {
  return svg("g", { class: "pin" }, svg("line", { class: "connector", x1: x, y1: y, x2: to.x, y2: to.y }), svg("circle", { cx: to.x, cy: to.y, r: r * 0.95 }), svg("text", { x: to.x, y: to.y, "font-size": r * 1.2, "text-anchor": "middle", "dominant-baseline": "central" }, rank));
}

/** What no sign may hide, for {@link settle}: it stays where it is. @param {Point} at @param {number} r */
const obstacle = ({ x, y }, r) => ({ x, y: y - r, trueX: x, trueY: y - r, face: 1, width: 2 * r, height: 2 * r });

/** A person's way to the leading place; it is dotted if nobody measured it. @param {Point} from @param {Point} to @param {Mark} mark */
function way(from, to, { person, text, isGuess }) {
  const bend = { x: (from.x + to.x) / 2, y: (from.y + to.y) / 2 - Math.hypot(from.x - to.x, from.y - to.y) * 0.14 };
  return svg("path", { class: `arc p${(person.arrival ?? 0) % 16}${text === undefined ? " unknown" : isGuess ? " guess" : ""}`, d: `M${from.x} ${from.y}Q${bend.x} ${bend.y} ${to.x} ${to.y}` });
}

/** A sign in the ring of its progress. @param {Mark} mark @param {number} x @param {number} y @param {number} size */
function ringed({ person, share }, x, y, size) {
  const r = size * 0.66;
  const around = 2 * Math.PI * r;
  const inner = sign({ ...person, able: false }, size * 0.8);
  inner.setAttribute("x", String(x - size * 0.4));
  inner.setAttribute("y", String(y - size * 0.4));
  return svg("g", { class: `p${(person.arrival ?? 0) % 16}` }, svg("circle", { class: "disc", cx: x, cy: y, r }), svg("circle", { class: "ring", cx: x, cy: y, r, "stroke-dasharray": `${share * around} ${around}`, transform: `rotate(-90 ${x} ${y})` }), inner);
}

/** A name with its ping, and where that is. @param {Mark} mark @param {number} em */
function wordsOf({ person, text, isGuess }, em) {
  const where = [person.country && !person.somewhere ? country(person.country) : "", isGuess ? say("choice.estimated") : ""].filter(Boolean).join(", ");
  return svg("g", { class: "named", "text-anchor": "middle" }, svg("text", { class: "called", "font-size": em }, `\u2068${shortened(person.name, longestName)}\u2069`, text !== undefined && svg("tspan", { class: "ms", dx: em * 0.35 }, text)), where && svg("text", { class: "whence", "font-size": em * 0.86, y: em * 1.05 }, where));
}

