package selection_test

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/selection"
)

// drawnSelection makes a choice on random pings by a random rule. It has limits, weights, full and
// favourite servers, jitter, losses and a last round's server.
func drawnSelection(random *rand.Rand) selection.Selection {
	servers, table, players := selection.Servers{Infos: map[int]*discovery.Info{}}, (*selection.Table)(nil), []string{}
	for i := range 1 + random.IntN(5) {
		players = append(players, fmt.Sprint("p", i))
	}
	n := 2 + random.IntN(8)
	table = selection.NewTable(players, n)
	for server := range n {
		servers.List = append(servers.List,
			discovery.Server{Addr: netip.AddrPortFrom(netip.AddrFrom4([4]byte{192, 0, 2, byte(server + 1)}), 27960)})
		servers.Infos[server] = &discovery.Info{Players: random.IntN(4), MaxPlayers: 4 + len(players)}
		for player := range players {
			table.Set(player, server, discovery.Answered, time.Duration(20_000+random.IntN(60_000))*time.Microsecond)
			if random.IntN(3) == 0 {
				table.SetQuality(player, server, selection.Quality{
					Loss:   float64(random.IntN(3)) / 4,
					Jitter: time.Duration(random.IntN(20)) * time.Millisecond,
				})
			}
		}
	}
	c := selection.Criteria{By: selection.Rules()[random.IntN(len(selection.Rules()))], Seats: len(players), Top: n}
	c.Limits = []time.Duration{time.Duration(40+random.IntN(80)) * time.Millisecond}
	if random.IntN(2) == 0 {
		c.Weights = map[string]float64{"p0": float64(random.IntN(4))}
	}
	if random.IntN(2) == 0 {
		c.Sides = drawnSides(random, players)
	}
	if random.IntN(2) == 0 {
		c.Spare = 2 * time.Millisecond
	}
	if random.IntN(3) == 0 {
		c.Keep = servers.List[random.IntN(n)].Addr
	}
	return selection.Select(servers, table, c)
}

var (
	figureInText = regexp.MustCompile(`(\d+\.\d) ms`)
	notInstead   = regexp.MustCompile(`(\d+\.\d) ms, not (\d+\.\d) ms`)
	thousands    = regexp.MustCompile(`(\d),(\d{3}\.\d ms)`)
)

// TestSentencesCompareRightly checks that the figures in a sentence that compares two servers are
// in the order that it says, whatever decided.
func TestSentencesCompareRightly(t *testing.T) {
	random := rand.New(rand.NewPCG(8, 8))
	compared := map[string]int{}
	for range 5000 {
		s := drawnSelection(random)
		if s.Chosen == nil {
			continue
		}
		if random.IntN(2) == 0 {
			s = s.Voted(s.Ranking[random.IntN(len(s.Ranking))].Server, 1, 2, false)
		}
		for _, line := range explained(s) {
			line = thousands.ReplaceAllString(line, "$1$2")
			for _, pair := range notInstead.FindAllStringSubmatch(line, -1) {
				a, _ := strconv.ParseFloat(pair[1], 64)
				b, _ := strconv.ParseFloat(pair[2], 64)
				isLower := strings.HasPrefix(line, "By the rule")
				compared[map[bool]string{true: "by the rule", false: "outweighed"}[isLower]]++
				if isLower && a >= b || !isLower && a <= b {
					t.Fatalf("%q of\n%s", line, strings.Join(explained(s), "\n"))
				}
			}
			_, than, isOther := strings.Cut(line, " has a lower average (")
			if figure := figureInText.FindStringSubmatch(than); isOther && figure != nil {
				compared["a lower average"]++
				if ms, _ := strconv.ParseFloat(figure[1], 64); ms > s.Chosen.MeanMS+0.05 {
					t.Fatalf("%q, where the chosen one has %.1f", line, s.Chosen.MeanMS)
				}
			}
			if strings.HasPrefix(line, "Next best is") && strings.Contains(line, "−") && !strings.Contains(line, "but") && s.Chosen.MeanMS > 0 {
				compared["next best, and lower by another measure"]++
				if next := s.Ranking[1]; s.By == selection.Mean && s.Decided.Measure == selection.Mean &&
					next.Addr != s.Chosen.Addr && next.MeanMS < s.Chosen.MeanMS-0.1 {
					t.Fatalf("%q of\n%s", line, strings.Join(explained(s), "\n"))
				}
			}
		}
	}
	t.Log(compared)
	if compared["by the rule"] < 100 || compared["outweighed"] < 100 {
		t.Errorf("%v sentences were compared: the test says little", compared)
	}
}
