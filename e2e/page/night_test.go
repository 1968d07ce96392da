package page_test

import (
	"strings"
	"testing"
)

// TestAwards checks that awards are facts, at most one a player and six in all, and that a kind
// whose best player has one already is left out.
func TestAwards(t *testing.T) {
	t.Parallel()
	var got []string
	inNode(t, &got, `const { awards } = await import("../../web/static/awards.js");
		const all = (names) => names.map((name, arrival) => ({ name, arrival }));
		const round = (connect, rtt_ms) => ({ server: connect, connect, players: Object.keys(rtt_ms), rtt_ms });
		const far = { ann: 400, bob: 9000, cat: 15100 };
		const km = (_, player) => far[player];
		const said = (...given) => awards(...given).map(({ kind, player, ms, km, server }) => [kind, player, ms ?? km ?? server].filter(Boolean).join(" ")).join(", ");
		console.log(JSON.stringify([
			said([], all(["ann", "bob"]), km, []),
			said([round("x", { ann: 9 })], all(["ann"]), km, []),
			said([round("x", { ann: 9, bob: 80 })], all(["ann", "bob"]), km, []),
			said([round("x", { ann: 9, bob: 80, cat: 231 })], all(["ann", "bob", "cat"]), km, []),
			said([round("x", { ann: 9, bob: 80, cat: 231, dan: 50, eve: 60 }), round("y", { ann: 20, bob: 90, cat: 99, dan: 51, eve: 80 })], all(["eve", "ann", "bob", "cat", "dan"]), km, [{ addr: "y", by: ["bob", "ann"] }, { addr: "z", by: ["dan"] }]),
			said([round("x", { ann: 9.1, bob: 9.4 })], all(["ann", "bob"]), () => undefined, []),
			said([round("x", { ann: 9, zoe: 2 })], all(["ann"]), () => undefined, []),
		]));`)
	for i, want := range []string{
		"first ann", // nothing was measured
		"nearest ann 9",
		"nearest ann 9, longest bob 9000",
		"nearest ann 9, longest cat 15100",
		"nearest ann 9, longest cat 15100, steady dan 1, home bob y, first eve",
		"nearest ann 9.1, patient bob 9.4",
		"nearest ann 9", // zoe is no player
	} {
		if got[i] != want {
			t.Errorf("case %d: %q, not %q", i, got[i], want)
		}
	}
}

// TestHostilePoster checks that the poster is well-formed for all names, has only shapes and text,
// and that no name is on it if people want none.
func TestHostilePoster(t *testing.T) {
	t.Parallel()
	var got []string
	inNode(t, &got, `const { posterOf } = await import("../../web/static/poster.js");
		const strange = ["<script>alert(1)</script>", '"/><image href="http://192.0.2.1/x"/>', "]]>&amp;<!--", "a\u0000b\u001b[2J\u202eevil\ufffe", "Z\u0301\u0327".repeat(400), "\ud800", "مرحبا", "名前名前名前名前名前", "", "W".repeat(99)];
		const nights = strange.map((name, i) => ({
			title: name, date: name, game: name, nameless: i % 2 === 1,
			people: Array.from({ length: 20 }, (_, arrival) => ({ name, arrival, guest: arrival > 17 })),
			stops: Array.from({ length: 7 }, (_, n) => ({ time: "20:1" + n, flag: "", server: name, country: name, own: name, mean: 97, people: [{ name, arrival: 0, ms: 9, estimated: false }] })),
			chart: i % 3 ? null : { land: "M0 0H9", borders: "", stops: [{ x: 1, y: 2 }, null], people: Array.from({ length: 20 }, () => ({ x: 5, y: 5 })), ways: [{ stop: 0, person: 1 }, { stop: 1, person: 2 }] },
		}));
		nights.push({ title: "Friday", date: "", game: "", people: [], stops: [] });
		nights.push({ title: "Friday", date: "", game: "", nameless: true, people: [{ name: "Hildegard", arrival: 0 }], stops: [{ time: "", flag: "", server: "den", country: "Peru", own: "Hildegard", mean: 1, people: [{ name: "Hildegard", arrival: 0, ms: 1, estimated: false }] }] });
		console.log(JSON.stringify(nights.map((night) => posterOf(night))))`)
	const longest = 40_000 // bytes
	for i, picture := range got {
		text, err := drawn(picture)
		if err != nil {
			t.Errorf("poster %d: %v\n%.600s", i, err, picture)
		}
		if len(picture) > longest {
			t.Errorf("poster %d has %d bytes", i, len(picture))
		}
		if i == len(got)-1 && (strings.Contains(text, "Hild") || strings.Contains(text, "\nH\n") || !strings.Contains(text, "den")) {
			t.Errorf("without names it says %q", text)
		}
	}
}
