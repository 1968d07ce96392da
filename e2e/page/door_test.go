package page_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
)

// atTheDoors is a script that puts people and an offer of programs on the page of a stranger.
const atTheDoors = `
	const names = %s, system = %q, live = muster.live;
	const kinds = { "windows-amd64": ["get.windows", "muster.exe"], darwin: ["get.macos", "muster.zip"], "linux-amd64": ["get.linux", "muster.tar.gz"] };
	const program = (id) => ({ system: id, name: { key: kinds[id][0] }, file: kinds[id][1], size: 40.2e6, origin: "friend", advice: { key: id.startsWith("win") ? "get.advice-windows" : id === "darwin" ? "get.advice-macos" : "get.advice-linux" } });
	muster.view.offer = system === "phone" ? { version: "1.2.3", phone: true, yours: { key: "get.phone" }, programs: [program("windows-amd64")] }
		: system === "none" ? { version: "1.2.3", yours: { key: "get.macos" }, direct: "https://muster.example/releases/download/v1.2.3/muster_1.2.3_macos_universal.tar.gz", release: "https://muster.example/releases", programs: [program("windows-amd64")] }
		: { version: "1.2.3", system, yours: { key: kinds[system][0] }, release: "https://muster.example/releases", programs: Object.keys(kinds).map(program) };
	const people = names.map((name, arrival) => ({ name, arrival, organiser: arrival === 0, peer: true, connected: true, page: true, probed: 0, answered: 0, able: true, country: "NL" }));
	live.watch = live.connect = () => {};
	if (live.socket) live.socket.onmessage = live.socket.onclose = null;
	musterTime.clearTimeout(live.watchdog);
	Object.assign(muster.view, { door: "", getting: null, opening: "" });
	live.receive(JSON.stringify({ type: "state", now: musterTime.now(), whole: true, people, you: { ...live.state.you, name: undefined, organiser: undefined }, room: { ...live.state.room, ended: undefined, stage: "gathering", guests_vote: true } }));
`

// strangerAt shows the doors to a stranger of a system.
func (b *browser) strangerAt(system string, people int) {
	b.Helper()
	names, err := json.Marshal(nicknames[:people])
	if err != nil {
		b.Fatal(err)
	}
	b.run("{" + fmt.Sprintf(atTheDoors, names, system) + "}")
	b.until("the doors are there", func() bool {
		return eval[string](b, "muster.view.stage") == "door" && eval[int](b, "document.querySelectorAll('.door').length") == 2
	})
}

var (
	landscape = screenSize{"phone-landscape", 844, 390, 2, true}
	tall      = screenSize{"phone-844-dark", 390, 844, 2, true}
	tablet    = screenSize{"tablet", 768, 1024, 1, false}
	large     = screenSize{"large-dark", 1920, 1080, 1, true}
)

// gold is a script that counts the gold things of the stage.
const gold = `[...document.querySelectorAll("#stage *")].filter((e) => e.checkVisibility() && e.getBoundingClientRect().width > 8 && /rgb\(255, (197, 61|224, 154)\)/.test(getComputedStyle(e).backgroundColor + getComputedStyle(e).backgroundImage)).length`

// TestDoors checks what a stranger with the room's link sees: two entry buttons of one size,
// without gold while they are disabled, the people who are in already, and how to enter on each
// system.
func TestDoors(t *testing.T) {
	t.Parallel()
	n := newSession(t, 20, friday(0))
	b := n.browse(n.link(), desktop)
	b.sees("#stage.door, .doors", "Watch")
	b.prefers("prefers-reduced-motion", "reduce")
	screens := few(4, pocket, landscape, desktop, wall4, tall, tablet, laptop, large)
	for _, system := range []string{"windows-amd64", "darwin", "linux-amd64", "none", "phone"} {
		for _, people := range []int{0, 3, 16} {
			if os.Getenv("MUSTER_SHOTS") == "" && people == 3 {
				continue
			}
			b.strangerAt(system, people)
			wants := 0
			if system == "phone" {
				wants = 1 // the button that sends the link
			}
			b.resize(reflow)
			b.fits(reflow)
			for _, size := range screens {
				b.fitsOn(fmt.Sprintf("door-%s-%d", system, people), size, "")
				if sizes := eval[[]float64](b, `[...document.querySelectorAll(".frame")].flatMap((e) => [e.offsetWidth, e.offsetHeight])`); len(sizes) != 4 || sizes[0] != sizes[2] || sizes[1] != sizes[3] || sizes[0] < 90 {
					t.Errorf("%s on a %s: the doors are %v", system, size.name, sizes)
				}
				if n := eval[int](b, gold); n != wants {
					t.Errorf("%s on a %s: %d things are gold while the doors are shut", system, size.name, n)
				}
			}
		}
		b.run(`muster.view.door = "play"; muster.view.getting = { name: "Windows", bytes: 1e6, file: "muster-join_x.exe" }; muster.view.changed()`)
		for _, size := range screens {
			b.fitsOn("door-open-"+system, size, "")
			if n := eval[int](b, gold); n != 1 {
				t.Errorf("%s on a %s: %d things are gold while a door is open", system, size.name, n)
			}
		}
	}
}

// landUnderWords is a script that returns how well quiet words are to be read on the land of the map
// behind the doors, as a contrast by WCAG 2, and how many of its dots lie under words or doors.
const landUnderWords = `(() => {
	const canvas = document.querySelector(".behind canvas");
	if (!canvas) return [0, 0];
	const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
	const tokens = getComputedStyle(document.documentElement), hex = (name) => { const n = parseInt(tokens.getPropertyValue(name).trim().slice(1), 16); return [n >> 16, (n >> 8) & 255, n & 255]; };
	const light = (rgb) => rgb.map((c) => c / 255).map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)).reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
	const opacity = Number(getComputedStyle(canvas).opacity), ground = hex("--ground"), words = light(hex("--quiet"));
	let worst = 21;
	for (let i = 0; i < data.length; i += 4 * 97) {
		const part = (opacity * data[i + 3]) / 255, at = light(ground.map((c, k) => c + part * (data[i + k] - c)));
		worst = Math.min(worst, (Math.max(at, words) + 0.05) / (Math.min(at, words) + 0.05));
	}
	const taken = [...document.querySelectorAll("header *, .lead h1, .who-is-in li, .frame, .cost")].map((e) => e.getBoundingClientRect());
	const under = [...document.querySelectorAll(".behind circle")].map((e) => e.getBoundingClientRect()).filter((dot) => taken.some((box) => dot.left < box.right && box.left < dot.right && dot.top < box.bottom && box.top < dot.bottom));
	return [worst, under.length];
})()`

// TestDoorMap checks that the room's map stands behind the doors where it fits: quiet words on it
// stay readable, no dot lies under words, and it ends at the ticket. A phone has none, and neither
// has a room whose people's countries nobody knows.
func TestDoorMap(t *testing.T) {
	atNight(t)
	t.Parallel()
	n := newSession(t, 20, friday(0))
	b := n.browse(n.link(), desktop)
	b.sees("#stage.door, .doors", "Watch")
	b.prefers("prefers-reduced-motion", "reduce")
	b.strangerAt("windows-amd64", 8)
	from := func(countries string) {
		b.Helper()
		b.run(`{ const { live } = muster, codes = ` + countries + `; live.receive(JSON.stringify({ type: "state", now: musterTime.now(), whole: true, you: live.state.you, room: live.state.room, people: live.state.people.map((one, i) => ({ ...one, country: codes[i % codes.length] })) })); }`)
	}
	for _, countries := range []string{`["US", "NL", "MY", "DE", "BR", "JP", "ZA", "AU"]`, `["NZ"]`} {
		from(countries)
		for _, size := range []screenSize{tablet, desktop, laptop, large, wall4} {
			b.resize(size)
			b.until("the map fills its place on a "+size.name, func() bool {
				return eval[bool](b, `(() => { const canvas = document.querySelector(".behind canvas"), place = document.querySelector(".behind"); return !!canvas && Math.abs(canvas.width - place.clientWidth) < 2 && !!place.querySelector("svg"); })()`)
			})
			if got := b.settled(`(([worst, under]) => (worst >= 4.5 && under === 0 ? [] : [worst + " " + under]))(` + landUnderWords + `)`); len(got) > 0 {
				t.Errorf("%s on a %s: contrast and dots under words: %v", countries, size.name, got)
			}
			if ends := eval[bool](b, `(() => { const place = document.querySelector(".behind").getBoundingClientRect(), ticket = document.querySelector(".way-in").getBoundingClientRect(); return place.right <= ticket.left + 40 || place.bottom <= ticket.top + 40; })()`); !ends {
				t.Errorf("on a %s the map does not end at the ticket", size.name)
			}
		}
	}
	for _, size := range []screenSize{pocket, landscape} {
		b.resize(size)
		b.until("there is no map on a "+size.name, func() bool { return eval[bool](b, "!document.querySelector('.behind')") })
	}
	b.resize(desktop)
	from(`[undefined]`)
	b.until("no country is known", func() bool {
		return eval[bool](b, "!document.querySelector('.behind') && !!document.querySelector('.doors')")
	})
}

// TestDoorsSpeak checks that the entry buttons have enough space for languages with long words and
// other letters.
func TestDoorsSpeak(t *testing.T) {
	atNight(t)
	t.Parallel()
	n := newSession(t, 20, friday(0))
	for _, tag := range []string{"de", "ru", "ja", "ar-XB"} {
		b := n.browse(strings.Replace(n.link(), "/#", "/?lang="+tag+"#", 1), desktop)
		b.sees(".doors", "1")
		b.prefers("prefers-reduced-motion", "reduce")
		for system, door := range map[string]string{"windows-amd64": "", "darwin": "play", "phone": ""} {
			b.strangerAt(system, 3)
			b.run(fmt.Sprintf("muster.view.door = %q; muster.view.changed()", door))
			for _, size := range few(2, pocket, desktop, small, landscape) {
				b.fitsOn(fmt.Sprintf("door-%s-%s%s", tag, system, door), size, "")
				for _, cut := range eval[[]string](b, `[...document.querySelectorAll(".what, .how, .way-in h2, .pictured h3, .pictured p, .way-in button")].filter((e) => e.checkVisibility() && (e.scrollWidth > e.clientWidth + 2 || e.matches(".what") && (e.offsetWidth > e.parentElement.clientWidth || e.offsetHeight > 1.6 * parseFloat(getComputedStyle(e).fontSize)))).map((e) => e.innerText)`) {
					t.Errorf("in %s on a %s there is no room for %q", tag, size.name, cut)
				}
			}
		}
	}
}
