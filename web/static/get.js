// Getting Muster: the host gives visitors its own program and builds for other systems. The
// downloaded file has the room in its name.

import { button, h } from "./dom.js";
import { language, said, say, tell, told } from "./say.js";

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
  const others = offer.programs.filter((program) => program !== mine);
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
    const isRefused = offer.refused?.some((program) => told(program.name) === told(offer.yours));
    if (isRefused) parts.push(...refused.splice(0));
    parts.push(h("p", { class: "quiet" }, offer.yours ? [isRefused ? "" : say("get.none-for", { system: offer.yours }), whatToDo(offer)].filter(Boolean).join(" ") : say("get.take")));
    parts.push(h("p", { class: "buttons" }, button("open", say("get.open-in-muster"))), ...outcome(opening));
  }
  parts.push(...refused);
  if (!offer.phone && !mine?.wrong) parts.push(...direct(offer));
  if (others.length > 0) {
    parts.push(
      h(
        "details",
        { class: "own", "data-key": "systems", open: !mine && !offer.phone },
        h("summary", {}, say("get.others")),
        h(
          "ul",
          { class: "systems" },
          others.map((program) => h("li", { "data-key": program.system }, get(program, told(program.name)), program.trouble ? h("span", { class: "trouble" }, tell(program.trouble)) : h("span", { class: "quiet" }, program.away ? said("get.about-released", { version: program.version ?? "" }) : about(program), " ", tell(program.advice)))),
        ),
        !mine && h("p", { class: "getting", "data-say": Boolean(getting?.file) }, progress(getting)),
      ),
    );
  }
  return parts.filter((part) => part instanceof HTMLElement);
}

/** What to do if there is no program. @param {Offer} offer */
function whatToDo(offer) {
  return say(offer.direct ? "get.from-project" : "get.lay-build");
}

/** A link to the project's own page, for people who prefer it. @param {Offer} offer */
function direct(offer) {
  if (offer.direct) return [h("p", { class: "quiet straight" }, said("get.direct", { file: h("a", { href: offer.direct, rel: "noreferrer" }, fileOf(offer.direct)) }))];
  return offer.release ? [h("p", { class: "quiet straight" }, said("get.direct-page", { page: (...held) => h("a", { href: offer.release, rel: "noreferrer" }, ...held) }))] : [];
}

/** @param {string} url */
function fileOf(url) {
  return url.slice(url.lastIndexOf("/") + 1);
}

/** @param {Opening} opening */
function outcome(opening) {
  return opening ? [h("p", { class: "getting", "data-say": true }, say(`get.opening.${opening}`))] : [];
}

/** The link that makes Muster join a room. @param {string} link the room's */
function musterLink(link) {
  const url = new URL(link);
  return `muster://join/${url.protocol.slice(0, -1)}/${url.host}/${url.hash.slice(1)}`;
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
  await new Promise((done) => setTimeout(done, openWait));
  removeEventListener("blur", leaves);
  return left || document.hidden;
}

/** @param {Program} program @param {string} label */
function get(program, label, kind = "") {
  return button("get", label, { class: kind || undefined, "data-system": program.system, "data-name": told(program.name) });
}

/** @param {Getting | null} getting */
function progress(getting) {
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
function about(program) {
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
  const url = URL.createObjectURL(new Blob(chunks, { type: "application/octet-stream" }));
  h("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), kept);
  return name;
}

/** How long the browser may take to start saving a file, ms. */
const kept = 60_000;
