// What a room needs after its lobby: the stages of a round, the night, and the details. It loads
// once the page has drawn something, because most visitors come to a lobby or to its door.

import { ask } from "./api.js";
import { openCulled } from "./details/culled.js";
import { broughtOf, written } from "./details/lists.js";
import { byId, saveFile } from "./dom.js";
import { say } from "./say.js";
import { share } from "./share.js";
import * as ban from "./stages/ban.js";
import * as camplobby from "./stages/camplobby.js";
import * as countdown from "./stages/countdown.js";
import * as failed from "./stages/failed.js";
import * as go from "./stages/go.js";
import * as matchgo from "./stages/matchgo.js";
import * as moving from "./stages/moving.js";
import * as night from "./stages/night.js";
import * as parting from "./stages/parting.js";
import * as reveal from "./stages/reveal.js";
import * as search from "./stages/search.js";
import * as seats from "./stages/seats.js";
import * as vote from "./stages/vote.js";

export { prepare } from "./stages/print.js";
export { drawDetails } from "./details/details.js";
export { showLimit } from "./details/whatif.js";

/** @type {Partial<Record<import("./stages/stages.js").Stage, import("./app.js").Drawn>>} */
export const stages = {
  ban: { draw: ban.ban, shown: ban.shown, says: ban.says },
  search: { draw: search.search, shown: search.shown },
  reveal: { draw: reveal.reveal, shown: reveal.shown, says: reveal.says },
  vote: { draw: vote.vote, shown: vote.shown },
  countdown: { draw: countdown.countdown, shown: countdown.shown, says: countdown.says },
  go: { draw: go.go, shown: go.shown, says: go.says },
  seats: { draw: seats.seats, shown: seats.shown },
  failed: { draw: failed.failed, shown: failed.shown },
  night: { draw: night.night, shown() {}, says: night.says },
};

/** Brings the servers of a form into the room. @param {HTMLFormElement} form @param {(text: string, bad?: boolean) => void} tellBriefly */
export async function bring(form, tellBriefly) {
  const { favourites, others } = broughtOf(String(new FormData(form).get("list")));
  if (favourites.length === 0) return tellBriefly(say("lists.no-address"), true);
  await ask("bring", { favourites, adds: true });
  form.reset();
  tellBriefly(others > 0 ? say("lists.added-some", { n: others }) : say("lists.added"));
}

/**
 * The actions of the buttons here.
 * @param {import("./live.js").Live} live @param {import("./app.js").View} view @param {(text: string) => void} tellBriefly @param {() => Promise<unknown>} end
 * @returns {Record<string, (data: DOMStringMap) => unknown>}
 */
export function actions(live, view, tellBriefly, end) {
  return {
    ...camplobby.actions(view.changed),
    ...matchgo.actions(live),
    ...ban.actions(live, view, ask),
    ...moving.actions,
    ...night.actions(view, tellBriefly),
    ...parting.actions(end),
    "save-list": () => live.state && saveFile(new Blob([written(live.state)], { type: "text/plain" }), `${live.state.room.game}-favourites.txt`),
    unfold: ({ addr = "" }) => (vote.unfold(live.state, addr), view.changed()),
    share: async () => live.state && tellBriefly(await share(live.state)),
    culled: ({ cause = "" }) => openCulled(/** @type {HTMLDialogElement} */ (byId("dialog")), cause, live.state),
  };
}
