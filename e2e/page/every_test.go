package page_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// phased is a script's function that adds the phase to news of a room's stage or its vote, as the host
// tells it.
const phased = `
	const phased = (news, before = {}) => {
		if (!news.room && !news.agreement) return news;
		const { room, agreement, match } = { ...before, ...news };
		const left = Date.parse(agreement?.launch_at) - musterTime.now();
		const chosen = left > 5500 ? "reveal" : left >= 0 ? "countdown" : match ? "banning" : agreement?.open ? "voting" : "verifying";
		return { phase: { name: { refining: "coordinating", chosen }[room.stage] ?? room.stage, since_ms: 0 }, ...news };
	};
`

// crowded is a script that puts a room of people with strange names on the page, at any stage.
const crowded = phased + `
	const names = %s, countries = ["NL", "US", "MY", "US", "DE", "BR", "JP", "ZA", "AU", "GB", "SE", "FR", "IN", "CL", "PL", "KR"];
	const people = names.map((name, arrival) => ({ name, arrival, organiser: arrival === 0, peer: true, connected: true, page: true, probed: 300, answered: 280, done: true, able: arrival %% 3 !== 1, country: arrival === 15 ? undefined : countries[arrival], somewhere: arrival === 15 || undefined }));
	const called = ["pro-g InstaGib [CA] #1483", "<b>TFC</b> " + "W".repeat(60), "\u202eesrever\u202c مرحبا بالعالم", "NGZ \u200b InstaGib 😀 Z͑ͫ̓ͪ̂ͫ̽͏̴̙", "Clanbase CTF"];
	const addresses = called.map((_, i) => "192.0.2." + (7 + i) + ":27960");
	const pings = (i) => Object.fromEntries(names.map((name, p) => [name, 9 + (p * 83 + i * 7) %% 241]));
	const ranking = addresses.map((addr, i) => {
		const rtt_ms = pings(i), all = Object.values(rtt_ms), mean_ms = all.reduce((a, b) => a + b, 0) / all.length;
		return { addr, score: mean_ms, mean_ms, figure_ms: mean_ms, max_ms: Math.max(...all), stdev_ms: 60, rtt_ms };
	});
	const servers = Object.fromEntries(addresses.map((addr, i) => [addr, { name: called[i], country: ["CA", "NL", "DE", "FR", "US"][i], map: "q3dm7", players: 3, max_players: 24 }]));
	const choice = { selection: { by: "mean", players: names, chosen: ranking[0], ranking, culled: {} }, explain: [{ key: "plain", with: { text: "It has the lowest average." } }], servers, target: addresses[0], decided: { by: "vote", measure: "average", ms: 97 } };
	const miss = { addr: addresses[1], limit_ms: 150, rtt_ms: { ...pings(1), ...(names.length < 3 && { [names[1]]: 198 }) } };
	const live = muster.live;
	window.rounds = (window.rounds ?? 0) + 1; // each has its own reveal
	const room = (stage, more) => ({ ...live.state.room, ended: undefined, search: undefined, stage, round: window.rounds, listed: 2000, by: "threshold", limits_ms: [150], ...more });
	const me = names[%d], you = { ...live.state.you, name: me, organiser: me !== undefined };
	const standing = { round: window.rounds, answered: 1204, leaders: ranking.slice(0, 3).map((one, id) => ({ ...servers[one.addr], ...one, id, complete: id < 2 })), places: ["US", "DE", "NL", "FR", "BR", "JP", "AU", "CA"].map((country, i) => ({ country, listed: 300 - 20 * i, answered: 200 - 20 * i, open: 12 - i })) };
	const choices = ["average", "fairest", "kindest", "ours"].map((kind, i) => ({ addr: addresses[i], kind, gain_ms: [97, 116, 182][i], payer: names[[names.length - 1, 3, 1, 2][i] %% names.length], cost_ms: 54 + 40 * i }));
	const open = { open: true, vetoes: [], ballot: addresses, rule: { key: "vote.most-votes" }, choices };
	const inTime = (ms) => new Date(musterTime.now() + ms).toISOString(), voted = people.map((p, i) => ({ ...p, vote: addresses[i %% 4 && i %% 3], ready: i %% 2 === 1, vetoed: i === 2 }));
	const how = ["launched", "by-hand", "asking", "failed", "", "declined"], round = (n) => ({ round: n, at: "2026-01-02T20:1" + n + ":00Z", game: "openarena", server: called[n], connect: addresses[n], country: ["US", "CA", "NL", "DE", "FR"][n], map: "q3dm7", mean_ms: 97, max_ms: 247, players: names, rtt_ms: pings(n), voted: ["zoe", "max"] });
	const guests = ["zoe", "max"].map((name, i) => ({ name, arrival: names.length + i, peer: false, guest: true, page: true }));
	const sideNames = ["Nightjars", "<i>Tin Foxes</i> WWWWWWW"], half = Math.ceil(names.length / 2);
	const camps = ["a", "b"].map((side, i) => { const players = names.filter((_, p) => (p < half) === (i === 0)); return { side, name: names.length > 4 || i === 0 ? sideNames[i] : "", captain: players[0], players }; });
	const finalists = addresses.map((addr, i) => ({ addr, ...servers[addr], means_ms: [92 + 7 * i, [94, 92, 99, 0, 98][i]] }));
	const move = (number, kind, of, side, what, by = camps[side === "a" ? 0 : 1].captain) => ({ number, kind, of, side, by, what, at: inTime(-1e3) });
	const bans = [move(1, "ban", "server", "a", addresses[2]), move(2, "ban", "server", "b", addresses[3], "")];
	const gone = (moves) => (one) => ({ ...one, gone: moves.find(({ kind, what }) => kind === "ban" && what === (one.addr ?? one.name))?.number, picked: moves.find(({ kind, of, what }) => of === "map" && kind === "pick" && what === one.name)?.number });
	const pool = ["dm6", "dm17", "ztn", "pro-q3tourney4-" + "W".repeat(40), "<b>ctf</b>", "長い名前のとても長いマップ", "de_dust2"];
	const mapMoves = [...bans, move(3, "ban", "server", "a", addresses[1]), move(4, "pick", "server", "b", addresses[0]), move(5, "ban", "map", "b", pool[3]), move(6, "ban", "map", "a", pool[5], ""), move(7, "pick", "map", "b", pool[0]), move(8, "pick", "map", "a", pool[4])];
	const sided = people.map((p, i) => ({ ...p, side: i < half ? "a" : "b" }));
	const turnOf = (more) => ({ number: 3, kind: "ban", of: "server", side: "a", captain: camps[0].captain, nth: 3, total: 4, until: inTime(17e3), ...more });
	const match = { best_of: 1, camps, moves: [], servers: [], maps: [] };
	const banning = { ...match, moves: bans, servers: finalists.map(gone(bans)), turn: turnOf() };
	const mapping = { ...match, best_of: 5, moves: mapMoves, servers: finalists.map(gone(mapMoves)), maps: pool.map((name) => gone(mapMoves)({ name })), server: addresses[0], turn: turnOf({ number: 9, of: "map", kind: "pick", side: "b", captain: camps[1].captain, nth: 3, total: 4, until: inTime(4e3) }) };
	const own = Object.fromEntries(addresses.map((addr, i) => [addr, 41 + 9 * i]));
	const decided = { ...mapping, turn: undefined, decided: true, even: Object.fromEntries(names.map((name, i) => [name, { sides_ms: 2 * (i %% 2), all_ms: 9 * i }])), play: [pool[0], pool[4], pool[1], pool[2], pool[6]] };
	const openTo = (n) => ({ ...choice, decided: undefined, selection: { ...choice.selection, chosen: ranking[n], ranking: ranking.map((one, i) => (i === n ? one : { addr: one.addr, rtt_ms: {} })) } });
	const inMatch = (stage, more) => room(stage, { match: "bo1", turn_ms: 30000, order: "ban ban ban ban", ...more });
	const stages = {
		ban: { choice, agreement: { ...open, choices: [] }, room: inMatch("chosen"), people: sided, match: banning, own, you: { ...you, name: you.name && camps[0].captain } },
		sides: { room: inMatch("gathering", { match: "bo3" }), people: [...sided, { name: "caster", arrival: names.length, peer: true, connected: true, page: true }], match: { ...match, best_of: 3, maps: pool.map((name) => ({ name })) } },
		matchsearch: { room: inMatch("measuring", { search: { rounds: 2 } }), people: sided, match: { ...match, camps: camps.map((camp, i) => ({ ...camp, asks: i === 1 })) }, standing: { ...standing, leaders: standing.leaders.map((leader, i) => ({ ...servers[addresses[i]], id: i, complete: i < 2, rtt_ms: {}, mean_ms: 0, figure_ms: 0, max_ms: 0, stdev_ms: 0, means_ms: i < 2 ? [92 + i, 94 - i] : undefined })) }, own: { 0: 41, 1: 187 } },
		matchreveal: { choice: openTo(0), agreement: { ...open, open: false, choices: [], launch_at: inTime(60e3) }, room: inMatch("chosen"), people: sided, match: decided, own },
		matchcountdown: { choice: openTo(0), agreement: { ...open, open: false, choices: [], launch_at: inTime(4e3) }, room: inMatch("chosen"), people: sided, match: decided, own },
		matchgo: { choice: openTo(0), way: { connect: addresses[0], server: called[0], link: "steam://connect/" + addresses[0] }, room: inMatch("launching"), people: sided.map((p, i) => ({ ...p, launch: how[i %% how.length] })), match: decided },
		watchban: { choice, agreement: { ...open, choices: [] }, room: inMatch("chosen"), people: sided, match: banning },
		mapban: { choice, agreement: { ...open, choices: [] }, room: inMatch("chosen", { match: "bo5" }), people: sided, match: mapping, you: { ...you, name: you.name && camps[1].captain } },
		lobby: { room: room("gathering") },
		search: { room: room("measuring", { search: { gain_ms: 6 } }), standing },
		reveal: { choice, agreement: { ...open, launch_at: inTime(60e3) }, room: room("chosen") },
		vote: { choice: { ...choice, advice: [{ action: "more", argument: { servers: 200 } }] }, agreement: open, room: room("chosen"), people: voted },
		vetoed: { choice, agreement: { ...open, ballot: addresses.filter((_, i) => i !== 1), numbers: [1, 3, 4, 5], choices: choices.map((one, i) => (i === 1 ? { addr: one.addr, kind: "also", gone: true, name: called[1], by: names.at(-1) } : one)) }, room: room("chosen"), people: voted.map((p) => ({ ...p, vote: p.vote === addresses[1] ? undefined : p.vote })) },
		countdown: { choice, agreement: { ...open, launch_at: inTime(4e3) }, room: room("chosen"), people: people.map((p, i) => ({ ...p, vote: addresses[0], ready: true })) },
		go: { choice, way: { connect: addresses[0], server: called[0], link: "steam://connect/" + addresses[0] }, room: room("launching"), people: people.map((p, i) => ({ ...p, launch: how[i %% how.length] })) },
		ownfailed: { choice, way: { connect: addresses[0], server: called[0], link: "steam://connect/" + addresses[0] }, room: room("launching"), people: people.map((p, i) => ({ ...p, launch: p.name === you.name ? "failed" : "launched", detail: { key: "plain", with: { text: "openarena: not found in PATH, nor under /usr/games, /opt or where Steam keeps its games" } } })) },
		failed: { choice: { ...choice, target: undefined, explain: [{ key: "why.nothing" }, { key: "plain", with: { text: "1,400 are over 150 ms for somebody." } }], selection: { ...choice.selection, chosen: null, ranking: [], culled: { over_threshold: 1400, unmeasured: 588 } }, miss, advice: [{ action: "allow", argument: { limit_ms: Math.max(...Object.values(miss.rtt_ms)) }, servers: 4, addr: addresses[0] }, ...names.slice(-2).map((name) => ({ action: "without", argument: { name }, servers: 611, addr: addresses[1] }))] }, room: room("failed") },
		seats: { room: room("waiting"), seats: { need: names.length, began: inTime(-300e3), until: inTime(1500e3), by: names[0], servers: addresses.slice(0, 2).map((addr, i) => ({ ...servers[addr], addr, mean_ms: 97 + i, max_ms: 247, rtt_ms: pings(i), free: 3 - 3 * i, asked: 12, most: 3, from: 0, to: 1, at: inTime(-4e3), next: inTime(7e3) })), instead: [{ ...servers[addresses[2]], addr: addresses[2], mean_ms: 140, max_ms: 247, rtt_ms: pings(2), free: 14 }] } },
		closing: { way: { connect: addresses[0], server: called[0], link: "steam://connect/" + addresses[0] }, room: room("launching"), people: [...people.map((p) => ({ ...p, launch: "launched" })), ...guests], choice, evening: [1, 2, 3].map(round) },
		night: { room: room("launching", { ended: "2026-01-02T23:10:00Z" }), people: [...people, ...guests], choice, evening: [1, 2, 3].map(round), log: [{ at: "2026-01-02T23:10:00Z", key: "room.ended-by", with: { player: names[0] } }], lists: { favourites: [{ addr: addresses[3], by: [names[0]] }], hidden: [] } },
	};
	const stage = %q;
	if (live.socket) live.socket.onmessage = live.socket.onclose = null;
	live.watch = live.connect = () => {};
	musterTime.clearTimeout(live.watchdog);
	Object.assign(muster.view, { searched: stage.endsWith("reveal") ? window.rounds : 0, revealed: 0 });
	live.receive(JSON.stringify(phased({ type: "state", now: musterTime.now(), whole: true, people, you, choice: null, way: null, whatif: null, evening: [], log: [], standing: null, match: null, own: null, agreement: { open: false, vetoes: [], ballot: [] }, ...stages[stage] })));
`

// everyStage lists the stages of a room. above must be above the fold of a phone, and aside above
// that of a phone on its side, too; pings is where a wall shows everybody's ping.
var everyStage = []struct{ name, stage, above, aside, pings string }{
	{"lobby", "lobby", ".start button", ".start button, .names > li", ""},
	{"search", "search", ".best, .podium", ".telling button, .podium, .world", ".rank1 .figure"},
	{"reveal", "reveal", ".pingline, .buttons", "", ".turning .ping"},
	{"vote", "vote", ".ready button", "", ".leads .everyone .ms"},
	{"vetoed", "vote", ".ready button", "", ".leads .everyone .ms"},
	{"countdown", "countdown", ".stop, .who-goes", "", ".who-goes .ms"},
	{"go", "go", ".way button", ".arriving > li", ".turning .ping"},
	{"ownfailed", "go", ".way button, .path > summary", ".arriving > li", ".turning .ping"},
	{"failed", "failed", ".help-card", "", ".gate .ms"},
	{"seats", "seats", ".hoping h1, .looked", "", ""},
	{"night", "night", "h1", "", ""},
	{"closing", "go", "h1, .parting .danger", "", ""},
	{"sides", "lobby", ".start .primary", ".team", ""},
	{"ban", "ban", ".nominee, .move", ".move", ""},
	{"matchsearch", "search", ".versus, .podium", ".versus, .podium, .world", ""},
	{"matchreveal", "reveal", ".mean, .weighs, .buttons", ".mean, .buttons", ""},
	{"matchcountdown", "countdown", ".camp, .then", "", ""},
	{"matchgo", "go", ".way button", ".arriving > li", ""},
	{"watchban", "ban", ".nominee", ".match-head", ""},
	{"mapban", "ban", ".nominee, .move", ".move", ""},
}

// drawn shows a stage with that many people of strange names, and waits until all of it is there.
func (b *browser) drawn(name, stage string, people, me int) {
	b.Helper()
	names, err := json.Marshal(nicknames[:people])
	if err != nil {
		b.Fatal(err)
	}
	b.prefers("prefers-reduced-motion", "reduce") // the reveal's last frame appears at once
	b.run("{" + fmt.Sprintf(crowded, names, me, name) + "}")
	b.until("the page shows "+name, func() bool {
		return eval[bool](b, fmt.Sprintf(
			`muster.view.stage === %q && Number(getComputedStyle(document.querySelector("#stage .everybody") ?? document.body).opacity) === 1`, stage))
	})
	if name == "closing" {
		b.run(`document.querySelector("#stage .parting [data-sure=end]")?.click()`) // a wall has no button
	}
	if stage == "night" {
		b.until("the poster is there", func() bool {
			return eval[int](b, `document.querySelector("#stage .poster img")?.naturalWidth ?? 0`) == 1080
		})
	}
	if name == "search" || name == "matchsearch" {
		b.until("the map is there", func() bool { return eval[int](b, "document.querySelectorAll('.world .ring').length") == people })
	}
}

// nicknames are names that break pages.
var nicknames = []string{
	"anna", "<b onclick=alert(1)>bold</b>", "\u202eesrever\u202c", strings.Repeat("W", 60),
	"zero\u200bwidth\u200b\u200b", "Z͑ͫ̓ͪ̂ͫ̽͏̴̙̤̞͉͚̯̞̠͍Ä̶̢̛́LGO",
	"👩‍👩‍👧‍👦🏴‍☠️😀😀😀😀😀😀😀😀😀😀", "مرحبا بالعالم", "日本語のとても長い名前です", "a", "b b b b b b b b b b b b", "Maximiliane-Charlotte",
	"\u2067\u2066x", "dave", "eve", "player sixteen of us",
}

// faults is a script that finds what is wrong with a stage on a screen. Elements may reach beyond its
// sides, cover others, be too small to press, or be below the fold.
const faults = `(() => {
	const found = [], stage = document.querySelector("#stage"), above = %q, press = %d;
	if (document.documentElement.scrollWidth > innerWidth) found.push("it is " + document.documentElement.scrollWidth + " px wide");
	const titles = [...document.querySelectorAll("h1")].filter((e) => e.checkVisibility());
	if (titles.length !== 1) found.push(titles.length + " titles");
	const clip = (e, box) => {
		for (let up = e; up && up !== document.documentElement; up = up.parentElement) {
			const { overflowX } = getComputedStyle(up);
			if (overflowX === "visible") continue;
			const edge = up.getBoundingClientRect();
			box = { left: Math.max(box.left, edge.left), right: Math.min(box.right, edge.right), top: Math.max(box.top, edge.top), bottom: Math.min(box.bottom, edge.bottom) };
		}
		return box;
	};
	const boxes = [];
	const add = (e, what, { left, right, top, bottom }) => {
		const box = clip(e, { left, right, top, bottom });
		if (box.right - box.left > 2 && box.bottom - box.top > 2) boxes.push({ e, what, ...box });
	};
	const texts = document.createTreeWalker(stage, NodeFilter.SHOW_TEXT), range = new Range();
	while (texts.nextNode()) {
		const e = texts.currentNode.parentElement;
		if (!texts.currentNode.data.trim() || !e.checkVisibility({ opacityProperty: true, visibilityProperty: true }) || e.closest(".unseen, svg, .ready") || getComputedStyle(e).clipPath.includes("50%%")) continue;
		range.selectNodeContents(texts.currentNode);
		const size = parseFloat(getComputedStyle(e).fontSize);
		for (const { left, right, top, bottom } of range.getClientRects()) {
			const middle = (top + bottom) / 2; // the height that letters take of their line
			add(e, texts.currentNode.data.trim().slice(0, 30), { left, right, top: Math.max(top, middle - size * .38), bottom: Math.min(bottom, middle + size * .38) });
		}
	}
	for (const e of document.querySelectorAll("#corner, #stage :is(svg.sign, img, button, .got, .coming)")) if (e.checkVisibility({ visibilityProperty: true }) && !e.closest(".unseen, .world, .turning, .ready")) add(e, e.dataset.sign ?? e.className, e.getBoundingClientRect());
	for (const [i, one] of boxes.entries()) for (const other of boxes.slice(0, i)) {
		if (one.e === other.e || one.e.contains(other.e) || other.e.contains(one.e)) continue;
		const across = Math.min(one.right, other.right) - Math.max(one.left, other.left), down = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
		if (across > 3 && down > 3) found.push("“" + one.what + "” stands on “" + other.what + "” by " + Math.round(across) + " × " + Math.round(down));
	}
	const words = document.createTreeWalker(stage, NodeFilter.SHOW_TEXT); // no word of usual length breaks inside
	while (words.nextNode()) {
		const { data, parentElement: e } = words.currentNode;
		if (!e.checkVisibility({ opacityProperty: true, visibilityProperty: true }) || e.closest(".unseen, svg, .reasons, .detail, .drawing") || getComputedStyle(e).clipPath.includes("50%%")) continue;
		for (const { index, 0: word } of data.matchAll(/[^\s·]+/g)) { // the dots make the trial languages long
			if (word.length > 24 || !/^[\p{P}\d]*[\p{Script=Latin}\p{Script=Cyrillic}]+[\p{P}]*$/u.test(word)) continue;
			range.setStart(words.currentNode, index);
			range.setEnd(words.currentNode, index + word.length);
			const lines = new Set([...range.getClientRects()].map(({ top }) => Math.round(top)));
			if (lines.size > 1) found.push("the word “" + word + "” breaks inside");
		}
	}
	const orphan = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]{2}[\p{P}]?\s*$/u; // no letter stands alone on the last line
	words.currentNode = stage;
	while (words.nextNode()) {
		const { data, parentElement: e } = words.currentNode;
		if (!orphan.test(data) || data.trim().length < 6 || words.currentNode.nextSibling || !e.checkVisibility() || e.closest(".unseen, svg, bdi, #settings")) continue;
		const end = data.trimEnd().length - (/\p{P}\s*$/u.test(data) ? 1 : 0), topOf = (from) => (range.setStart(words.currentNode, from), range.setEnd(words.currentNode, from + 1), Math.round(range.getBoundingClientRect().top));
		if (topOf(end - 1) > topOf(end - 2) + 4) found.push("“" + data.trim().slice(-6) + "” leaves its last letter alone on a line");
	}
	const isTrial = document.documentElement.lang === "ar-XB"; // longer than any language, with dots that stick to each end
	for (words.currentNode = stage; words.nextNode(); ) { // no line begins with what ends a part of a sentence
		const { data, parentElement: e, previousSibling: box } = words.currentNode;
		if (isTrial || !(box instanceof Element) || !/^[,.:;!?…)”»、。，：；！？）]/.test(data) || !e.checkVisibility() || e.closest(".unseen, svg, #settings")) continue;
		range.setStart(words.currentNode, 0);
		range.setEnd(words.currentNode, 1);
		if (range.getBoundingClientRect().top > box.getBoundingClientRect().bottom - 3) found.push("“" + data.slice(0, 20) + "” begins a line");
	}
	for (const e of stage.querySelectorAll(".trade")) if (e.checkVisibility() && e.scrollHeight > e.clientHeight + 6 && !isTrial) found.push("“" + e.textContent.slice(0, 30) + "” ends before its end");
	for (const e of stage.querySelectorAll(".candidate .turning")) if (document.body.matches(".tv *") && e.clientHeight < innerHeight * .15 && !isTrial) found.push("a card's map is " + e.clientHeight + " px high");
	for (const e of stage.querySelectorAll(".turning, .flat")) if (e.checkVisibility() && (!e.querySelector("canvas") || e.clientHeight < 40 && (e.clientHeight > 0 || document.body.matches(".tv *")))) found.push("no world is drawn");
	for (const e of stage.querySelectorAll("button, a, summary")) { // nothing lies over what people press
		const { left, right, top, bottom } = clip(e.parentElement, e.getBoundingClientRect());
		if (!e.checkVisibility({ visibilityProperty: true }) || bottom - top < 12 || right - left < 12 || document.body.matches(".tv *")) continue;
		for (const [x, y] of [[(left + right) / 2, (top + bottom) / 2], [left + 12, top + 5], [right - 12, top + 5], [left + 12, bottom - 5], [right - 12, bottom - 5]]) {
			const over = document.elementFromPoint(x, y);
			if (over && over !== e && !e.contains(over) && !over.contains(e) && !over.closest(".ready, #toast, header")) found.push("“" + (e.innerText.trim().slice(0, 30) || e.className) + "” is under “" + (over.className.baseVal ?? over.className) + "”");
		}
	}
	for (const e of stage.querySelectorAll("svg:not(.sign, .turning *, .marks) text")) {
		const { left, right, width } = e.getBoundingClientRect();
		if (width > 0 && e.checkVisibility() && (right > innerWidth + 1 || left < -1)) found.push("“" + e.textContent.trim().slice(0, 20) + "” is beyond the side");
	}
	const least = document.documentElement.matches(".tv") ? 0 : 11.9; // px; isFromTheSofa looks at walls
	for (const e of document.querySelectorAll("#stage *, header *")) {
		if (![...e.childNodes].some((node) => node.nodeType === 3 && node.data.trim()) || !e.checkVisibility() || e.closest(".unseen, svg.sign, .drawing")) continue;
		const size = parseFloat(getComputedStyle(e).fontSize) * (e.getScreenCTM?.()?.a ?? 1);
		if (size < least) found.push("“" + e.textContent.trim().slice(0, 20) + "” is " + size.toFixed(1) + " px high");
	}
	const isGold = (e) => /rgb\(255, 197, 61\)/.test(getComputedStyle(e).backgroundColor);
	const golds = [...document.querySelectorAll("#stage *, header *")].filter((e) => e.checkVisibility() && isGold(e) && e.getBoundingClientRect().width > 12 && !isGold(e.parentElement) && !e.closest(".step, .chairs"));
	const may = /^(search|reveal|go)$/.test(document.body.dataset.stage) && !stage.querySelector(".parting.card") ? 0 : 1; // there the server is, until its organiser asks for the next round
	if (golds.length > may) found.push(golds.length + " gold things: " + golds.map((e) => e.innerText.trim().slice(0, 20) || e.className).join(", "));
	for (const [cards, parts] of [[".candidates > .candidate:not(.gone)", ":scope > *"], [".helps > *", ""], [".doors > *", ""], [".awards > *", ""], [".steps > *", ""]]) {
		const rows = Object.values(Object.groupBy([...stage.querySelectorAll(cards)].filter((e) => e.checkVisibility()), (e) => Math.round(e.getBoundingClientRect().top / 8)));
		for (const row of rows) {
			const heights = row.map((e) => e.getBoundingClientRect().height);
			if (Math.max(...heights) - Math.min(...heights) > 1) found.push("cards beside each other are " + heights.map(Math.round) + " px high: " + cards);
			if (!parts || row.length < 2) continue;
			const tops = row.map((e) => [...e.querySelectorAll(parts)].filter((part) => part.checkVisibility()).map((part) => Math.round(part.getBoundingClientRect().top)));
			if (tops.some((one) => one.length === tops[0].length && one.some((top, i) => Math.abs(top - tops[0][i]) > 1))) found.push("rows of cards do not align: " + JSON.stringify(tops));
		}
	}
	const stops = [...stage.querySelectorAll("button, a, summary, input, select")].filter((e) => e.checkVisibility({ visibilityProperty: true }) && !e.closest(".unseen, .mapped, .ready"));
	for (const [i, e] of stops.slice(1).entries()) { // Tab goes down a column, and then to the next one
		const [before, after] = [stops[i].getBoundingClientRect(), e.getBoundingClientRect()];
		const shared = Math.min(before.right, after.right) - Math.max(before.left, after.left);
		if (after.bottom <= before.top + 2 && shared > Math.min(before.width, after.width) / 2) found.push("Tab goes up from “" + stops[i].innerText.slice(0, 30) + "” to “" + e.innerText.slice(0, 30) + "”");
	}
	for (const { what, left, right } of boxes) if (right > innerWidth + 1 || left < -1) found.push("“" + what + "” is beyond the side");
	if (press) for (const e of stage.querySelectorAll("button, a, summary")) {
		if (!e.checkVisibility() || e.closest("#settings > :not(summary), .ticket, #welcome")) continue;
		const { width, height } = e.getBoundingClientRect();
		if (Math.min(width, height) < press) found.push(Math.round(width) + " × " + Math.round(height) + " px to press: " + e.innerText.slice(0, 40));
	}
	if (above) for (const e of stage.querySelectorAll(above)) if (e.checkVisibility() && !e.closest(".dial, .unseen, svg.sign > *, .world, .turning") && clip(e.parentElement, e.getBoundingClientRect()).bottom > innerHeight) found.push("below the fold, at " + Math.round(e.getBoundingClientRect().bottom) + ": " + (e.textContent.trim().slice(0, 30) || e.className));
	const at = scrollY; // a bar that stays on the screen covers nothing that Tab or a scroll has brought there
	for (const e of stage.querySelectorAll("button, a, summary, input, select")) {
		if (!e.checkVisibility({ visibilityProperty: true }) || e.closest(".unseen")) continue;
		e.scrollIntoView({ block: "nearest", behavior: "instant" });
		const { left, right, top, bottom } = e.getBoundingClientRect();
		const over = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
		for (let up = over; up && !up.contains(e) && !e.contains(up); up = up.parentElement)
			if (/fixed|sticky/.test(getComputedStyle(up).position)) found.push("“" + (e.innerText || e.id).slice(0, 30) + "” is under a bar, " + (up.id || up.className));
	}
	scrollTo({ top: at, behavior: "instant" });
	return [...new Set(found)];
})()`

// halves is a script that names the halves of a screen that are nearly empty.
const halves = `(() => {
	const across = 12, down = 8, cells = new Set(), range = new Range();
	const shown = [...document.querySelectorAll("header *, #stage *")].filter((e) => e.checkVisibility() && !e.closest(".unseen") && (e.matches("svg.sign, img, canvas, .track, button, .left, .dial, .gate > span") || [...e.childNodes].some((node) => node.nodeType === 3 && node.data.trim())));
	for (const e of shown) {
		range.selectNodeContents(e);
		const box = e.matches("p, h1, h2, span, bdi, b, small, strong, li") && !e.matches(".track, .gate > span") ? range.getBoundingClientRect() : e.getBoundingClientRect();
		for (let x = 0; x < across; x++) for (let y = 0; y < down; y++)
			if (box.left < innerWidth * (x + 1) / across && box.right > innerWidth * x / across && box.top < innerHeight * (y + 1) / down && box.bottom > innerHeight * y / down) cells.add(x + y * across);
	}
	const share = (is) => { let n = 0, all = 0; for (let x = 0; x < across; x++) for (let y = 0; y < down; y++) if (is(x, y)) { all++; n += cells.has(x + y * across); } return n / all; };
	const of = { left: share((x) => x < across / 2), right: share((x) => x >= across / 2), top: share((_, y) => y < down / 2), bottom: share((_, y) => y >= down / 2) };
	return Object.entries(of).filter(([, n]) => n < %g).map(([name, n]) => name + " " + Math.round(100 * n) + " %%");
})()`

// TestEveryStage checks each stage of a session on phones and larger screens, with names that break layouts.
// Nothing covers anything else, and everything important is above a phone's fold. On a wall,
// everybody's ping can be read from the sofa.
func TestEveryStage(t *testing.T) {
	t.Parallel()
	n := newSession(t, 20, friday(0))
	b := n.browse(n.organisersLink(), pocket)
	b.sees("#stage", "Waiting for the first player")
	tv := n.browse(strings.Replace(n.link(), "/#", "/?tv#", 1), wall)
	tv.until("the QR code is there", func() bool { return eval[bool](tv, `document.querySelector("#invite img")?.naturalWidth > 0`) })
	crowds, screens := []int{len(nicknames)}, few(3, pocket, aside, desktop, small, upright, wall4)
	if os.Getenv("MUSTER_SHOTS") != "" { // for looking at, too
		crowds, screens = []int{len(nicknames), 4, 2}, append(screens, screenSize{"phone-390-dark", 390, 844, 2, true}, laptop, night4k)
	}
	for _, people := range crowds {
		for _, s := range everyStage {
			name := fmt.Sprintf("%s-%d", s.name, people)
			b.resize(pocket)
			b.drawn(s.name, s.stage, people, 1)
			if s.name == "lobby" && people == len(nicknames) { // of a few it says what they do instead
				b.sees("#stage", "about Netherlands")
				if strings.Contains(b.reads("#stage"), "Korea") {
					b.Error("the lobby tells where somebody is who does not want that")
				}
			}
			for _, size := range screens {
				above := ""
				switch size {
				case pocket:
					above = s.above
				case aside:
					above = s.above + ", " + cmp.Or(s.aside, s.above)
				}
				b.fitsOn(name, size, above)
			}
			b.resize(reflow)
			b.fits(reflow)
			tv.resize(wall)
			tv.drawn(s.name, s.stage, people, -1)
			for _, size := range few(1, wall, wall4) {
				tv.isFromTheSofa(name, size)
				tv.fitsOn(name+"-tv", size, "*")
				if said := eval[int](tv, fmt.Sprintf(
					`[...document.querySelectorAll("#stage :is(%s)")].filter((e) => e.checkVisibility() && e.getBoundingClientRect().height > 0).length`, cmp.Or(s.pings, "none"))); s.pings != "" && said < people {
					t.Errorf("%s on a %s says %d pings", name, size.name, said)
				}
			}
		}
	}
}

// fitsOn checks the stage on a screen, and that the elements in above are visible at once. If
// $MUSTER_SHOTS is set, it keeps a picture.
func (b *browser) fitsOn(name string, size screenSize, above string) {
	b.Helper()
	b.resize(size)
	b.run(`window.drawn = false; muster.view.changed(); requestAnimationFrame(() => requestAnimationFrame(() => window.drawn = true))`)
	b.until(name+" is drawn for its screen", func() bool { return eval[bool](b, "drawn") })
	b.run(`document.querySelector(".parting.card")?.scrollIntoView({ block: "nearest" })`) // as when it appeared, on another screen
	isPhone := size.width < 500
	press, share := 0, 0.2
	if isPhone {
		press, share = 44, 0
	}
	found := b.settled(arrived + fmt.Sprintf(faults, above, press))
	for _, half := range b.settled(fmt.Sprintf(halves, share)) {
		found = append(found, "hardly anything is in the half "+half)
	}
	for _, fault := range found {
		b.Errorf("%s on a %s: %s", name, size.name, fault)
	}
	if os.Getenv("MUSTER_SHOTS") != "" {
		b.capture(name+"-"+size.name+".png", chromedp.CaptureScreenshot())
	}
}
