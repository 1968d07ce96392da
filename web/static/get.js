// Getting Muster: the host gives visitors its own program and builds for other systems. The
// downloaded file has the room in its name.

import { button, h, saveFile } from "./dom.js";
import { language, said, say, tell, told } from "./say.js";
import { sleep } from "./time.js";

/** @typedef {import("./types.js").Sentence} Sentence */
/** @typedef {{system: string, name: Sentence, file: string, size: number, origin: "project" | "friend", version?: string, signature?: string, advice: Sentence, away?: boolean, got?: number, trouble?: Sentence, wrong?: boolean}} Program */
/** @typedef {{system: string, name: Sentence, why: Sentence}} Refusal a program that is given to nobody */
/** @typedef {{version: string, release?: string, yours?: Sentence, system?: string, phone?: boolean, direct?: string, programs: Program[], refused?: Refusal[]}} Offer */
/** @typedef {{name: string, bytes: number, file: string, fetched?: Program}} Getting what is on its way, here or first to the host, and the file once it is there */
/** @typedef {"" | "tried" | "opened" | "nothing"} Opening what came of opening the room in a Muster that is here already */

/** The programs for this visitor, or null if the host gives none. @returns {Promise<Offer | null>} */
export async function offered() {
  const reply = await fetch("/get/programs.json", { cache: "no-store" }).catch(() => null);
  return reply?.ok ? reply.json() : null;
}

/**
 * How to get Muster, for people who do not play yet.
 * @param {Offer | null} offer @param {Getting | null} getting
 * @param {Opening} opening
 * @returns {HTMLElement[]}
 */
export function getMuster(offer, getting, opening) {
  if (!offer) return [];
  const mine = offer.programs.find((program) => program.system === offer.system);
  const refused = (offer.refused ?? []).map(({ system, why }) => h("p", { class: "trouble", "data-key": system }, tell(why)));
  const parts = [];
  if (mine) {
    parts.push(h("p", { class: "quiet" }, say("get.open-it")));
    parts.push(h("p", { class: "buttons" }, get(mine, say("get.get-for", { system: mine.name }), "primary large"), button("open", say("get.open-in-muster"))), ...outcome(getting || mine.trouble ? "" : opening));
    parts.push(h("p", { id: "getting", class: "getting", "data-say": Boolean(getting?.file) }, progress(getting)));
    if (mine.trouble && !getting) parts.push(h("p", { class: "trouble" }, tell(mine.trouble)));
    else parts.push(h("p", { class: "quiet" }, about(mine)), h("p", { class: "quiet" }, tell(mine.advice), insecure()));
  } else if (offer.phone) {
    parts.push(h("p", { class: "quiet" }, say("get.on-computer")));
  } else {
    parts.push(...missing(offer));
    refused.length = 0;
    parts.push(h("p", { class: "buttons" }, button("open", say("get.open-in-muster"))), ...outcome(opening));
  }
  parts.push(...refused);
  if (!offer.phone) parts.push(...direct(offer));
  parts.push(...systems(offer, mine, getting));
  return parts.filter((part) => part instanceof HTMLElement);
}

/** Why there is no program for the visitor's system, and what to do. @param {Offer | null} offer @returns {HTMLElement[]} */
export function missing(offer) {
  if (!offer) return [];
  const refused = (offer.refused ?? []).map(({ system, why }) => h("p", { class: "trouble", "data-key": system }, tell(why)));
  const isRefused = offer.refused?.some((program) => told(program.name) === told(offer.yours));
  const text = offer.yours ? [isRefused ? "" : say("get.none-for", { system: offer.yours }), whatToDo(offer)].filter(Boolean).join(" ") : say("get.take");
  return [...refused, h("p", { class: "quiet" }, text)];
}

/** The programs for other systems, folded away. @param {Offer | null} offer @param {Program | undefined} mine @param {Getting | null} getting @returns {HTMLElement[]} */
export function systems(offer, mine, getting) {
  const others = offer?.programs.filter((program) => program !== mine) ?? [];
  if (!offer || others.length === 0) return [];
  const list = others.map((program) => h("li", { "data-key": program.system }, get(program, told(program.name)), program.trouble ? h("span", { class: "trouble" }, tell(program.trouble)) : h("span", { class: "quiet" }, program.away ? said("get.about-released", { version: program.version ?? "" }) : about(program), " ", tell(program.advice))));
  return [h("details", { class: "own", "data-key": "systems", open: !mine && !offer.phone }, h("summary", {}, say("get.others")), h("ul", { class: "systems" }, list), !mine && h("p", { class: "getting", "data-say": Boolean(getting?.file) }, progress(getting)))];
}

/** What to do if there is no program. @param {Offer} offer */
function whatToDo(offer) {
  return say(offer.direct ? "get.from-project" : "get.lay-build");
}

/** A link to the project's own page, for people who prefer it. @param {Offer | null} offer @returns {HTMLElement[]} */
export function direct(offer) {
  if (!offer || offer.programs.some((program) => program.system === offer.system && program.wrong)) return [];
  if (offer.direct) return [h("p", { class: "quiet straight" }, said("get.direct", { file: h("a", { href: offer.direct, rel: "noreferrer" }, fileOf(offer.direct)) }))];
  return offer.release ? [h("p", { class: "quiet straight" }, said("get.direct-page", { page: (...held) => h("a", { href: offer.release, rel: "noreferrer" }, ...held) }))] : [];
}

/** @param {string} url */
function fileOf(url) {
  return url.slice(url.lastIndexOf("/") + 1);
}

/** What came of opening the room in Muster. @param {Opening} opening */
export function outcome(opening) {
  return opening ? [h("p", { class: "getting", "data-say": true }, say(`get.opening.${opening}`))] : [];
}

/** The link that makes Muster join a room. @param {string} link the room's */
function musterLink(link) {
  const url = new URL(link);
  return `muster://join/${url.protocol.slice(0, -1)}/${url.host}/${url.hash.slice(1)}`;
}

const here = "muster is here";

/** Whether this browser has opened Muster before. */
export function isHere() {
  try {
    return localStorage.getItem(here) !== null;
  } catch {
    return false;
  }
}

/** Remembers whether a link opened Muster. @param {boolean} opened */
export function noteHere(opened) {
  try {
    if (opened) localStorage.setItem(here, "yes");
    else localStorage.removeItem(here);
  } catch {
    // a private window downloads it again
  }
}

/** How long a system may take to show that it opens something, ms. */
const openWait = 2000;

/**
 * Asks the system to open a room in Muster, and reports whether something seems to have happened: a
 * window or a question in front of the page. Browsers do not say whether a program handles such a
 * link. A frame never shows an error page instead.
 * @param {string} link @returns {Promise<boolean>}
 */
export async function openInMuster(link) {
  let left = false;
  const leaves = () => (left = true);
  addEventListener("blur", leaves);
  // The frame stays until the next try, because a busy computer may open the link late.
  document.querySelector("iframe.opens")?.remove();
  document.body.append(h("iframe", { src: musterLink(link), hidden: true, title: "Muster", class: "opens" }));
  await sleep(openWait);
  removeEventListener("blur", leaves);
  return left || document.hidden;
}

/** @param {Program} program @param {string} label */
function get(program, label, kind = "") {
  return button("get", label, { class: kind || undefined, "data-system": program.system, "data-name": told(program.name) });
}

/** How far a download is. @param {Getting | null} getting */
export function progress(getting) {
  if (!getting) return "";
  if (getting.file) return say("get.done");
  const { fetched } = getting;
  const { name: system } = getting;
  if (fetched && getting.bytes === 0) return say(fetched.size > 0 ? "get.fetching-of" : "get.fetching", { system, n: megabytes(fetched.got ?? 0), size: megabytes(fetched.size) });
  return say("get.getting", { system, n: megabytes(getting.bytes) });
}

/** @param {number} bytes */
function megabytes(bytes) {
  return Math.ceil(bytes / 1e6);
}

/** The program's origin, as far as the host knows. @param {Program} program */
export function about(program) {
  const known = { version: program.version ?? "", n: megabytes(program.size) };
  if (program.away) return said("get.about-away", known);
  if (program.origin === "friend") return said("get.about-friend", known);
  const about = said("get.about-project", known);
  return program.signature ? [...about, " ", button("signature", say("get.signature"), { class: "plain", "data-file": fileOf(program.signature) })] : about;
}

/** The browser's warning about downloads from insecure pages. */
function insecure() {
  return location.protocol === "https:" ? null : ` ${say("get.insecure")}`;
}

/**
 * Downloads a program that knows a room, or its signature, and lets the browser save it.
 * @param {string} file @param {string} link @param {(bytes: number) => void} got receives the number of bytes so far
 * @returns {Promise<string>} the file's name
 */
export async function download(file, link, got) {
  const reply = await fetch(`/get/${file}`, { method: "POST", headers: { "Content-Type": "text/plain", "Accept-Language": language }, body: link });
  if (!reply.ok || !reply.body) throw new Error((await reply.text()).trim().replace(/\.$/, ""));
  const chunks = [];
  let bytes = 0;
  for (const reader = reply.body.getReader(); ; ) {
    const { done, value } = await reader.read();
    if (done) break;
    chunks.push(value);
    got((bytes += value.length));
  }
  const name = /filename="?([^";]+)/.exec(reply.headers.get("Content-Disposition") ?? "")?.[1] ?? "muster";
  saveFile(new Blob(chunks, { type: "application/octet-stream" }), name);
  return name;
}
