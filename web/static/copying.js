// Copying links, commands and codes, and passing the room's link on.

import { byId } from "./dom.js";
import { say } from "./say.js";

/** @typedef {(text: string, bad?: boolean) => void} Tell */

/** The actions of the buttons here. @param {Tell} tellBriefly @returns {Record<string, (data: DOMStringMap, element: HTMLElement) => unknown>} */
export function actions(tellBriefly) {
  return {
    send: ({ copyText = "" }, element) => invite(copyText, element, tellBriefly, say("door.copied")),
    invite: ({ copyText = "" }, element) => invite(copyText, element, tellBriefly, say("lobby.link-copied")),
    "send-link": ({ copyText = "" }, element) => copy(copyText, element, tellBriefly, say("lobby.link-copied")),
    copy: ({ copy: id, copyText }, element) => copy(copyText ?? byId(id ?? "").textContent ?? "", element, tellBriefly, say("page.copied")),
  };
}

/** Passes the link to the system's share dialog, or copies it. @param {string} link @param {HTMLElement} element @param {Tell} tellBriefly @param {string} done */
async function invite(link, element, tellBriefly, done) {
  if (!navigator.share) return copy(link, element, tellBriefly, done);
  await navigator.share({ title: document.title, url: link }).catch(() => {}); // the person cancelled
}

/** Copies a text, also where browsers have no clipboard, on plain http. @param {string} text @param {HTMLElement} element @param {Tell} tellBriefly @param {string} done */
async function copy(text, element, tellBriefly, done) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    if (!copyOld(text, element)) return tellBriefly(say("page.not-copied"), true);
  }
  tellBriefly(done);
}

/** Copies without a clipboard, and returns whether it worked. @param {string} text @param {HTMLElement} element */
function copyOld(text, element) {
  const area = document.createElement("textarea");
  area.value = text;
  document.body.append(area);
  area.select();
  const went = document.execCommand("copy");
  area.remove();
  element.focus();
  return went;
}
