// The reader's own part in a room that looks for a place: whether they measure, have said not now, or have
// yet to say.
//
//	asked ── measure ──▶ a nickname, if there is none ──▶ browser peer ──▶ results
//	   └──── not now ──▶ a nickname ──▶ counted in by an estimate, once there is one

import { ask, credential, enter, lastName, linkKey, refused, roomCode } from "../api.js";
import { playsHere } from "../gather.js";
import { meOf } from "../people.js";
import { capital, say } from "../say.js";
import { start } from "./browserpeer.js";
import { measure } from "./measure.js";

/** @typedef {import("../types.js").State} State */
/** @typedef {import("../live.js").Live} Live */
/** @typedef {import("../app.js").View} View */
/** @typedef {import("./measure.js").Result} Result */
/** @typedef {(text: string, bad?: boolean) => void} Tell */
/**
 * @typedef {object} Own
 * @property {boolean} wants has agreed to measure, and the browser peer is yet to start
 * @property {boolean} declined
 * @property {{stop: () => void} | null} peer
 * @property {Map<string, Result>} results by the places' names
 * @property {Set<string>} asked the names of the places that the host has asked for
 * @property {boolean} isOver all that the host has asked for is measured
 * @property {string} counting for which estimate the host was asked to count the reader in
 * @property {boolean} isSettingUp looks at the way to a server
 * @property {Tell} [tell]
 */

const kept = `muster ${roomCode.toUpperCase().replaceAll("-", "")}`;

/** @param {string} what */
function isKept(what) {
  try {
    return sessionStorage.getItem(`${kept} ${what}`) !== null;
  } catch {
    return false; // a private window asks again
  }
}

/** @param {boolean} is */
function keepDeclined(is) {
  try {
    if (is) sessionStorage.setItem(`${kept} not now`, "yes");
    else sessionStorage.removeItem(`${kept} not now`);
  } catch {
    // see above
  }
}

/** @param {View} view @returns {Own} */
export function ownOf(view) {
  view.seek ??= { wants: false, declined: isKept("not now"), peer: null, results: new Map(), asked: new Set(), isOver: false, counting: "", isSettingUp: false };
  return view.seek;
}

/** Whether the room is measuring places, or is about to. @param {State} state */
export const isOpen = ({ places, phase }) => Boolean(places) && (phase.name === "gathering" || phase.name === "coordinating");

/** Whether the reader's browser measures now. @param {State} state @param {View} view */
export function isMeasuring(state, view) {
  const own = ownOf(view);
  const isDone = state.places?.people[state.you.name ?? ""]?.done;
  return isOpen(state) && (own.wants || (own.peer !== null && !own.isOver && !isDone));
}

/** Whether the reader has yet to say if they measure. @param {State} state @param {View} view */
export function isAsked(state, view) {
  if (view.tv || !isOpen(state) || playsHere(state)) return false;
  return !ownOf(view).declined && !meOf(state)?.estimate?.counted;
}

/** The name in the field: the reader's, or one that is free. @param {State} state */
export function nameFor(state) {
  if (state.you.name) return state.you.name;
  if (lastName()) return lastName();
  let n = state.people.length + 1;
  while (state.people.some(({ name }) => name === say("place.friend", { n }))) n++;
  return say("place.friend", { n });
}

/** Comes in by the name in the field. @param {Live} live */
async function comeIn(live) {
  const state = /** @type {State} */ (live.state);
  const field = document.querySelector("#ask-name");
  const name = (field instanceof HTMLInputElement && field.value.trim()) || nameFor(state);
  try {
    if (!state.you.name) {
      await enter(name);
      live.connect();
    } else if (name !== state.you.name) await ask("rename", { name, of: "" });
  } catch (error) {
    if (field instanceof HTMLInputElement) field.focus();
    throw error;
  }
  return name;
}

/** @param {Live} live @param {View} view */
export async function agree(live, view) {
  await comeIn(live);
  keepDeclined(false);
  Object.assign(ownOf(view), { wants: true, declined: false, isOver: false });
  view.changed();
}

/** The reader says not now. The host may know too little for an estimate yet: then the page asks again. @param {Live} live @param {View} view */
export async function decline(live, view) {
  await comeIn(live);
  keepDeclined(true);
  ownOf(view).declined = true;
  view.changed();
}

/** Notices what the room's newest state means for the reader's part. @param {Live} live @param {View} view @param {Tell} tell */
export function notice(live, view, tell) {
  const state = /** @type {State} */ (live.state);
  const own = ownOf(view);
  own.tell = tell;
  const me = meOf(state);
  if (!me || view.tv || state.room.ended) return;
  const isBack = me.peer && !me.connected && isKept("measures");
  if (!own.peer && credential() !== "" && (own.wants || isBack)) begin(live, view, tell);
  const { estimate } = me;
  const about = `${state.room.round} ${estimate?.error_ms}`;
  if (!own.declined || me.peer || !isOpen(state) || !estimate?.error_ms || estimate.counted || own.counting === about) return;
  own.counting = about;
  ask("count", { name: me.name, counted: true }).catch(() => {}); // the stage says who is estimated
}

/** Starts the browser peer. It stays until the page closes. @param {Live} live @param {View} view @param {Tell} tell */
function begin(live, view, tell) {
  const { you } = /** @type {State} */ (live.state);
  const own = ownOf(view);
  own.wants = false;
  own.peer = start({
    code: roomCode,
    key: linkKey,
    name: you.name ?? "",
    ticket: new URL(you.join).hash.split(".")[1] ?? "",
    url: `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/peer`,
    measures(places, options = {}) {
      for (const { name } of places) own.asked.add(name);
      return measure(places, { ...options, seen(at, result) {
        own.results.set(places[at].name, result);
        options.seen?.(at, result);
      } });
    },
    onState(news) {
      if (news.state === "in" && news.places > 0 && news.seen >= news.places) own.isOver = true;
      if (news.state === "ended") {
        own.peer = null;
        if (news.reason) tell(capital(refused(news).join(" ")), true);
      }
      view.changed();
    },
  });
}
