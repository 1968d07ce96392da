package law

import (
	"slices"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/internal/catalogue"
	"muster/selection/rules"
)

const ms = time.Millisecond

// known returns a law that comes with Muster.
func known(t testing.TB, name string) *Law {
	t.Helper()
	for _, l := range All() {
		if l.Name == name {
			return l
		}
	}
	t.Fatalf("no law %s", name)
	return nil
}

// sides returns players with these pings in ms, who have them as their best, too.
func sides(a, b []int) (players []Player) {
	for side, pings := range map[rules.Side][]int{rules.SideA: a, rules.SideB: b} {
		for _, ping := range pings {
			players = append(players, Player{Side: side, Ping: time.Duration(ping) * ms})
		}
	}
	return players
}

// duel returns two players with these pings in ms, and their best ones.
func duel(a, bestA, b, bestB int) []Player {
	players := sides([]int{a}, nil)
	players = append(players, sides(nil, []int{b})...)
	players[0].Best, players[1].Best = time.Duration(bestA)*ms, time.Duration(bestB)*ms
	return players
}

// TestExamples checks what the leagues themselves give as examples.
func TestExamples(t *testing.T) {
	quake, duelmania := known(t, "quake-challengers"), known(t, "duelmania")
	for _, tt := range []struct {
		name    string
		servers []Server
		home    string
	}{
		{"85 in Virginia, 50 in London", []Server{{Name: "Virginia", Players: sides([]int{100}, []int{15})},
			{Name: "London", Players: sides([]int{75}, []int{25})}}, "London"},
		{"50 in both, and the smaller sum", []Server{{Name: "EU", Players: sides([]int{120}, []int{70})},
			{Name: "NA", Players: sides([]int{50}, []int{100})}}, "NA"},
	} {
		for _, s := range tt.servers {
			if len(quake.Judge(s.Players)) != 1 {
				t.Errorf("%s: %s keeps the law", tt.name, s.Name)
			}
		}
		order, said := quake.Decide(tt.servers, 0)
		says := strings.Join(catalogue.InEnglish().SayAll(said), " ")
		if tt.servers[order[0]].Name != tt.home || !strings.Contains(says, tt.home+" is home, for two of three maps") {
			t.Errorf("%s: %v, %s", tt.name, order, says)
		}
	}
	for name, players := range map[string][]Player{
		"Finland and Sweden, 13 and 13 at best, in Sweden by a minping of 26":        duel(26, 13, 13, 13),
		"the Netherlands and Sweden, 26 and 13 at best, in Denmark by one of 39":     duel(39, 26, 26, 13),
		"the Netherlands and Sweden, where both have 39 without a minping":           duel(39, 26, 39, 13),
		"one who has 20 more than the clip at best, and 20 more here":                duel(80, 59, 60, 13),
		"one who has 20 more than the clip at best, and 20 more by a minping of 39":  duel(59, 59, 13, 13),
		"the best pings are not known, and so what they have here":                   duel(80, 0, 60, 0),
		"the same from the other side":                                               duel(13, 13, 59, 59),
		"one who has 20 more than the clip at best, and 20 more by a minping of 24.": duel(44, 59, 10, 13),
	} {
		if breaks := duelmania.Judge(players); len(breaks) > 0 {
			t.Errorf("%s: %v", name, breaks)
		}
	}
}

// TestJudge checks the limits of the known laws, at the limit and beside it, and lows without minpings.
func TestJudge(t *testing.T) {
	if got := (&Law{}).Figure(Lows, sides([]int{60, 90}, []int{70, 71})); got != 10*ms {
		t.Errorf("the lows are %v apart", got)
	}
	if got := (&Law{Rules: []Rule{{Clip: discovery.Millis(39 * ms)}}}).Figure(ClippedLows, duel(26, 13, 13, 13)); got != 13*ms {
		t.Errorf("without a minping their difference changes by %v", got)
	}
	for _, tt := range []struct {
		law     string
		players []Player
		want    string
	}{
		{"faceit-league", sides([]int{20, 30}, []int{50, 50}), ""},
		{"faceit-league", sides([]int{20, 30}, []int{50, 51}), "FACEIT League by 0.5 ms: the sides’ averages are 25.5 ms apart."},
		{"eql", sides([]int{99}, nil), ""},
		{"duelmania", sides(nil, []int{99}), ""},
		{"quake-challengers", sides([]int{20}, []int{49}), ""},
		{"quake-challengers", sides([]int{20}, []int{50}), "by 0.0 ms: the sides’ averages are 30.0 ms apart."},
		{"getquad", sides([]int{20, 20}, []int{21, 23}), ""},
		{"getquad", sides([]int{20, 20}, []int{22, 23}), "by 0.5 ms"},
		{"na-draft", sides([]int{20}, []int{300}), ""},
		{"125fps", sides([]int{20, 65}, []int{40}), ""},
		{"125fps", sides([]int{20}, []int{66, 40}), "125fps by 1.0 ms: the highest ping is 66.0 ms. “Nobody plays with a ping over 65 ms.”"},
		{"eql", sides([]int{13, 13}, []int{51, 90}), ""},                                               // up to 51 they may ask for it
		{"eql", sides([]int{13, 13}, []int{53, 90}), "by 1.0 ms: the sides’ lowest pings stay 2.0 ms"}, // 53 and 51
		{"eql", sides([]int{60, 61}, []int{59, 90}), ""},                                               // the lowest is theirs
		{"eql", sides([]int{60}, []int{60}), ""},
		{"duelmania", duel(42, 13, 13, 13), "by 2.0 ms: the difference between the sides’ lowest pings changes by 3.0 ms."},
		{"duelmania", duel(40, 59, 40, 13), "changes by 20.0 ms"},
	} {
		breaks := known(t, tt.law).Judge(append(tt.players, Player{Name: "a caster", Ping: 999 * ms}))
		got := ""
		for _, b := range breaks {
			got += catalogue.InEnglish().Say(b.Sentence(known(t, tt.law).League, "10.0.0.1:1"))
		}
		if (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
			t.Errorf("%s, %v: %q, want %q", tt.law, tt.players, got, tt.want)
		}
	}
}

// TestDecide checks what each law says where no server keeps it.
func TestDecide(t *testing.T) {
	at := func(place string, a, b int) Server { return Server{place, place, sides([]int{a}, []int{b})} }
	far := []Server{at("US", 200, 299), at("RU", 160, 200), at("DE", 100, 200), at("SE", 160, 180), at("FR", 170, 175)}
	near := []Server{at("US", 120, 170), at("DE", 100, 151), at("SE", 100, 152)}
	for _, tt := range []struct {
		name    string
		law     Law
		servers []Server
		order   []int
		says    string
	}{
		{"places first, then the difference", *known(t, "125fps"), far, []int{2, 3, 1, 4, 0}, "No server that suits everyone keeps the law of 125fps, so its own order decides: “Otherwise it is a server in Germany"},
		{"the fairest", *known(t, "faceit-league"), far, []int{4, 3, 1, 0, 2}, "An admin of the league has the last word."},
		{"no limit", *known(t, "na-draft"), far, []int{4, 3, 1, 0, 2}, "has no limit, so its own order decides"},
		// 51 ties with 50 and has the lower sum. 52 would tie with 51 alone, and that is gone.
		{"ties are with the best that is left", *known(t, "quake-challengers"), near, []int{1, 0, 2}, "DE is home, for two of three maps, and US is away, for one."},
		{"home without an away", *known(t, "quake-challengers"), near[:1], []int{0}, "its own order decides"},
		{"a blind veto", Law{Order: Order{By: []Step{{Least: Worst}}}, Disagreement: Disagreement{Way: Veto}}, far, []int{4, 3, 1, 2, 0},
			"Each side strikes one of these without seeing the other’s choice: FR, SE and RU."},
		{"in turn", Law{Order: Order{By: []Step{{Least: Mean}}}, Disagreement: Disagreement{Way: Alternate}}, far[:2], []int{1, 0}, "The sides take turns"},
		{"as good keeps its place", Law{Order: Order{By: []Step{{Least: Worst}}}}, []Server{at("B", 10, 20), at("A", 20, 10)}, []int{0, 1}, ""},
		{"none", *known(t, "eql"), nil, nil, ""},
	} {
		order, said := tt.law.Decide(tt.servers, 0)
		says := strings.Join(catalogue.InEnglish().SayAll(said), " ")
		if !slices.Equal(order, tt.order) || !strings.Contains(says, tt.says) {
			t.Errorf("%s: %v, %s; want %v, %s", tt.name, order, says, tt.order, tt.says)
		}
	}
}
