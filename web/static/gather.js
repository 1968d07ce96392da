// Before the start: how to get in, and what the organiser wants.

import { button, count, h } from "./dom.js";
import { lastName } from "./api.js";
import { getMuster } from "./get.js";
import { rules, saidOf } from "./rules.js";

/** @typedef {import("./types.js").State} State */
/** @typedef {import("./types.js").Field} Field */

/** @param {string} by */
export function ruleName(by) {
  return saidOf(by, "name");
}

/** Choosing a nickname. The organiser's program already has one. @param {State} state */
export function welcome(state) {
  const mine = state.you.organiser ? state.people.find((person) => person.organiser)?.name : undefined;
  return h(
    "form",
    { "data-submit": "enter", class: "welcome" },
    h("label", { for: "nickname" }, "Your nickname"),
    h("input", { id: "nickname", name: "name", value: lastName() || mine, maxlength: 32, required: true, autocomplete: "nickname", placeholder: "ann" }),
    h("button", { class: state.you.organiser ? "" : "primary" }, "Come in"), // another button is the gold one
    h("p", { class: "quiet" }, `Guests ${state.room.guests_vote ? "watch, and vote" : "watch"}. If you play, open the page by your own link, which muster join shows.`),
  );
}

/** What people can do about themselves. @param {State} state @param {string} credential @returns {HTMLElement[]} */
export function mine(state, credential) {
  const rename = h(
    "form",
    { "data-submit": "rename", class: "welcome" },
    h("label", { for: "new-name" }, "Another name"),
    h("input", { id: "new-name", name: "name", value: state.you.name, maxlength: 32, required: true, autocomplete: "off" }),
    h("button", {}, "Rename"),
  );
  const me = state.people.find((person) => person.peer && person.name === state.you.name);
  const has = me && h(
    "form",
    { "data-submit": "has", class: "welcome" },
    h("label", { for: "own-version" }, `Your version of ${gameName(state)}`),
    h("input", { id: "own-version", name: "version", value: me.version ?? "", maxlength: 64, autocomplete: "off", placeholder: "not said" }),
    h("button", {}, "Say it"),
    h("p", { class: "quiet" }, "Servers that do not let it in are told of, and left out."),
  );
  const where = me && (me.country || me.somewhere) && h("p", { class: "buttons" }, button("somewhere", me.somewhere ? "Show on the map which country I am in" : "Show me as somewhere, not in my country", { "data-somewhere": String(!me.somewhere) }));
  const own = h(
    "details",
    { class: "own", "data-key": "own" },
    h("summary", {}, "Your own link, for your other devices"),
    h("p", { class: "quiet" }, "For nobody else: whoever has it acts as you."),
    copyable("own-link", `${state.you.link}.${credential}`, "Copy your own link"),
  );
  const most = state.room.most_asked ? `Up to ${count(state.room.most_asked, "server")} of the list` : "All servers of the list";
  const asking = me?.peer && h("p", { class: "quiet", "data-key": "asking" }, `${most} will see your computer’s address; afterwards your program says how many did. `, h("code", {}, "muster join --discreet 50"), " bounds it.");
  const leave = h("p", { class: "buttons" }, button("leave", "Leave the room"));
  return [rename, has, where, asking, own, leave].filter((part) => part !== undefined && part !== "" && part !== false);
}

/** The organiser's switch for newcomers. @param {State} state @returns {import("./dom.js").Child[]} */
export function steering(state) {
  if (!state.you.organiser) return state.room.locked ? ["The room is locked."] : [];
  return [
    h(
      "p",
      { class: "buttons" },
      button("lock", state.room.locked ? "Locked: nobody new comes in" : "Lock the room", { "aria-pressed": String(state.room.locked) }),
      button("renew", "New organiser's link"),
      !state.room.ended && button("end", "End the night"),
    ),
  ];
}

/** How the next person gets in. @param {State} state @param {import("./app.js").View} view @returns {HTMLElement[]} */
export function invitation(state, view) {
  return view.tv || playsHere(state) ? invite(state, view) : playAlong(state, view);
}

/** How friends come in, for players and for the wall. @param {State} state @param {import("./app.js").View} view @returns {HTMLElement[]} */
function invite(state, view) {
  const ticket = [h("h2", {}, view.qr ? "Scan to come in" : "Come in"), ...(view.qr ? [h("p", { class: "qr" }, code(state, view))] : []), spell(state, view)];
  if (view.tv) return ticket;
  return [
    ...ticket,
    copyable("room-link", state.you.link, "Copy the link"),
    h("p", { class: "quiet" }, "Send friends this link: its page gives them Muster, too."),
    ...ownNetwork(state),
    h("details", { class: "own", "data-key": "line" }, h("summary", {}, "A line for a terminal"), h("p", { class: "quiet" }, "Who has Muster can paste it:"), copyable("join-line", `muster join ${state.you.link}`, "Copy the line")),
  ];
}

/** The room's code, for people who type it. @param {State} state @param {import("./app.js").View} view */
function spell(state, view) {
  const { code } = state.room;
  return h("div", { class: "spell" }, h("p", {}, view.qr ? "or open " : "Open ", h("strong", {}, new URL(state.you.link).host), " and type"), h("p", { class: "code", "--letters": code.length }, code));
}

/** @param {State} state @param {import("./app.js").View} view */
function code(state, view) {
  return h("img", { src: view.qr || undefined, alt: `QR code of ${state.you.link}`, width: 180, height: 180 });
}

/** Addresses in a private network, or behind a carrier's NAT. */
const ownAddress = /^(10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|169\.254\.|100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.|\[f[cde])/;

/** Tells an organiser whose link is local how friends elsewhere come in. @param {State} state */
function ownNetwork(state) {
  if (state.you.outside) return [h("p", { class: "quiet" }, "That is for friends on your network. Your router lets those on the internet in, by"), copyable("outside-link", state.you.outside, "Copy the link for the internet")];
  if (!state.you.organiser || !ownAddress.test(new URL(state.you.link).hostname)) return [];
  return [h("p", { class: "quiet" }, "It leads through your own network. For friends elsewhere start the room with --port-map (your router lets them in), --at URL (a public host) or --public-url URL (your tunnel), and send the link that it prints; Home does the first under “This computer”, and the second where you open a room.")];
}

/** For a person who only watches so far. @param {State} state @param {import("./app.js").View} view @returns {HTMLElement[]} */
function playAlong(state, view) {
  const name = state.you.name ? ` --name ${quoted(state.you.name)}` : "";
  const link = copyable("room-link", state.you.link, "Copy the link");
  const line = [
    h("p", { class: "quiet" }, "Paste this in a terminal on the computer you play on:"),
    copyable("join-line", `muster join ${state.you.join}${name}`, "Copy the line"),
    h("p", { class: "quiet" }, "In a browser, to watch:"),
    link,
  ];
  const programs = getMuster(view.offer, view.getting, view.opening);
  const folded = () => [h("details", { class: "own", "data-key": "line" }, h("summary", {}, "You have Muster already, or only want the link"), ...line)];
  const ways = view.offer?.phone ? [link] : programs.length > 0 ? folded() : line;
  return [h("h2", {}, "Play along"), ...programs, ...ways, forOthers(state, view)];
}

/** The width from which a large code fits next to the rest. */
const roomy = "(min-width: 48rem)";

/** How other people in the same place come in. @param {State} state @param {import("./app.js").View} view */
function forOthers(state, view) {
  const ways = [...(view.qr ? [code(state, view)] : []), spell(state, view)];
  if (matchMedia(roomy).matches) return h("div", { class: "qr", "data-key": "others" }, h("h2", {}, "Others scan this"), ...ways);
  return h("details", { class: "qr", "data-key": "qr" }, h("summary", {}, "For others"), ...ways);
}

/** Reports whether the person at the page plays: under their nickname, or as the organiser with their own program. @param {State} state */
export function playsHere(state) {
  const { name, organiser } = state.you;
  return state.people.some((person) => person.peer && (name ? person.name === name : organiser && person.organiser));
}

/** A name as one word for a shell. @param {string} name */
function quoted(name) {
  return /^[\w.-]+$/.test(name) ? name : `'${name.replaceAll("'", `'\\''`)}'`;
}

/** A text with a button that copies it. @param {string} id @param {string} text @param {string} label */
export function copyable(id, text, label) {
  return h("div", { class: "copyable" }, h("code", { id, tabindex: 0 }, text), button("copy", "Copy", { "data-copy": id, "aria-label": label }));
}

/** The organiser's settings, editable by the organiser. @param {State} state */
export function settings(state) {
  return (state.you.organiser ? form(state) : terms(state)).filter((part) => part !== null);
}

/** @param {State} state @returns {HTMLElement[]} */
function terms(state) {
  return [
    h("h2", {}, "What we look for"),
    h("dl", { class: "terms" }, state.form.filter((field) => !field.rare || state.room[field.key === "places" ? "candidates" : field.key]).map((field) => h("div", {}, h("dt", {}, field.label), h("dd", {}, h("bdi", {}, term(state, field)))))),
    own(state),
  ].filter((part) => part !== null);
}

/** What the group looks for, in a sentence. @param {State} state */
export function wish(state) {
  const { by, limits_ms: limits, map, mode } = state.room;
  const limit = limits.length > 0 ? `, nobody over ${limits.map((/** @type {number} */ ms) => `${ms} ms`).join(", or else ")}` : "";
  return `${saidOf(by, "wish")}${limit}, ${map ? `on ${map}` : "on any map"}${mode ? `, ${mode}` : ""}`;
}

/** A setting's value in words. @param {State} state @param {Field} field */
function term(state, field) {
  const value = state.room[field.key];
  switch (field.kind) {
    case "game":
      return gameName(state);
    case "rule":
      return ruleName(value);
    case "limits":
      return value.map((/** @type {number} */ ms) => `${ms} ms`).join(", then ") || field.unset;
    case "switch":
      return value ? field.set : field.unset;
    case "places":
      return (state.room.candidates ?? []).join(", ") || field.unset;
    case "time":
      return value ? `${value / perUnit(field)} ${field.unit}` : field.unset;
    case "decision":
      return decisions(field)[value === undefined ? 0 : value ? 1 : 2][1];
  }
  return String(value || field.unset);
}

/** The milliseconds in a field's unit. @param {Field} field */
function perUnit({ unit }) {
  return unit === "min" ? 60_000 : unit === "s" ? 1000 : 1;
}

/** The values of a decision: undecided, yes or no. @param {Field} field */
function decisions(field) {
  return [["", field.unset ?? ""], ["true", field.set ?? ""], ["false", field.declined ?? ""]];
}

/** @param {State} state */
export function gameName(state) {
  return state.games?.find((game) => game.id === state.room.game)?.name ?? state.room.game;
}

/** Why the servers of the room's game answer nobody, if they do not. @param {State} state */
export function silent(state) {
  const why = state.games?.find((game) => game.id === state.room.game)?.silent;
  return why && h("p", { class: "bad" }, why);
}

/** @param {State} state @returns {HTMLElement[]} */
function form(state) {
  return [h("h2", {}, "What we look for"), h("form", { "data-change": "settings", class: "settings" }, state.form.filter((field) => !field.rare).map((field) => input(state, field)), more(state)), own(state), unlisted(state)].filter((part) => part !== null);
}

/** Settings that few people need. @param {State} state */
function more(state) {
  const rare = state.form.filter((field) => field.rare);
  const isSet = rare.some((field) => field.key !== "every" && state.room[field.key === "places" ? "candidates" : field.key]);
  return rare.length > 0 && h("details", { class: "more", open: isSet, "data-key": "more" }, h("summary", {}, "More settings"), h("div", { class: "settings" }, rare.map((field) => input(state, field))));
}

/** What to do for a game that cannot be chosen. @param {State} state */
function unlisted(state) {
  if ((state.games ?? []).length < 2) return null;
  return h(
    "details",
    { class: "own", "data-key": "unlisted" },
    h("summary", {}, "A game that is not among these"),
    h("p", { class: "quiet" }, "Most of Steam's games, Minecraft and others have no list that everybody may ask. Open a room for them with servers of your own: ", h("code", {}, "muster host --game cs2"), " takes your favourites and history from Steam, or asks you to paste servers. With ", h("a", { href: "https://steamcommunity.com/dev/apikey", rel: "noreferrer", target: "_blank" }, "a key, which costs nothing,"), " for ", h("code", {}, "muster games --steam-key"), ", it takes all that Steam lists."),
  );
}

/** Says that the organiser brought the list. @param {State} state */
function own(state) {
  return state.room.own ? h("p", { class: "quiet" }, `On ${count(state.room.own, "server")} of the organiser's own list.`) : null;
}

/** The input for a setting; data-kind says how to parse it. @param {State} state @param {Field} field */
function input(state, field) {
  const value = state.room[field.key];
  const named = { id: field.key, name: field.key, "data-kind": field.kind, placeholder: field.unset };
  switch (field.kind) {
    case "game": {
      const games = [...(state.games ?? [])];
      if (!games.some((game) => game.id === value)) games.unshift({ id: value, name: gameName(state) }); // with a list of its own
      return games.length > 1 && labelled(field, select(named, games.map((game) => [game.id, game.name]), value));
    }
    case "rule":
      return labelled(field, select(named, rules.map(({ id }) => [id, saidOf(id, "name")]), value));
    case "limits":
      return labelled(field, h("input", { ...named, value: value.join(", "), inputmode: "numeric", pattern: "[0-9., ]*" }));
    case "time":
      return labelled(field, h("input", { ...named, type: "number", min: 0, step: "any", "data-per": perUnit(field), value: value ? value / perUnit(field) : "" }));
    case "number":
      return labelled(field, h("input", { ...named, type: "number", min: 0, max: 64, value: value || "" }));
    case "switch":
      return h("label", { class: "check" }, h("input", { ...named, type: "checkbox", checked: value }), `${field.label}: ${field.set}`);
    case "decision":
      return labelled(field, select(named, decisions(field), String(value ?? "")));
    case "places":
      return places(state, field, named);
  }
  if (field.kind === "link") return labelled(field, h("input", { ...named, value, maxlength: 300, placeholder: "mumble://… or https://discord.gg/…", inputmode: "url" }));
  if (field.kind === "webhook") return webhook(state, field, named);
  return labelled(field, h("input", { ...named, value, maxlength: 64 }));
}

/** Places for a server. The page does not know their addresses; a new list replaces the old one. @param {State} state @param {Field} field @param {Record<string, string | undefined>} named */
function places(state, field, named) {
  const now = state.room.candidates ?? [];
  return h(
    "div",
    { class: "field" },
    h("label", { for: field.key }, field.label),
    h("textarea", { ...named, rows: 3, maxlength: 3500, spellcheck: "false", autocomplete: "off", placeholder: "Frankfurt, 192.0.2.1\nLondon, 192.0.2.8:443, tcp" }),
    h("p", { class: "quiet" }, now.length > 0 ? [h("bdi", {}, now.join(", ")), ". Another list takes their place; none is none."] : "A line each: name, address. muster beacon answers there, or say tcp behind it."),
  );
}

/** Where the room announces itself. The page does not know the current URL, but accepts a new one. @param {State} state @param {Field} field @param {Record<string, string | undefined>} named */
function webhook(state, field, named) {
  const { posts } = state.room;
  const how = !posts ? "In Discord: Edit Channel, Integrations, Webhooks, Copy URL." : posts.trouble ? `${posts.trouble}.` : `It goes to ${posts.to}${posts.at ? `; the last one arrived at ${new Date(posts.at).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", hourCycle: "h23" })}` : ""}. Write “none” to end that.`;
  return h("div", { class: "field" }, h("label", { for: field.key }, field.label), h("input", { ...named, type: "password", autocomplete: "off", maxlength: 1024, placeholder: posts ? `${posts.to}: another URL` : "the webhook’s URL", "aria-describedby": "webhook-how" }), h("p", { id: "webhook-how", class: posts?.trouble ? "bad" : "quiet" }, how));
}

/** The prefixes of voice links, and their names. Other links are not shown, whatever the host says. */
const voices = [["mumble://", "Mumble"], ["ts3server://", "TeamSpeak"], ["teamspeak://", "TeamSpeak"], ["https://discord.gg/", "Discord"], ["https://discord.com/", "Discord"], ["https://meet.jit.si/", "Jitsi"], ["https://call.element.io/", "Element"], ["https://meet.google.com/", "Google Meet"], ["https://s.team/", "Steam"]];

/** The link to the group's voice channel. @param {State} state */
export function voice(state) {
  const link = state.room.voice ?? "";
  const name = voices.find(([begins]) => link.startsWith(begins))?.[1];
  return name && h("p", { class: "voice", "data-key": "voice" }, h("a", { class: "button", href: link, rel: "noopener noreferrer", target: link.startsWith("https:") ? "_blank" : undefined }, `Voice: ${name}`));
}

/** @param {Field} field @param {HTMLElement} input */
function labelled(field, input) {
  return h("div", { class: "field" }, h("label", { for: field.key }, field.label), input);
}

/** @param {Record<string, string | undefined>} named @param {string[][]} options @param {string} chosen */
function select(named, options, chosen) {
  return h("select", named, options.map(([value, name]) => h("option", { value, selected: value === chosen }, name)));
}

/** When the group meets, in the reader's time zone unless the text names another. @param {string} text */
function inZone(text) {
  return text.split(/\s+/).length === 2 ? `${text} ${Intl.DateTimeFormat().resolvedOptions().timeZone}` : text;
}

/** The settings from a form. @param {HTMLFormElement} form */
export function settingsOf(form) {
  /** @type {Record<string, unknown>} */
  const settings = {};
  for (const input of /** @type {Iterable<HTMLInputElement>} */ (form.elements)) {
    const text = input.value.trim();
    switch (input.dataset.kind) {
      case "limits":
        settings[input.name] = text.split(/[\s,]+/).filter(Boolean).map(Number);
        break;
      case "time":
        settings[input.name] = Number(text || 0) * Number(input.dataset.per);
        break;
      case "number":
        settings[input.name] = Number(text || 0);
        break;
      case "switch":
        settings[input.name] = input.checked;
        break;
      case "decision":
        settings[input.name] = text === "" ? null : text === "true";
        break;
      case "places":
        if (text !== "") settings[input.name] = text; // otherwise it stays as it is
        break;
      case "webhook":
        if (text !== "") settings[input.name] = text.toLowerCase() === "none" ? "" : text;
        break;
      case undefined:
        break;
      case "text":
      case "link":
      case "game":
      case "rule":
        settings[input.name] = input.name === "every" ? inZone(text) : text;
    }
  }
  return settings;
}
