package trust

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/host/room/people"
	"muster/selection"
)

// TestJudge checks that players are left out whose numbers fit nobody else's, as long as they are
// the minority.
func TestJudge(t *testing.T) {
	same := func(int) int { return 9999 }
	favourite := but(func(server int) int {
		if server == 19 {
			return 1
		}
		return 9999
	})
	slow := func(is func(server int) bool) func(player, server int) int {
		return but(func(server int) int {
			if is(server) {
				return honest(dan, server) + 1000
			}
			return honest(dan, server)
		})
	}
	for _, of := range []struct {
		name    string
		players []people.ID
		rtt     func(player, server int) int
		vouched bool
		leftOut []people.ID
		note    string
	}{
		{"all are honest", four, honest, false, nil, ""},
		{"one ping for all servers", four, but(same), false, []people.ID{"dan"},
			"dan reports the same ping for 20 of 20 servers: that doesn’t count in the choice"},
		{"and a low one", four, favourite, false, []people.ID{"dan"},
			"dan reports the same ping for 19 of 19 servers: that doesn’t count in the choice"},
		{"the organiser vouches", four, favourite, true, nil, ""},
		{"one of two", []people.ID{"cat", "dan"}, func(player, server int) int { return []int{honest(0, server), 9999}[player] }, false, nil, ""},
		{"slow to what is far", four, slow(func(server int) bool {
			return server >= 9
		}), false, nil, "dan’s pings for 11 of 20 servers don’t fit anyone else’s: that counts as long as the others lose little by it"},
		{"slow to all that is near", four, slow(func(server int) bool {
			return server < 10
		}), false, []people.ID{"dan"}, "dan’s pings for 10 of 20 servers don’t fit anyone else’s: that doesn’t count in the choice"},
		{"slow to nearly everything", four, slow(func(server int) bool {
			return server >= 3
		}), false, []people.ID{"dan"}, "dan’s pings for 17 of 20 servers don’t fit anyone else’s: that doesn’t count in the choice"},
	} {
		var d Doubts
		if of.vouched {
			d.Vouch("dan")
		}
		b := world(20, of.players, of.rtt)
		v := d.Judge(b, of.players, Measured)
		if !slices.Equal(v.LeftOut, of.leftOut) || strings.Join(texts(v.Notes), "\n") != of.note {
			t.Errorf("%s: left out are %v: %q", of.name, v.LeftOut, v.Notes)
		}
		for _, player := range of.players {
			if d.IsExcluded(player) != slices.Contains(of.leftOut, player) {
				t.Errorf("%s: %s is excluded: %v", of.name, player, d.IsExcluded(player))
			}
		}
		if len(of.leftOut) == 0 {
			if again := d.Judge(b, of.players, Measured); len(again.Notes) > 0 {
				t.Errorf("%s: said again is %q", of.name, again.Notes)
			}
		}
	}
}

// TestJudgeSlow checks that a player counts whose pings are explained by a slow line. The player
// does not count if everybody would be better off with pings as long as the others' results allow.
// A search that continues may find otherwise.
func TestJudgeSlow(t *testing.T) {
	// Dan has 20 ms to the first server, and the others have 60. They have 10 to the second, where
	// he says 210 although theirs allow 138.
	line := func(player, server int) int {
		switch {
		case player == dan && server == 0:
			return 20
		case player == dan:
			return 10*server + 203
		case server == 0:
			return 60 + player
		}
		return 10*server + player
	}
	slow := "dan’s pings for 19 of 20 servers are higher than everyone else’s can explain, as on a slow line: "
	for _, of := range []struct {
		name   string
		by     selection.Rule
		limit  time.Duration
		at     Moment
		isLeft bool
		note   string
	}{
		{"60 ms in place of 138", selection.Minimax, 0, Measured, false, slow + "that counts as long as the others lose little by it"},
		{"50 ms in place of 42", selection.Mean, 0, Measured, true, slow + "that doesn’t count in the choice"},
		{"the search goes on", selection.Mean, 0, Searching, false, ""},
		{"the search is over", selection.Mean, 0, Found, true, slow + "that doesn’t count in the choice"},
		{"nothing suits dan", selection.Mean, 15 * ms, Measured, true, slow + "that doesn’t count in the choice"},
		{"nothing suits dan so far", selection.Mean, 15 * ms, Found, false, slow + "that counts as long as the others lose little by it"},
		{"only the first suits all", selection.Mean, 70 * ms, Measured, false, slow + "that counts as long as the others lose little by it"},
	} {
		b := world(20, four, line)
		if b.Criteria.By = of.by; of.limit > 0 {
			b.Criteria.Limits = append(b.Criteria.Limits, of.limit)
		}
		for server := range b.Servers.List { // servers of one network
			b.Servers.List[server].Addr = netip.AddrPortFrom(netip.AddrFrom4([4]byte{192, 0, 2, byte(server)}), 27960)
		}
		var d Doubts
		v := d.Judge(b, four, of.at)
		if len(v.LeftOut) > 0 != of.isLeft || strings.Join(texts(v.Notes), "\n") != of.note {
			t.Errorf("%s: left out are %v: %q", of.name, v.LeftOut, v.Notes)
		}
	}
}

// TestJudgeThoseBefore checks that players who were left out earlier count among the players who
// may be wrong.
func TestJudgeThoseBefore(t *testing.T) {
	d := doubted() // bob is left out
	b := world(20, []people.ID{"ann", "cat", "dan"}, func(player, server int) int {
		return []int{honest(0, server), honest(1, server), 9999}[player]
	})
	if v := d.Judge(b, four, Measured); len(v.LeftOut) > 0 {
		t.Errorf("two of four are left out: %q", v.Notes)
	}
	if v := d.Judge(b, append([]people.ID{"eve"}, four...), Measured); len(v.LeftOut) > 0 {
		t.Errorf("of those who have measured two are left out: %q", v.Notes)
	}
	d.Forget("bob")
	if v := d.Judge(b, four, Measured); !slices.Equal(v.LeftOut, []people.ID{"dan"}) {
		t.Errorf("left out are %v: %q", v.LeftOut, v.Notes)
	}
}

// TestJudgeServers checks that a server that makes neighbours of all players is left out once, even
// from the test whether odd numbers do harm.
func TestJudgeServers(t *testing.T) {
	places := []int{0, 60, 120, 180}
	b := world(20, four, func(player, server int) int {
		if server == 7 {
			return 1
		}
		return 5 + max(places[player]-10*server, 10*server-places[player])
	})
	b.Servers.Infos[7].Name = "liar"
	var d Doubts
	v := d.Judge(b, four, Measured)
	if want := []string{"liar (20.7.0.1:27960) answers players who are far apart as if it were next door to each: " +
		"it’s left out"}; !slices.Equal(texts(v.Notes), want) || len(v.LeftOut) > 0 {
		t.Errorf("said is %q, and left out are %v", v.Notes, v.LeftOut)
	}
	if got := d.Blacklist(&b.Servers); len(got) != 1 || got[0].String() != "20.7.0.1/32" || len(b.Criteria.Blacklist) > 0 {
		t.Errorf("left out are %v, and the basis has %v", got, b.Criteria.Blacklist)
	}
	if again := d.Judge(b, four, Measured); len(again.Notes) > 0 {
		t.Errorf("said again is %q", again.Notes)
	}
	d = Doubts{}
	if d.judgeServers(&b, &Verdict{}); len(b.Criteria.Blacklist) != 1 {
		t.Errorf("what tells of harm leaves out %v", b.Criteria.Blacklist)
	}
}

// TestJudgeTwo checks that the harm of odd numbers is measured among the players who count.
func TestJudgeTwo(t *testing.T) {
	var d Doubts
	v := d.Judge(world(20, append([]people.ID{"eve", "fay"}, four...), func(player, server int) int {
		switch {
		case player == 0:
			return lost
		case player == 5 && server < 10:
			return honest(player, server) + 1000
		}
		return honest(player, server)
	}), append([]people.ID{"eve", "fay"}, four...), Measured)
	if !slices.Equal(v.LeftOut, []people.ID{"eve", "dan"}) {
		t.Errorf("left out are %v: %q", v.LeftOut, v.Notes)
	}
}
