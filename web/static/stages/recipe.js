// How a group gets a server where the reveal said: a provider there, a text that somebody copies into a new machine,
// and then the address of what runs there. The texts are recipe.js's; nothing that is typed here is sent, but for the
// address at the end.
//
//	1 Pick a provider    2 Give this to the new machine
//	  its form             tabs, text, Copy                  A  a form and texts
//	                       open, memory, mind                B  the work by hand in place of the form
//	3 Then paste the address                                 C  words alone

import { button, foreign, h, show } from "../dom.js";
import { knownOf, fieldsOf, textsOf } from "../recipe.js";
import { locale, millis, said, say } from "../say.js";

/** @typedef {import("../dom.js").Child} Child */
/** @typedef {import("../recipe.js").Recipe} Recipe */
/** @typedef {import("../recipe.js").Texts} Texts */
/** @typedef {import("../recipe.js").Text} Text */
/** @typedef {import("../recipe.js").Line} Line */
/** @typedef {import("../recipe.js").Field} Field */
/** @typedef {{name: string, country?: string, offers?: {provider: string, region?: string}[], mean_ms?: number}} Place */
/** @typedef {{name?: string, people?: string[], game?: string}} Room what of a room stands in the form; game is the game's name */
/**
 * @typedef {object} Shown
 * @property {Place} place
 * @property {Recipe | null} recipe null if the host has none for the game
 * @property {Room} room
 * @property {boolean} mine whether whoever looks gets the server ready
 * @property {string} [by] who does, for the others
 * @property {(address: string) => void} paste is told the server's address
 */
/** @typedef {"newMachine" | "compose" | "docker" | "linuxgsm"} Tab */

/** @type {Tab[]} */
const tabs = ["newMachine", "compose", "docker", "linuxgsm"];

/** What a person has said and chosen on this page, and what is shown. @typedef {{answers: import("../recipe.js").Answers, offer: number, tab: Tab, isCopied: boolean, shown: Shown}} Kept */

/** @type {WeakMap<HTMLElement, Kept>} */
const kept = new WeakMap();

/** The lines from which a text is set smaller. */
const long = 13;

/** A game's recipe, or null if the host has none or does not answer. @param {string} game @returns {Promise<Recipe | null>} */
export async function recipeOf(game) {
  const reply = await fetch(`/recipe/${encodeURIComponent(game)}`).catch(() => null);
  return reply?.ok ? reply.json() : null;
}

/** Draws into an element that the stage keeps (data-keep); once more where something changes. @param {HTMLElement} el @param {Shown} shown */
export function drawRecipe(el, shown) {
  let own = kept.get(el);
  if (!own) {
    own = { answers: {}, offer: 0, tab: "newMachine", isCopied: false, shown };
    kept.set(el, own);
    listen(el, own);
  }
  own.shown = shown;
  draw(el, own);
}

/** @param {HTMLElement} el @param {Kept} own */
function draw(el, own) {
  const { place, recipe, room, mine } = own.shown;
  const texts = recipe && textsOf(recipe, { ...knownOf(recipe, room), ...own.answers });
  el.classList.add("recipe");
  el.dataset.grade = recipe?.grade ?? "none";
  const title = h("div", { class: "opens" }, h("h1", {}, ...said("recipe.title", { game: recipe?.name ?? room.game ?? "", place: place.name })), h("p", { class: "about" }, say("recipe.own")));
  if (!mine) return show(el, h("div", { class: "opens" }, h("h1", {}, ...said("recipe.gets-ready", { player: own.shown.by ?? "" })), h("p", { class: "about" }, ...said("recipe.gets-ready-how", { game: recipe?.name ?? room.game ?? "", place: place.name }))));
  show(
    el,
    title,
    h("section", { class: "pick", "aria-labelledby": "recipe-pick" }, step(1, "recipe-pick", say("recipe.pick")), offers(place, own), recipe && formOf(recipe, room, own, texts)),
    h("section", { class: "give", "aria-labelledby": "recipe-give" }, step(2, "recipe-give", say(recipe?.grade === "A" ? "recipe.give" : recipe?.grade === "B" ? "recipe.by-hand" : "recipe.in-words")), ...(recipe && texts ? [...panel(recipe, texts, own), recipe.grade === "C" && words(recipe, texts), facts(recipe, texts)] : [h("p", { class: "card" }, ...said("recipe.none", { game: room.game ?? "" }))])),
    h("form", { class: "pasting" }, step(3, "recipe-paste", h("label", { for: "recipe-address" }, say("recipe.paste"))), h("input", { id: "recipe-address", name: "at", "data-keep": true, required: true, placeholder: say("recipe.placeholder"), autocomplete: "off", autocapitalize: "off", spellcheck: "false", inputmode: "url", dir: "ltr" }), h("button", { type: "submit", class: own.isCopied || !texts?.docker ? "primary" : "" }, say("recipe.measure"))),
  );
}

/** @param {number} n @param {string} id @param {Child} words */
const step = (n, id, words) => h("h2", { id, class: "numbered" }, h("span", { class: "n" }, n), " ", words);

/** The providers, of which the first is the measured one. @param {Place} place @param {Kept} own */
function offers(place, own) {
  const all = place.offers ?? [];
  if (all.length === 0) return h("p", { class: "providers card" }, say("recipe.no-offers"));
  const measured = place.mean_ms === undefined ? say("recipe.measured") : say("recipe.measured-ms", { ms: millis(place.mean_ms) });
  return h(
    "div",
    { class: "providers", role: "radiogroup", "aria-labelledby": "recipe-pick" },
    all.map(({ provider, region }, i) => {
      const input = /** @type {HTMLInputElement} */ (h("input", { type: "radio", name: "offer", value: i }));
      input.checked = i === own.offer;
      return h("label", {}, input, h("span", { class: "provider" }, foreign(provider), i === 0 && " ", i === 0 && h("small", {}, measured)), " ", region && h("code", {}, foreign(region)));
    }),
  );
}

/** The form, or what is left to be done by hand. @param {Recipe} recipe @param {Room} room @param {Kept} own @param {Texts | null} texts */
function formOf(recipe, room, own, texts) {
  const fields = fieldsOf(recipe, room);
  const byHand = texts?.byHand ?? [];
  if (recipe.grade === "C" || fields.length + byHand.length === 0 && !recipe.licence) return false;
  const left = byHand.length > 0 && [h("h3", {}, say(recipe.grade === "A" ? "recipe.needs" : "recipe.hand")), h("ul", { class: "by-hand" }, byHand.map((line) => h("li", {}, ...lineOf(line))))];
  return h(
    "div",
    { class: "card answers" },
    recipe.grade === "B" && left,
    fields.flatMap((field) => fieldOf(field, texts, own)),
    recipe.grade === "A" && left,
    recipe.licence && licenceOf(recipe.licence, own),
  );
}

/** @param {Field} field @param {Texts | null} texts @param {Kept} own @returns {Child[]} */
function fieldOf(field, texts, own) {
  const id = `recipe-${field.role}`;
  const wrong = texts?.wrong.find(({ role }) => role === field.role);
  const empty = field.role === "password" || field.role === "token" ? say(`recipe.${field.role}-empty`) : undefined;
  const input = h("input", { id, name: field.role, type: field.type === "number" ? "number" : "text", class: field.secret ? "secret" : "", min: field.type === "number" ? 1 : undefined, value: String(own.answers[field.role] ?? field.value), placeholder: empty, autocomplete: "off", autocapitalize: "off", spellcheck: "false", "aria-invalid": wrong ? "true" : undefined, "aria-describedby": wrong ? `${id}-wrong` : undefined });
  return [h("div", { class: "answer", "data-key": id }, h("label", { for: id }, say(field.key)), h("span", { class: field.unit ? "with-unit" : "" }, input, field.unit && h("span", { class: "unit" }, field.unit))), wrong ? h("p", { class: "wrong", id: `${id}-wrong`, "data-key": `${id}-wrong` }, say(wrong.key, wrong.with)) : null];
}

/** @param {{who: string, url?: string}} licence @param {Kept} own */
function licenceOf({ who, url }, own) {
  const input = /** @type {HTMLInputElement} */ (h("input", { type: "checkbox", name: "licence" }));
  input.checked = own.answers.licence === true;
  return h("label", { class: "licence", "data-key": "licence" }, input, h("span", {}, ...said("recipe.licence", { who, a: (...held) => (url ? h("a", { href: url, target: "_blank", rel: "noopener noreferrer" }, ...held) : h("span", {}, ...held)) })));
}

/** A line of the recipe's. Its own sentences are in English. @param {Line} line @returns {Child[]} */
function lineOf(line) {
  if ("text" in line) return [h("span", { lang: "en" }, line.text)];
  /** @type {import("../say.js").Args} */
  const args = { strong: (...held) => h("strong", {}, ...held) };
  for (const [name, value] of Object.entries(line.with ?? {})) args[name] = name === "command" || name === "file" || name === "names" ? h("code", { dir: "ltr" }, value) : name === "n" ? value : typeof value === "number" ? new Intl.NumberFormat(locale).format(value) : value;
  return said(line.key, args);
}

/** @param {Line[]} lines @returns {Child[]} */
const inARow = (lines) => lines.flatMap((line, i) => [i > 0 && " ", h("span", {}, ...lineOf(line))]);

/** The texts, of which one is shown. @param {Recipe} recipe @param {Texts} texts @param {Kept} own @returns {Child[]} */
function panel(recipe, texts, own) {
  if (recipe.grade === "C") return [];
  const there = tabs.filter((tab) => texts[tab] || (tab !== "linuxgsm" && texts.wrong.length > 0 && (tab !== "newMachine" || recipe.grade === "A")));
  const at = there.includes(own.tab) ? own.tab : there[0];
  const text = texts[at];
  const why = text ? unready(texts, text) : say("recipe.mend-first");
  return [
    h("div", { class: "tabs", role: "tablist", "aria-labelledby": "recipe-give" }, there.map((tab) => h("button", { type: "button", role: "tab", id: `recipe-tab-${tab}`, "aria-selected": String(tab === at), "aria-controls": "recipe-text", tabindex: tab === at ? 0 : -1, "data-tab": tab }, say(`recipe.tab.${tab}`)))),
    h(
      "div",
      { class: "script", id: "recipe-text", role: "tabpanel", "aria-labelledby": `recipe-tab-${at}`, "data-long": (text?.text.split("\n").length ?? 0) > long },
      text && h("pre", { tabindex: 0, dir: "ltr", translate: "no", "aria-label": say(`recipe.tab.${at}`) }, code(text)),
      h("div", { class: "under" }, h("p", {}, ...inARow(texts.then[at]), at !== "linuxgsm" && " ", at !== "linuxgsm" && imageOf(recipe)), h("div", { class: "copies" }, why && h("p", { class: "why", id: "recipe-why" }, why), button("copy", say("recipe.copy"), { class: own.isCopied || why ? "" : "primary", disabled: why !== "", "aria-describedby": why ? "recipe-why" : undefined, "data-copy-text": why || !text ? undefined : text.text }))),
    ),
  ];
}

/** @param {Text} text */
const code = (text) => h("code", {}, text.parts.flatMap(({ text: part, isAnswer }) => (isAnswer ? h("mark", {}, part) : part.split(/^(#.*)$/m).map((piece) => (piece.startsWith("#") ? h("span", { class: "remark" }, piece) : piece)))));

/** Why a text cannot be copied yet, or nothing. @param {Texts} texts @param {Text} text */
function unready(texts, text) {
  if (texts.awaitsLicence) return say("recipe.licence-first");
  return text.missing.length > 0 ? say("recipe.missing-first", { fields: text.missing.map((role) => say(`recipe.${role}`)) }) : "";
}

/** @param {Recipe} recipe */
function imageOf(recipe) {
  const from = recipe.from?.split("/")[0] ?? "";
  if (!recipe.seen) return h("span", {}, ...said("recipe.image-undated", { from }));
  const [year, month, day] = recipe.seen.split("-").map(Number);
  const date = new Intl.DateTimeFormat(locale, { year: "numeric", month: month ? "long" : undefined, day: day ? "numeric" : undefined, timeZone: "UTC" }).format(Date.UTC(year, (month || 1) - 1, day || 1));
  return h("span", {}, ...said("recipe.image", { from, date }));
}

/** What is known of a game whose server no text starts. @param {Recipe} recipe @param {Texts} texts */
function words(recipe, texts) {
  const lines = [...(texts.byHand.some((line) => "key" in line && line.key === "recipe.hand.image") ? [] : [{ key: "recipe.hand.image" }]), ...texts.byHand];
  return h("ul", { class: "card by-hand" }, lines.map((line) => h("li", {}, ...lineOf(line))), recipe.linuxgsm && h("li", {}, ...said("recipe.linuxgsm", { name: `${recipe.linuxgsm}server` })));
}

/** Open, Memory, Mind. @param {Recipe} recipe @param {Texts} texts */
function facts(recipe, texts) {
  const mind = texts.mind.length > 0 ? texts.mind : [{ key: "recipe.mind-none" }];
  return h("dl", { class: "particulars" }, [["recipe.open", inARow(texts.open)], ["recipe.memory", inARow(texts.memory)], ["recipe.mind", minded(mind)]].map(([key, line]) => h("div", {}, h("dt", {}, say(String(key))), h("dd", {}, ...(/** @type {Child[]} */ (line))))));
}

/** What to mind: the first sentence is what counts. @param {Line[]} lines @returns {Child[]} */
function minded([first, ...others]) {
  const [, sentence = "", rest = ""] = "text" in first ? (/^(.*?[.])(\s.*)?$/.exec(first.text) ?? []) : [];
  return [sentence ? h("span", { lang: "en" }, h("strong", {}, sentence), h("span", { class: "softer" }, rest)) : h("strong", {}, ...lineOf(first)), others.length > 0 && " ", ...inARow(others)];
}

/** @param {HTMLElement} el @param {Kept} own */
function listen(el, own) {
  el.addEventListener("input", ({ target }) => {
    if (!(target instanceof HTMLInputElement) || target.name === "at") return;
    if (target.name === "offer") own.offer = Number(target.value);
    else own.answers[target.name] = target.type === "checkbox" ? target.checked : target.value;
    if (target.name !== "offer") own.isCopied = false;
    draw(el, own);
  });
  el.addEventListener("click", ({ target }) => {
    const pressed = target instanceof Element && target.closest("button");
    if (!pressed) return;
    const tab = tabs.find((one) => one === pressed.dataset.tab);
    if (tab) own.tab = tab;
    else if (pressed.dataset.action === "copy") own.isCopied = true;
    else return;
    draw(el, own);
  });
  el.addEventListener("keydown", (event) => {
    const { target, key } = event;
    if (!(target instanceof HTMLElement) || target.getAttribute("role") !== "tab") return;
    const all = /** @type {HTMLElement[]} */ ([...el.querySelectorAll("[role=tab]")]);
    const along = getComputedStyle(el).direction === "rtl" ? -1 : 1;
    const to = { ArrowRight: all.indexOf(target) + along, ArrowLeft: all.indexOf(target) - along, Home: 0, End: all.length - 1 }[key];
    if (to === undefined) return;
    event.preventDefault();
    own.tab = /** @type {Tab} */ (all.at(to % all.length)?.dataset.tab);
    draw(el, own);
    /** @type {HTMLElement | null} */ (el.querySelector("[role=tab][aria-selected=true]"))?.focus();
  });
  el.addEventListener("submit", (event) => {
    event.preventDefault();
    const field = el.querySelector("input[name=at]");
    const address = field instanceof HTMLInputElement ? field.value.trim() : "";
    if (address) own.shown.paste(address);
  });
}
