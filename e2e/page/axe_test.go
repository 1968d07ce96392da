package page_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// axeFile is axe-core, installed by .ci/install.
const axeFile = "/opt/muster-e2e/node_modules/axe-core/axe.min.js"

// axe runs axe-core on the page; any finding fails the test. Outside the gate, a missing axe-core
// is skipped.
func (b *browser) axe(what string) {
	b.Helper()
	source, err := os.ReadFile(axeFile)
	if err != nil && os.Getenv("CI") == "" {
		b.Logf("axe-core has not looked at %s: %v; bash .ci/install brings it", what, err)
		return
	}
	if err != nil {
		b.Fatal(err)
	}
	if !eval[bool](b, "!!globalThis.axe") {
		b.run(string(source))
	}
	b.run(arrived + `globalThis.axed = undefined; axe.run(document, { resultTypes: ["violations"] }).then(
		(r) => (globalThis.axed = r.violations.flatMap((v) => v.nodes.map((n) => v.id + ": " + n.failureSummary.split("\n").slice(1).join(" ").trim() + " " + n.html.slice(0, 160)))),
		(error) => (globalThis.axed = [String(error)]))`)
	b.until("axe-core has looked", func() bool { return eval[bool](b, "!!globalThis.axed") })
	for _, found := range eval[[]string](b, "globalThis.axed") {
		b.Errorf("%s: %s", what, found)
	}
}

// wholeRound is a script with the stages of a round, as a host would send them.
const wholeRound = `
	const second = "192.0.2.8:27960";
	for (const [i, country] of ["NL", "US", "MY", "US"].entries()) people[i].country = country;
	people[1].vote = people[2].vote = addr, people[2].ready = true, people[3].left_out = true, people[3].doubt = "dave reports the same ping for everything";
	servers[second] = { name: "<b>Den</b>", country: "US", map: "haven", players: 16, max_players: 16, as_listed: true };
	ranked.loss = { ben: 0.1 }, ranked.jitter_ms = { ben: 12 };
	selection.ranking.push({ ...ranked, addr: second, mean_ms: 110 });
	Object.assign(selection.culled, { unreachable: 20, full: 3, over_threshold: 5 });
	Object.assign(choice, { decided: { by: "rule", measure: "average", ms: 97, other: "<b>Den</b>", other_ms: 110 } });
	const voting = { open: true, rule: { key: "vote.most-votes" }, vetoes: ["haven (192.0.2.9:27960)"], ballot: [addr, second], choices: [{ addr, kind: "average", gain_ms: 97, payer: "chong", cost_ms: 54 }, { addr: "192.0.2.9:27960", kind: "also", gone: true, name: "haven", by: "dave" }, { addr: second, kind: "ours" }] };
	const leader = (id) => ({ id, name: id ? "Server " + id : "", country: "CA", players: 3, max_players: 16, complete: true, mean_ms: 90 + id, max_ms: 240, stdev_ms: 100, figure_ms: 90 + id, rtt_ms: ranked.rtt_ms });
	const played = { round: 1, at: inTime(0), game: "openarena", server: servers[addr].name, connect: addr, map: "q3dm7", by: "mean", mean_ms: 97, max_ms: 247, players: people.map(({ name }) => name) };
	const news = { people, log: [{ at: inTime(0), text: "the best is still looked for" }] };
	const launches = (how) => people.map((person) => ({ ...person, launch: "launched", ...how[person.name] }));
	const way = { connect: addr, server: servers[addr].name, link: "steam://connect/" + addr };
	const stages = {
		lobby: () => ({ ...news, people: [...people, { name: "zoe", arrival: 4, guest: true, page: true, estimate: { error_ms: 20 } }] }),
		search: () => ({ ...news, room: room("measuring", { outlook: { key: "plain", with: { text: "about 300 servers are still to be asked" } }, search: { gain_ms: 12 } }), standing: { round: 1, answered: 600, leaders: [0, 1, 2].map(leader), places: [{ country: "CA", listed: 300, answered: 100, open: 4 }, { country: "US", listed: 900, answered: 300 }] } }),
		reveal: () => ({ ...news, choice, agreement: { ...voting, launch_at: inTime(60e3) }, room: room("chosen") }),
		vote: () => ({ ...news, choice, agreement: voting, room: room("chosen") }),
		countdown: () => ({ ...news, choice, agreement: { ...voting, launch_at: inTime(5000) }, room: room("chosen") }),
		go: () => ({ ...news, way, choice, agreement: { ...voting, open: false }, evening: [played], room: room("launching"), people: launches({ anna: { launch: "failed", detail: { key: "plain", with: { text: "openarena: not found" } } }, dave: { launch: "failed" }, ben: { launch: "asking" } }) }),
		failed: () => ({ ...news, room: room("failed", { limits_ms: [150] }), choice: { ...choice, target: undefined, explain: [{ key: "why.nothing" }],
			selection: { ...selection, chosen: null, ranking: [], culled: { over_threshold: 1400, unmeasured: 7 } },
			miss: { addr, limit_ms: 150, rtt_ms: { anna: 12, ben: 78, chong: 198, dave: 108 } },
			advice: [{ action: "allow", argument: { limit_ms: 198 }, servers: 4, addr }, { action: "without", argument: { name: "chong" }, servers: 611, addr }] } }),
		night: () => ({ ...news, choice: null, evening: [played], room: room("launching", { ended: inTime(0) }) }),
	};
	const stands = (stage) => {
		muster.view.revealed = stage === "reveal" ? 0 : 1;
		says({ ...stages[stage](), you: { ...live.state.you, name: "anna" } });
	};
`

// stands shows a stage of the round on the page.
func (b *browser) stands(stage string) {
	b.Helper()
	b.run("{" + friends + wholeRound + fmt.Sprintf("stands(%q)}", stage))
	b.until(stage+" stands there", func() bool { return eval[string](b, "document.body.dataset.stage") == stage })
	if draws := map[string]string{"search": ".world *", "reveal": ".turning *"}[stage]; draws != "" {
		b.until("its map is there", func() bool { return eval[bool](b, fmt.Sprintf("!!document.querySelector(%q)", draws)) })
	}
}

// TestAxe checks that axe-core finds nothing at any stage, on phones, desktops and walls, in dark
// and light, with all details open. It also checks the pages before there is a room.
func TestAxe(t *testing.T) {
	atNight(t)
	t.Parallel()
	n := newSession(t, 20, friday(4))
	hand := n.browse(n.organisersLink(), desktop)
	tv := n.browse(strings.Replace(n.link(), "/#", "/?tv#", 1), wall)
	for _, b := range []*browser{hand, tv} {
		b.sees("#stage", "Waiting for 4 more players")
		b.prefers("prefers-reduced-motion", "reduce")
	}
	for _, stage := range []string{"lobby", "search", "reveal", "vote", "countdown", "go", "failed", "night"} {
		hand.stands(stage)
		hand.folds(true)
		for _, size := range []screenSize{desktop, couch} {
			hand.resize(size)
			hand.axe(stage + " on a " + size.name)
		}
		hand.resize(desktop)
		tv.stands(stage)
		tv.axe(stage + " on a wall")
	}
	_, url := newService(t)
	base, _, _ := strings.Cut(n.link(), "#")
	for what, page := range map[string]string{"the front page": url, "a bare address": base, "a wrong code": base + "#BADOBADOBADO"} {
		b := browse(t, page, couch)
		b.sees("#front", "code")
		b.axe(what)
		b.resize(desktop)
		b.axe(what + " on a desktop")
	}
}
