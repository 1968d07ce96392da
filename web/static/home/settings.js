// The settings of This computer. Each one is saved when it changes, and says so beside its name.

import { button, dotted, h } from "../dom.js";
import { languageChoice } from "../language.js";
import { said, say } from "../say.js";
import { ask, get } from "./api.js";
import { remember } from "./forms.js";

/** @typedef {Record<string, string>} Settings the user's, by their keys */

/** A section of the page: its title, and beside it what it says. @param {string} id @param {string} title @param {...import("../dom.js").Child} held */
export function section(id, title, ...held) {
  return h("section", { id, "aria-labelledby": `${id}-title` }, h("h2", { id: `${id}-title` }, title), h("div", { class: "held" }, ...held));
}

/** Shows the settings, or why they cannot be read. @param {string} file where they are kept */
export async function settings(file) {
  const place = document.getElementById("settings");
  if (!place) return;
  /** @type {Settings} */
  let now;
  try {
    now = await get("settings");
  } catch (error) {
    return place.replaceChildren(section("keeps", say("computer.kept-where"), h("p", { class: "hint" }, h("bdi", {}, /** @type {Error} */ (error).message)), h("p", { class: "buttons" }, button("settings-again", say("computer.look-again")))));
  }
  askRouter(now.port_map);
  place.replaceChildren(you(now), friends(now), keeps(now, file));
}

/** @param {Settings} now */
function you(now) {
  return section(
    "you",
    say("computer.you"),
    h(
      "div",
      { class: "pairs" },
      text(now, "name", say("home.your-name"), say("computer.name-how"), { maxlength: 32, placeholder: say("computer.name-none") }),
      h("div", { class: "field" }, h("label", { for: "set-language" }, say("page.language")), languageChoice("set-language")),
      choice(now, "launch", say("computer.launch"), say("computer.launch-how"), [["", say("computer.launch-ask")], ["auto", say("computer.launch-auto")], ["never", say("computer.launch-never")]]),
    ),
  );
}

/** @param {Settings} now */
function friends(now) {
  return section(
    "friends",
    say("computer.friends"),
    h("p", { id: "reach", class: "quiet" }),
    h(
      "div",
      { class: "pairs" },
      choice(now, "port_map", say("computer.router"), say("computer.router-how"), [["", say("computer.router-ask")], ["true", say("computer.router-on")], ["false", say("computer.router-off")]]),
      choice(now, "lan", say("computer.lan"), say("computer.lan-how"), [["", say("computer.lan-auto")], ["on", say("computer.lan-on")], ["off", say("computer.lan-off")]]),
    ),
    h("details", { class: "own" }, h("summary", {}, dotted(say("computer.at"), say("computer.rate"))), h("div", { class: "pairs" }, text(now, "at", say("computer.at"), say("computer.at-how"), { placeholder: "https://muster.example" }), text(now, "rate", say("computer.rate"), say("computer.rate-how"), { type: "number", min: 1, max: 5000, placeholder: "140" }))),
  );
}

/** @param {Settings} now @param {string} file */
function keeps(now, file) {
  return section(
    "keeps",
    say("computer.kept-where"),
    h("p", {}, said("computer.settings-in", { file: h("code", {}, h("bdi", {}, file)) })),
    h("div", { class: "pairs" }, text(now, "downloads", say("computer.downloads"), say("computer.downloads-how"), { placeholder: say("computer.downloads-folder") })),
  );
}

/** @param {Settings} now @param {string} key @param {string} label @param {string} hint @param {Record<string, string | number>} more */
function text(now, key, label, hint, more) {
  return field(key, label, hint, h("input", { id: `set-${key}`, name: key, value: now[key] ?? "", autocomplete: "off", spellcheck: "false", ...more }));
}

/** @param {Settings} now @param {string} key @param {string} label @param {string} hint @param {string[][]} all values and names */
function choice(now, key, label, hint, all) {
  return field(key, label, hint, h("select", { id: `set-${key}`, name: key }, all.map(([value, name]) => h("option", { value, selected: (now[key] ?? "") === value }, name))));
}

/** @param {string} key @param {string} label @param {string} hint @param {HTMLElement} input */
function field(key, label, hint, input) {
  const told = h("output", { id: `set-${key}-said`, class: "kept", for: `set-${key}` });
  input.addEventListener("change", () => save(/** @type {HTMLInputElement} */ (input), told));
  input.setAttribute("aria-describedby", `set-${key}-how`);
  return h("div", { class: "field" }, h("p", { class: "named" }, h("label", { for: `set-${key}` }, label), " ", told), input, h("small", { id: `set-${key}-how` }, hint));
}

/** Saves one setting, and says beside it how that went. @param {HTMLInputElement} input @param {HTMLElement} told */
async function save(input, told) {
  const { name } = input;
  const value = input.value.trim();
  try {
    await ask("settings", { [name]: value });
    told.textContent = say("computer.kept");
    input.removeAttribute("aria-invalid");
  } catch (error) {
    told.textContent = /** @type {Error} */ (error).message;
    input.setAttribute("aria-invalid", "true");
    return;
  }
  if (name === "name") remember("name", value);
  if (name === "launch") remember("auto", ""); // what a form remembers would contradict it
  if (name === "port_map") askRouter(value);
}

/** Sets the usual answer of the beacon's form. @param {string | undefined} kept */
function askRouter(kept) {
  const box = document.getElementById("beacon-map");
  if (box instanceof HTMLInputElement) box.checked = kept === "true";
}
