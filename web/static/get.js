// Getting Muster: the host gives its own program, and others' builds, to whoever sits
// in front of the page. What arrives has the room in its name.

import { button, h } from "./dom.js";

/** @typedef {{system: string, name: string, file: string, size: number, origin: "project" | "friend", advice: string}} Program */
/** @typedef {{version: string, release?: string, yours: string, system?: string, phone?: boolean, programs: Program[]}} Offer */
/** @typedef {{name: string, bytes: number, file: string}} Getting what is on its way, and the file once it is there */

/** What there is for this visitor, or null if the host gives nothing. @returns {Promise<Offer | null>} */
export async function offered() {
  const reply = await fetch("/get/programs.json", { cache: "no-store" }).catch(() => null);
  return reply?.ok ? reply.json() : null;
}

/**
 * How to get Muster, for who does not play yet.
 * @param {Offer | null} offer @param {Getting | null} getting
 * @param {"" | "tried" | "nothing"} opening what came of "Open in Muster"
 * @returns {HTMLElement[]}
 */
export function getMuster(offer, getting, opening) {
  if (!offer) return [];
  const mine = offer.programs.find((program) => program.system === offer.system);
  const others = offer.programs.filter((program) => program !== mine);
  const parts = [];
  if (mine) {
    parts.push(h("p", { class: "quiet" }, "Get the program, and open it: it knows this room."));
    parts.push(h("p", { class: "buttons" }, get(mine, `Get Muster for ${mine.name}`, "primary large"), button("open", "Open in Muster")));
    if (opening === "nothing") parts.push(h("p", { class: "getting", role: "status" }, nothingOpened));
    parts.push(h("p", { id: "getting", class: "getting", role: "status" }, progress(getting)));
    parts.push(h("p", { class: "quiet" }, about(offer, mine)), h("p", { class: "quiet" }, mine.advice, insecure()));
  } else if (offer.phone) {
    parts.push(h("p", { class: "quiet" }, "Open this room on the computer that you play on: send yourself the link below."));
  } else {
    parts.push(h("p", { class: "quiet" }, offer.yours ? `This host has no program for ${offer.yours}.` : "Take the program for your system.", release(offer)));
    parts.push(h("p", { class: "buttons" }, button("open", "Open in Muster")));
    if (opening === "nothing") parts.push(h("p", { class: "getting", role: "status" }, nothingOpened));
  }
  if (others.length > 0) {
    parts.push(
      h(
        "details",
        { class: "own", "data-key": "systems", open: !mine && !offer.phone },
        h("summary", {}, "For another computer"),
        h("ul", { class: "systems" }, others.map((program) => h("li", { "data-key": program.system }, get(program, program.name), h("span", { class: "quiet" }, `${about(offer, program)} ${program.advice}`)))),
        !mine && h("p", { class: "getting", role: "status" }, progress(getting)),
      ),
    );
  }
  return parts;
}

const nothingOpened = "Nothing opened? Then Muster is not on this computer yet, or links do not lead to it.";

/** The link that has Muster join a room. @param {string} link the room's */
function musterLink(link) {
  const url = new URL(link);
  return `muster://join/${url.protocol.slice(0, -1)}/${url.host}/${url.hash.slice(1)}`;
}

/** How long a system may take to show that it opens something, ms. */
const openWait = 1500;

/**
 * Has the system open a room in Muster, and tells whether something seems to have come
 * of it: a window or a question in front of the page. Browsers do not say whether there
 * is anybody for such a link; in a frame, none of them shows an error page in its place.
 * @param {string} link @returns {Promise<boolean>}
 */
export async function openInMuster(link) {
  let left = false;
  const leaves = () => (left = true);
  addEventListener("blur", leaves);
  const frame = h("iframe", { src: musterLink(link), hidden: true, title: "Muster" });
  document.body.append(frame);
  await new Promise((done) => setTimeout(done, openWait));
  frame.remove();
  removeEventListener("blur", leaves);
  return left || document.hidden;
}

/** @param {Program} program @param {string} label */
function get(program, label, kind = "") {
  return button("get", label, { class: kind || undefined, "data-system": program.system, "data-name": program.name });
}

/** @param {Getting | null} getting */
function progress(getting) {
  if (!getting) return "";
  if (getting.file) return "It is among your downloads: open it, and you are in.";
  return `Getting Muster for ${getting.name} … ${megabytes(getting.bytes)} MB`;
}

/** @param {number} bytes */
function megabytes(bytes) {
  return Math.ceil(bytes / 1e6);
}

/** Whose it is, as far as the host can tell. @param {Offer} offer @param {Program} program */
function about(offer, program) {
  return `Muster ${offer.version}, ${megabytes(program.size)} MB, ${program.origin === "project" ? "the project's own." : "your friend's copy."}`;
}

/** What browsers say of downloads from pages like this one. */
function insecure() {
  return location.protocol === "https:" ? null : " Your browser may warn you of the download, as this page comes without encryption: choose “Keep”.";
}

/** @param {Offer} offer */
function release(offer) {
  return offer.release ? h("span", {}, " It is among ", h("a", { href: offer.release }, "the project's releases"), ".") : null;
}

/**
 * Gets a program that knows a room, and has the browser keep it.
 * @param {string} system @param {string} link @param {(bytes: number) => void} got hears how much has come
 * @returns {Promise<string>} what the file is called
 */
export async function download(system, link, got) {
  const reply = await fetch(`/get/${system}`, { method: "POST", headers: { "Content-Type": "text/plain" }, body: link });
  if (!reply.ok || !reply.body) throw new Error((await reply.text()).trim());
  const chunks = [];
  let bytes = 0;
  for (const reader = reply.body.getReader(); ; ) {
    const { done, value } = await reader.read();
    if (done) break;
    chunks.push(value);
    got((bytes += value.length));
  }
  const name = /filename="?([^";]+)/.exec(reply.headers.get("Content-Disposition") ?? "")?.[1] ?? "muster";
  const url = URL.createObjectURL(new Blob(chunks, { type: "application/octet-stream" }));
  h("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), kept);
  return name;
}

/** For how long the browser may take to begin keeping a file, ms. */
const kept = 60_000;
