// Who has machines at a place.

import { h } from "../dom.js";
import { said } from "../say.js";

/** The provider whose machine was measured, and how many others there are. @param {import("../types.js").Candidate | undefined} place @returns {import("../dom.js").Child[]} */
export function offersOf(place) {
  const [first, ...others] = place?.offers ?? [];
  return first ? said("place.offers", { provider: h("bdi", { dir: "auto" }, first.provider), n: others.length }) : [];
}
