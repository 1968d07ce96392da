// Trying another rule or limit, visible to everyone.

import { button, h } from "../dom.js";
import { givenUp, serverName, targetOf } from "../choice.js";
import { settable } from "../form.js";
import { ruleName } from "../gather.js";
import { saidOf } from "../rules.js";
import { hasSay } from "../people.js";
import { millis, said, say } from "../say.js";

/** @typedef {import("../types.js").State} State */
/** @typedef {import("../types.js").Choice} Choice */

/** @param {State} state */
function mayTry(state) {
  return Boolean(state.you.organiser || (state.you.name && hasSay(state, state.you)));
}

/** The form for another rule or limit, visible to everyone. @param {State} state */
export function whatIf(state) {
  if (!state.choice) return [];
  const { selection } = state.whatif ?? state.choice;
  const may = mayTry(state);
  return [
    h(
      "form",
      { "data-change": "whatif", class: "whatif" },
      h("fieldset", { disabled: !may }, h("legend", { class: "quiet" }, say(may ? "whatif.try" : "whatif.players-try")),
        settable("whatif").map((field) => {
          if (field.type === "rule") return h("div", { class: "rules" }, (field.choices ?? []).map((id) => radio(id, saidOf(id, "name"), saidOf(id, "hint"), selection.by)));
          return field.type === "limits" && limitField(state);
        }),
      ),
    ),
    state.whatif && outcome(state, state.whatif),
  ];
}

/** @param {string} id @param {string} name @param {string} hint @param {string} chosen */
function radio(id, name, hint, chosen) {
  return h("label", { class: "rule", title: hint }, h("input", { type: "radio", name: "by", "data-type": "rule", value: id, checked: id === chosen }), h("span", {}, name));
}

/** @param {State} state */
function limitField(state) {
  const limit = (state.whatif ?? state.choice)?.selection.limit_ms ?? state.room.limits_ms.at(-1) ?? 0;
  return h(
    "div",
    { class: "field" },
    h("label", { for: "whatif-limit" }, say("whatif.nobody-over")),
    h("input", { id: "whatif-limit", name: "limits_ms", "data-type": "limits", type: "range", min: 0, max: 300, step: 5, value: limit }),
    h("output", { for: "whatif-limit" }, limitText(limit)),
  );
}

/** @param {number} ms 0 for none */
function limitText(ms) {
  return ms > 0 ? millis(ms) : say("whatif.no-limit");
}

/** Shows the slider's value while it moves. @param {HTMLInputElement} slider */
export function showLimit(slider) {
  const output = slider.parentElement?.querySelector("output");
  if (output) output.textContent = limitText(Number(slider.value));
}

/** The server that other criteria would choose. @param {State} state @param {Choice} other */
function outcome(state, other) {
  const now = state.choice && targetOf(state.choice);
  const then = other.selection.chosen;
  const tried = { player: other.player ?? "", rule: ruleName(other.selection.by) };
  const words = then ? said(now?.addr === then.addr ? "whatif.tries-same" : "whatif.tries", {
    ...tried,
    server: h("strong", {}, h("bdi", {}, serverName(other, then.addr))),
    figures: { key: then.extra_ms ? "whatif.figures-given-up" : "whatif.figures", with: { average: millis(then.mean_ms), worst: millis(then.max_ms), given: givenUp(then) } },
    average: now ? millis(now.mean_ms) : say("whatif.none"),
    worst: now ? millis(now.max_ms) : say("whatif.none"),
  }) : said("whatif.tries-nothing", tried);
  return h(
    "div",
    { class: "outcome", "data-say": true },
    h("p", {}, ...words),
    h(
      "p",
      { class: "buttons" },
      state.you.organiser && button("apply", say("whatif.apply"), { class: "primary", disabled: !then }),
      mayTry(state) && button("forget-whatif", say("whatif.forget")),
    ),
  );
}
