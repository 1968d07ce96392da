// Getting Muster, or opening the room in it: the entry button for players, downloads and
// signatures.

import { byId } from "./dom.js";
import { download, isHere, noteHere, offered, openInMuster } from "./get.js";
import { say, told } from "./say.js";
import * as door from "./stages/door.js";
import { clearTimer, setTicker } from "./time.js";

/** @typedef {import("./live.js").Live} Live */
/** @typedef {import("./app.js").View} View */

/** How often the page asks how much of a program has reached the host, ms. */
const fetchedEvery = 1000;

/**
 * The actions of the buttons here.
 * @param {Live} live @param {View} view @param {(text: string) => void} tellBriefly
 * @returns {Record<string, (data: DOMStringMap) => unknown>}
 */
export function actions(live, view, tellBriefly) {
  return {
    open: () => open(live, view),
    play: () => play(live, view),
    get: ({ system = "", name = "" }) => get(live, view, system, name),
    signature: async ({ file = "" }) => {
      if (!live.state) return;
      await download(file, live.state.you.join, () => {});
      tellBriefly(say("get.signed"));
    },
  };
}

/** Tries to open the room in an installed Muster. @param {Live} live @param {View} view */
async function open(live, view) {
  if (!live.state || view.opening === "tried") return view.opening;
  view.opening = "tried";
  view.changed();
  view.opening = (await openInMuster(live.state.you.join)) ? "opened" : "nothing";
  noteHere(view.opening === "opened");
  view.changed();
  return view.opening;
}

/** Opens the door for players, and starts the right download. A visitor who has opened a room in Muster before needs none. @param {Live} live @param {View} view */
async function play(live, view) {
  door.play(view);
  const { offer } = view;
  const mine = offer?.programs.find((program) => program.system === offer.system);
  if (!mine || offer?.phone || mine.wrong) return byId("way-in").scrollIntoView({ behavior: "smooth", block: "nearest" });
  if (view.getting) return;
  if (isHere() && (await open(live, view)) !== "nothing") return;
  await get(live, view, mine.system, told(mine.name));
}

/** Downloads Muster for a system. @param {Live} live @param {View} view @param {string} system @param {string} name */
async function get(live, view, system, name) {
  if (!live.state || view.opening === "tried" || (view.getting && !view.getting.file)) return; // one at a time
  if (view.stage !== "door" && system === view.offer?.system && view.opening === "" && (await open(live, view)) !== "nothing") return; // a visitor who has Muster needs no download
  /** @type {import("./get.js").Getting} */
  const getting = (view.getting = { name, bytes: 0, file: "" });
  const look = async () => {
    view.offer = (await offered()) ?? view.offer;
    return view.offer?.programs.find((program) => program.system === system);
  };
  const isAway = view.offer?.programs.some((program) => program.system === system && program.away);
  if (isAway) getting.fetched = await look();
  const watching = isAway ? setTicker(async () => getting.bytes === 0 && (getting.fetched = await look()), fetchedEvery) : 0;
  try {
    getting.file = await download(system, live.state.you.join, (bytes) => {
      getting.bytes = bytes;
      view.changed();
    });
    if (isAway) await look();
  } catch (error) {
    view.getting = null;
    if (!isAway || !(await look())?.trouble) throw error; // otherwise the page already shows the trouble
  } finally {
    clearTimer(watching);
    view.changed();
  }
}
