// The user's standing rooms: when each group meets next, and one button to open the room.

import { button, dotted, foreign, h, show } from "../dom.js";
import { locale, say } from "../say.js";
import { alarm } from "./alarm.js";
import { ask, get } from "./api.js";
import { mayClose, mayHost, remember, remembered, tab } from "./forms.js";
import { wallTime } from "../time.js";

/** @typedef {{id: string, name: string, game: string, next?: string, comes: number, at?: string}} Room */

/** @type {import("./forms.js").Home | undefined} */
let home;

/** A place for them, which fills by itself. @param {import("./forms.js").Home} from */
export function standing(from) {
  home = from;
  const section = h("section", { class: "card", id: "standing-rooms", "aria-labelledby": "standing-title", hidden: true });
  from.attempt("", async () => {
    /** @type {Room[]} */
    const rooms = await get("standing");
    section.hidden = rooms.length === 0;
    show(section, h("h2", { id: "standing-title" }, say("standing.title")), h("ul", { class: "rooms" }, rooms.map((room) => one(room, from))), mayHost());
  });
  return section;
}

/** @param {Room} room @param {import("./forms.js").Home} home */
function one(room, home) {
  const game = home.games.find((g) => g.id === room.game)?.name ?? room.game;
  const then = new Date(room.next || 0);
  const year = then.getFullYear() === new Date(wallTime()).getFullYear() ? undefined : "numeric"; // shows a mistyped year
  const next = room.next ? say("standing.next", { date: then.toLocaleString(locale, { weekday: "short", day: "numeric", month: "short", year, hour: "2-digit", minute: "2-digit", hourCycle: "h23" }) }) : say("standing.whenever");
  const where = room.at && say("standing.at", { host: new URL(room.at).host });
  return h(
    "li",
    { "data-key": room.id },
    h("p", {}, h("strong", {}, h("bdi", { dir: "auto" }, room.name || say("home.nameless"))), " ", h("span", { class: "quiet" }, dotted(foreign(game), next, room.comes > 0 && say("standing.coming", { n: room.comes }), where))),
    h("p", { class: "buttons" }, button("again", say("standing.open"), { class: "primary", "data-id": room.id, "aria-label": room.name ? say("standing.open-room", { room: room.name }) : say("standing.open-it") })),
  );
}

/** Opens a room in its own tab. @type {Record<string, (data: DOMStringMap) => unknown>} */
export const actions = {
  again: ({ id }) => {
    if (home && !mayClose(home)) return;
    alarm.allow();
    tab();
    const box = /** @type {HTMLInputElement | null} */ (document.querySelector("#standing-rooms [name=can-host]"));
    const may = box?.checked ?? false;
    remember("can-host", may ? "yes" : "no");
    return ask("again", { id, name: remembered("name"), can_host: may });
  },
};
