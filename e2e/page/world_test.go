package page_test

import (
	"fmt"
	"math"
	"testing"
)

// TestAroundServer checks where signs stand around a server: for players all over the world and for
// sixteen who are all near each other, no sign is on another or on another's spoke, and all of them
// and the server are in the room that there is.
func TestAroundServer(t *testing.T) {
	t.Parallel()
	type picture struct {
		What              string
		Size, X, Y, Scale float64
		Stands            []struct{ X, Y, R, Turn float64 }
	}
	var got []picture
	inNode(t, &got, `const { fitted, wayTo, someWay } = await import("../../web/static/map/lay.js");
		const { placeOf } = await import("../../web/static/map/world.js");
		const all = ["NL", "US", "MY", "US", "DE", "BR", "JP", "ZA", "AU", "GB", "SE", "FR", "IN", "CL", "PL", "KR"], near = ["NL", "DE", "FR", "BE", "GB", "DK", "CH", "AT"];
		const room = { left: 190, right: 800, top: 90, bottom: 830 };
		const from = (home, codes) => codes.map((code) => (code === "?" ? someWay(80) : wayTo(placeOf(home), placeOf(code))));
		const cases = [2, 4, 8, 16].flatMap((n) => [["world", from("US", all.slice(0, n))], ["near", from("NL", [...near, ...near].slice(0, n))], ["nowhere", from("JP", new Array(n).fill("?"))]]);
		console.log(JSON.stringify(cases.map(([what, ways]) => ({ What: what + " " + ways.length, ...fitted(ways, room, 48) }))))`)
	for _, p := range got {
		for i, one := range p.Stands {
			if x, y := one.X+p.X, one.Y+p.Y; x < 189 || x > 801 || y < 89 || y > 831 {
				t.Errorf("%s: sign %d stands at %.0f, %.0f, beyond the room", p.What, i, x, y)
			}
			for j, other := range p.Stands {
				if i == j {
					continue
				}
				if d := math.Hypot(one.X-other.X, one.Y-other.Y); d < p.Size {
					t.Errorf("%s: signs %d and %d of %.0f px are %.0f px apart", p.What, i, j, p.Size, d)
				}
				along := math.Cos(one.Turn-other.Turn) * one.R
				if off := math.Abs(math.Sin(one.Turn-other.Turn)) * one.R; along > 0 && along < other.R && off < p.Size/2 {
					t.Errorf("%s: the spoke of %d runs %.0f px beside sign %d of %.0f px", p.What, j, off, i, p.Size)
				}
			}
		}
		if p.X < 190 || p.X > 800 || p.Y < 90 || p.Y > 830 || p.Scale <= 0 {
			t.Errorf("%s: the server is at %.0f, %.0f, and the scale is %g", p.What, p.X, p.Y, p.Scale)
		}
	}
}

// TestBearings checks that spokes keep their order and their directions where there is room, and
// move apart where there is none. A player whose place is unknown stands where most room is.
func TestBearings(t *testing.T) {
	t.Parallel()
	var got []string
	inNode(t, &got, `const { turned } = await import("../../web/static/map/lay.js");
		const degrees = (all) => turned(all.map((one) => (one === null ? { angle: 1 } : { angle: 1, bearing: (one * Math.PI) / 180 }))).map((turn) => Math.round((turn * 180) / Math.PI)).join(" ");
		console.log(JSON.stringify([degrees([0, 90, 200]), degrees([10, 14]), degrees([50, 50, 50]), degrees([0, 90, null]), degrees([350, 4]), degrees([])]))`)
	for i, want := range []string{"0 90 200", "4 20", "34 50 66", "0 90 225", "349 5", ""} {
		if got[i] != want {
			t.Errorf("case %d: %q, not %q", i, got[i], want)
		}
	}
}

// TestBesideSigns checks that words beside signs cover no sign and no other words, stay within the
// picture, and are left out rather than in the way, unless they must be there.
func TestBesideSigns(t *testing.T) {
	t.Parallel()
	var got struct {
		Covers, Beyond, Left int
		Whole                int
	}
	inNode(t, &got, `const { labelled, overlap } = await import("../../web/static/map/labels.js");
		const { fitted, wayTo } = await import("../../web/static/map/lay.js");
		const { placeOf } = await import("../../web/static/map/world.js");
		const room = { left: 190, right: 800, top: 90, bottom: 830 }, whole = { left: 20, right: 860, top: 20, bottom: 890 };
		const { x, y, size, stands } = fitted(["NL", "US", "MY", "DE", "BR", "JP", "ZA", "AU"].map((code) => wayTo(placeOf("CA"), placeOf(code))), room, 44);
		const at = stands.map((one) => ({ x: one.x + x, y: one.y + y })), words = at.map(() => ({ width: 90, height: 40 }));
		const boxes = labelled({ x, y }, at, size, words, whole).flatMap((place) => place ? [{ left: place.x - (place.anchor === "start" ? 0 : place.anchor === "middle" ? 45 : 90), top: place.y - 20 }] : []).map((box) => ({ ...box, right: box.left + 90, bottom: box.top + 40 }));
		const signs = at.map((sign) => ({ left: sign.x - size / 2.2, right: sign.x + size / 2.2, top: sign.y - size / 2.2, bottom: sign.y + size / 2.2 }));
		const pairs = boxes.flatMap((box, i) => [...boxes.slice(0, i), ...signs].map((other) => overlap(box, other)));
		const tight = [{ x: 30, y: 30 }, { x: 31, y: 31 }, { x: 32, y: 30 }], small = { left: 0, right: 60, top: 0, bottom: 60 };
		const crowd = (whole) => labelled({ x: 30, y: 50 }, tight, 20, tight.map(() => ({ width: 50, height: 20 })), small, { whole }).filter(Boolean).length;
		console.log(JSON.stringify({ Covers: pairs.filter((n) => n > 0).length, Beyond: boxes.filter((box) => box.left < 20 || box.right > 860 || box.top < 20 || box.bottom > 890).length, Left: crowd(false), Whole: crowd(true) }))`)
	if got.Covers > 0 || got.Beyond > 0 || got.Left > 1 || got.Whole != 3 {
		t.Errorf("%+v: words cover something, are beyond the picture, or stand where there is no room", got)
	}
}

// TestPingLine checks that signs are heaped where they would touch, the nearest at the bottom, and
// that the scale ends behind the longest ping.
func TestPingLine(t *testing.T) {
	t.Parallel()
	var got struct {
		Heap  []struct{ X, Level float64 }
		Ticks []string
	}
	inNode(t, &got, `const { heaped, ticksFor } = await import("../../web/static/map/heap.js");
		console.log(JSON.stringify({ Heap: heaped([44, 9, 12, 247, 15], 300, 600, 30), Ticks: [3, 97, 247, 960].map((ms) => ticksFor(ms).join(" ")) }))`)
	want := "[{88 0} {18 0} {24 1} {494 0} {30 2}]"
	if is := fmt.Sprint(got.Heap); is != want {
		t.Errorf("the heap is %s, not %s", is, want)
	}
	if is := fmt.Sprintf("%q", got.Ticks); is != `["0 5" "0 25 50 75 100" "0 100 200 300" "0 250 500 750 1000"]` {
		t.Errorf("the scales are %s", is)
	}
}

// TestTable checks the three places of a sign on its way: at home, half way and at the table. Half
// way nobody stands on another.
func TestTable(t *testing.T) {
	t.Parallel()
	var got []struct{ X, Y, Share float64 }
	inNode(t, &got, `const { standing } = await import("../../web/static/map/table.js");
		const homes = [{ x: 0, y: 100 }, { x: 300, y: 0 }, { x: 20, y: 300 }, { x: 24, y: 310 }], seats = [{ x: 0, y: 20 }, { x: 20, y: 0 }, { x: 0, y: 20 }, { x: 4, y: 26 }];
		console.log(JSON.stringify(standing(homes, seats, ["home", "in", "half", "half"], 40)))`)
	if got[0].Share != 0 || got[1].Share != 1 || got[2].Share == got[3].Share ||
		math.Hypot(got[2].X-got[3].X, got[2].Y-got[3].Y) < 40 || math.Hypot(got[2].X-got[0].X, got[2].Y-got[0].Y) < 40 {
		t.Errorf("they stand at %v", got)
	}
}

// TestFitting checks that a title becomes narrower first, then has two lines, then becomes smaller.
func TestFitting(t *testing.T) {
	t.Parallel()
	var got []string
	inNode(t, &got, `const { fitting } = await import("../../web/static/stages/fit.js");
		const of = (long, word) => { const { stretch, size, breaks } = fitting((stretch, size, lines) => word * stretch * size <= 100 && (long * stretch * size) / lines <= 100); return stretch + " " + size + (breaks ? " breaks" : ""); };
		console.log(JSON.stringify([of(0.5, 0.5), of(1, 1), of(1.5, 0.8), of(3, 1.4), of(9, 9)]))`)
	for i, want := range []string{"118 1", "98 1", "118 1", "75 0.88", "75 0.4 breaks"} {
		if got[i] != want {
			t.Errorf("case %d: %q, not %q", i, got[i], want)
		}
	}
}
