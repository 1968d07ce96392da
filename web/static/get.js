// Getting Muster: the host gives visitors its own program and builds for other systems. The
// downloaded file has the room in its name.

import { button, h } from "./dom.js";

/** @typedef {{system: string, name: string, file: string, size: number, origin: "project" | "friend", version?: string, signature?: string, advice: string, away?: boolean, got?: number, trouble?: string, wrong?: boolean}} Program */
/** @typedef {{system: string, name: string, why: string}} Refusal a program that is given to nobody */
/** @typedef {{version: string, release?: string, yours: string, system?: string, phone?: boolean, direct?: string, programs: Program[], refused?: Refusal[]}} Offer */
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
  const refused = (offer.refused ?? []).map(({ system, why }) => h("p", { class: "trouble", "data-key": system }, why));
  const parts = [];
  if (mine) {
    parts.push(h("p", { class: "quiet" }, "Get the program, and open it: it knows this room."));
    parts.push(h("p", { class: "buttons" }, get(mine, `Get Muster for ${mine.name}`, "primary large"), button("open", "Open in Muster")), ...outcome(getting || mine.trouble ? "" : opening));
    parts.push(h("p", { id: "getting", class: "getting", "data-say": Boolean(getting?.file) }, progress(getting)));
    if (mine.trouble && !getting) parts.push(h("p", { class: "trouble" }, mine.trouble));
    else parts.push(h("p", { class: "quiet" }, about(mine)), h("p", { class: "quiet" }, mine.advice, insecure()));
  } else if (offer.phone) {
    parts.push(h("p", { class: "quiet" }, "Open this room on the computer that you play on: send yourself its link."));
  } else {
    const isRefused = offer.refused?.some((program) => program.name === offer.yours);
    if (isRefused) parts.push(...refused.splice(0));
    parts.push(h("p", { class: "quiet" }, offer.yours ? `${isRefused ? "" : `This host has no program for ${offer.yours}. `}${whatToDo(offer)}` : "Take the program for your system."));
    parts.push(h("p", { class: "buttons" }, button("open", "Open in Muster")), ...outcome(opening));
  }
  parts.push(...refused);
  if (!offer.phone && !mine?.wrong) parts.push(...direct(offer));
  if (others.length > 0) {
    parts.push(
      h(
        "details",
        { class: "own", "data-key": "systems", open: !mine && !offer.phone },
        h("summary", {}, "For another computer"),
        h(
          "ul",
          { class: "systems" },
          others.map((program) => h("li", { "data-key": program.system }, get(program, program.name), program.trouble ? h("span", { class: "trouble" }, program.trouble) : h("span", { class: "quiet" }, program.away ? `Muster ${program.version}, the project's own.` : about(program), ` ${program.advice}`))),
        ),
        !mine && h("p", { class: "getting", "data-say": Boolean(getting?.file) }, progress(getting)),
      ),
    );
  }
  return parts.filter((part) => part instanceof HTMLElement);
}

/** What to do if there is no program. @param {Offer} offer */
function whatToDo(offer) {
  return offer.direct ? "Take it from the project's page, and come back to open the room in it." : "Whoever runs this host can lay a build for it into a folder, and start with --downloads FOLDER.";
}

/** A link to the project's own page, for people who prefer it. @param {Offer} offer */
function direct(offer) {
  if (offer.direct) return [h("p", { class: "quiet straight" }, "Or from the project's own page: ", h("a", { href: offer.direct, rel: "noreferrer" }, fileOf(offer.direct)), ". It does not know this room: press “Open in Muster” then.")];
  return offer.release ? [h("p", { class: "quiet straight" }, "Or from ", h("a", { href: offer.release, rel: "noreferrer" }, "the project's own page"), ".")] : [];
}

/** @param {string} url */
function fileOf(url) {
  return url.slice(url.lastIndexOf("/") + 1);
}

/** @param {Opening} opening */
function outcome(opening) {
  const said = { "": "", tried: "Looking whether Muster is here already …", opened: "Muster opens, or your browser asks whether it may. Nothing there? Then get it here.", nothing: "Nothing opened? Then Muster is not on this computer yet, or links do not lead to it." }[opening];
  return said ? [h("p", { class: "getting", "data-say": true }, said)] : [];
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
  return button("get", label, { class: kind || undefined, "data-system": program.system, "data-name": program.name });
}

/** @param {Getting | null} getting */
function progress(getting) {
  if (!getting) return "";
  if (getting.file) return "It is among your downloads: open it, and you are in.";
  const { fetched } = getting;
  if (fetched && getting.bytes === 0) return `This host gets Muster for ${getting.name} from the project's releases first … ${megabytes(fetched.got ?? 0)}${fetched.size > 0 ? ` of ${megabytes(fetched.size)}` : ""} MB`;
  return `Getting Muster for ${getting.name} … ${megabytes(getting.bytes)} MB`;
}

/** @param {number} bytes */
function megabytes(bytes) {
  return Math.ceil(bytes / 1e6);
}

/** The program's origin, as far as the host knows. @param {Program} program */
function about(program) {
  const version = program.version ? `Muster ${program.version}` : "Muster";
  if (program.away) return [`${version}, the project's own: this host gets it from the project's releases first, and checks the signature.`];
  const of = `${version}, ${megabytes(program.size)} MB, `;
  if (program.origin === "friend") return [`${of}your friend's copy: nobody vouches for it.`];
  if (!program.signature) return [`${of}the project's own.`];
  return [`${of}the project's own. `, button("signature", "Its signature", { class: "plain", "data-file": fileOf(program.signature) })];
}

/** The browser's warning about downloads from insecure pages. */
function insecure() {
  return location.protocol === "https:" ? null : " Your browser may warn you of the download, as this page comes without encryption: choose “Keep”.";
}

/**
 * Downloads a program that knows a room, or its signature, and lets the browser save it.
 * @param {string} file @param {string} link @param {(bytes: number) => void} got receives the number of bytes so far
 * @returns {Promise<string>} the file's name
 */
export async function download(file, link, got) {
  const reply = await fetch(`/get/${file}`, { method: "POST", headers: { "Content-Type": "text/plain" }, body: link });
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
