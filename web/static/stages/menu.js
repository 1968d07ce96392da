// The menu of a person's sign: the organiser's for everybody, and each person's own. It is a menu
// button as the ARIA patterns have it: arrows move, Escape closes, and the focus returns. Sending
// somebody out asks within the menu.

import { ask } from "../api.js";
import { button, h } from "../dom.js";
import { isOpponent } from "../people.js";
import { said, say } from "../say.js";

/** @typedef {import("../types.js").State} State */
/** @typedef {import("../types.js").Person} Person */

/** Whose menu is open, what it shows, and where, px. @type {{name: string, shows: "items" | "rename" | "out", fresh: boolean, left: number, top: number}} */
const menu = { name: "", shows: "items", fresh: false, left: 0, top: 0 };

/** The space around a menu, px. */
const around = 8;

/** Who is in the list of people with the question whether to remove them. */
let asked = "";

/** @type {() => void} */
let changed = () => {};

/** Reports whether a person's sign has a menu. @param {State} state @param {Person} person @param {boolean} isMe */
export function hasMenu(state, person, isMe) {
  return isMe || Boolean(state.you.organiser);
}

/** The attributes of a sign that opens its menu. @param {Person} person */
export function opener(person) {
  const isOpen = menu.name === person.name;
  return { "data-name": person.name, "data-key": "face", "aria-haspopup": "menu", "aria-expanded": String(isOpen), "aria-controls": isOpen ? "sign-menu" : undefined, "aria-label": say("menu.for", { player: person.name }) };
}

/** A person's menu, if it is open. @param {State} state @param {Person} person @param {boolean} isMe */
export function signMenu(state, person, isMe) {
  if (menu.name !== person.name) return false;
  const box = { id: "sign-menu", class: "menu", "data-key": `menu ${menu.shows}`, popover: "manual", "--left": `${menu.left}px`, "--top": `${menu.top}px` };
  if (menu.shows === "rename") {
    return h(
      "form",
      { ...box, "data-submit": "rename", "data-of": isMe ? "" : person.name, "aria-label": say("menu.rename", { player: person.name }) },
      h("label", { for: "name-of" }, ...(isMe ? [say("details.another-name")] : said("menu.new-name", { player: person.name }))),
      h("input", { id: "name-of", name: "name", value: person.name, maxlength: 32, required: true, autocomplete: "off" }),
      h("span", { class: "buttons" }, h("button", { class: "ink" }, say("details.rename")), button("menu-close", say("dialog.close"))),
    );
  }
  if (menu.shows === "out") {
    return h(
      "div",
      { ...box, role: "alertdialog", "aria-labelledby": "out-sure" },
      h("p", { id: "out-sure" }, ...said("menu.out-sure", { player: person.name })),
      h("span", { class: "buttons" }, button("remove", say("menu.out-yes"), { "data-name": person.name, class: "danger" }), button("menu-close", say("menu.stay"))),
    );
  }
  return h("div", { ...box, role: "menu", "aria-label": say("menu.for", { player: person.name }) }, items(state, person, isMe));
}

/** @param {State} state @param {Person} person @param {boolean} isMe */
function items(state, person, isMe) {
  const { name } = person;
  const item = (/** @type {string} */ action, /** @type {import("../dom.js").Child[]} */ words, /** @type {Record<string, string>} */ data = {}) => button(action, words, { role: "menuitem", tabindex: -1, "data-key": `${action} ${data["data-counts"] ?? ""}`, "data-name": name, ...data });
  const isCounted = person.peer && !person.left_out;
  return [
    item("menu-rename", isMe ? [say("menu.rename-me")] : said("menu.rename", { player: name })),
    isMe && (person.country || person.somewhere) && item("somewhere", [say(person.somewhere ? "details.show-country" : "details.show-somewhere")], { "data-somewhere": String(!person.somewhere) }),
    !isMe && person.peer && item("without", said(isCounted ? "menu.without" : "menu.with", { player: name }), { "data-counts": String(!isCounted) }),
    !isMe && !isOpponent(state, name) && item("menu-out", said("menu.out", { player: name }), { class: "danger" }),
  ];
}

/** Puts an open menu on top of everything, below its sign or above it, and keeps it on the screen. @param {HTMLElement} box */
function put(box) {
  if (!box.matches(":popover-open")) box.showPopover();
  const one = box.closest(".one");
  const sign = one?.querySelector(".face")?.getBoundingClientRect();
  if (!one || !sign) return;
  const { offsetWidth: width, offsetHeight: height } = box;
  const below = one.getBoundingClientRect().bottom + around / 2;
  menu.left = Math.round(Math.max(around, Math.min(innerWidth - width - around, sign.left + sign.width / 2 - width / 2)));
  menu.top = Math.round(Math.max(around, below + height + around <= innerHeight ? below : Math.min(sign.top, innerHeight) - height - around));
  box.style.setProperty("--left", `${menu.left}px`);
  box.style.setProperty("--top", `${menu.top}px`);
}

/** Shows an open menu, and moves the focus into one that has just opened. @param {HTMLElement} place */
export function showMenu(place) {
  const box = place.querySelector("#sign-menu");
  if (box instanceof HTMLElement) put(box);
  else menu.name = ""; // its person has left
  if (!menu.fresh) return;
  const inside = place.querySelector("#sign-menu :is([role=menuitem], input, .danger)");
  if (!(inside instanceof HTMLElement)) return;
  menu.fresh = false;
  inside.focus({ preventScroll: true });
  if (inside instanceof HTMLInputElement) inside.select();
}

/** Closes the menu. If the focus was inside, it returns to the menu's sign. */
export function closeMenu() {
  if (menu.name === "") return;
  const box = document.getElementById("sign-menu");
  const sign = box?.contains(document.activeElement) ? box.closest(".one")?.querySelector(".face") : null;
  menu.name = "";
  changed();
  if (sign instanceof HTMLElement) sign.focus({ preventScroll: true });
}

/** @param {string} name @param {typeof menu.shows} shows */
function open(name, shows) {
  Object.assign(menu, { name, shows, fresh: true });
  changed();
}

/**
 * The menu entry that removes somebody from the list of people. It asks before it acts.
 * @param {string} name @param {string} [label]
 */
export function removal(name, label) {
  if (asked !== name) return [button("remove-ask", say("people.remove"), { "data-name": name, class: "danger", "aria-label": label })];
  return [h("span", {}, ...said("menu.out-sure", { player: name })), button("remove", say("menu.out-yes"), { "data-name": name, class: "danger" }), button("remove-ask", say("menu.stay"), { "data-name": "" })];
}

/** The actions of the buttons here. @param {() => void} draw @returns {Record<string, (data: DOMStringMap) => unknown>} */
export function actions(draw) {
  changed = draw;
  return {
    menu: ({ name = "" }) => (menu.name === name ? closeMenu() : open(name, "items")),
    "menu-rename": ({ name = "" }) => open(name, "rename"),
    "menu-out": ({ name = "" }) => open(name, "out"),
    "menu-close": closeMenu,
    "remove-ask": ({ name = "" }) => ((asked = name), draw()),
    remove: async ({ name }) => {
      asked = "";
      closeMenu();
      await ask("remove", { name });
    },
    without: async ({ name, counts }) => {
      closeMenu();
      await ask("without", { name, counts: counts === "true" });
    },
    somewhere: async ({ somewhere }) => {
      closeMenu();
      await ask("somewhere", { somewhere: somewhere === "true" });
    },
  };
}

/** @param {KeyboardEvent} event */
function onKey(event) {
  const box = document.getElementById("sign-menu");
  if (!box) {
    const face = event.target instanceof Element ? event.target.closest("[aria-haspopup=menu]") : null;
    if (face instanceof HTMLElement && (event.key === "ArrowDown" || event.key === "ArrowUp")) (event.preventDefault(), face.click());
    return;
  }
  if (event.key === "Escape") return event.preventDefault(), closeMenu();
  if (box.role !== "menu" || !box.contains(document.activeElement)) return;
  if (event.key === "Tab") return closeMenu();
  const all = /** @type {HTMLElement[]} */ ([...box.querySelectorAll("[role=menuitem]")]);
  const at = all.indexOf(/** @type {HTMLElement} */ (document.activeElement));
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[event.key];
  if (to === undefined) return;
  event.preventDefault();
  all.at(to >= all.length ? 0 : to)?.focus();
}

globalThis.document?.addEventListener?.("keydown", onKey);
globalThis.document?.addEventListener?.("pointerdown", (event) => {
  if (event.target instanceof Element && !event.target.closest("#sign-menu, [aria-haspopup=menu]")) closeMenu();
});
