package host_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/host"
	"muster/host/wire"
	"muster/internal/clock/clocktest"
)

// TestMatchIsPrivate plays a match up to its bans with real connections. It checks that pages and
// programs see nothing of another player's pings: neither in a state, nor in a trace, nor by
// asking.
func TestMatchIsPrivate(t *testing.T) {
	t.Parallel()
	settings := friday(4)
	settings.Match, settings.By = "bo1", "mean"
	h, server := serve(t, host.Config{List: listOf(6)})
	code, secret, _ := h.Open(settings)
	names := []string{"ann", "ben", "cat", "dan"}
	players, pages := map[string]*player{}, map[string]*page{"": openPage(t, server, code, "")}
	for i, name := range names {
		p := says(t, server, "", wire.Hello{Code: code, Name: name, Side: []wire.Side{wire.SideA, wire.SideB}[i%2]})
		welcome := expect[wire.Welcome](p)
		p.token, p.page = welcome.Token, welcome.Page
		players[name], pages[name] = p, openPage(t, server, code, welcome.Page)
	}
	pages["organiser"] = openPage(t, server, code, secret)
	pages["organiser"].until("the sides", func() bool {
		return strings.Contains(string(pages["organiser"].state["match"]), `"players":["ben","dan"]`)
	})
	ping := func(player, server int) time.Duration { // each occurs once, and is no average in whole ms
		return time.Duration(120+10*player+server)*time.Millisecond + 700*time.Microsecond
	}
	programs, texts := map[string]*wire.Snapshot{}, map[string]string{}
	for i, name := range names {
		p := players[name]
		programs[name] = &wire.Snapshot{}
		list := hears[wire.List](p, programs[name], func(text string) { texts[name] += text })
		hears[wire.Measure](p, programs[name], func(text string) { texts[name] += text })
		report, infos := wire.Report{Round: list.Round, Now: time.Second}, wire.Infos{Round: list.Round}
		for server := range list.Servers {
			report.Results = append(report.Results, discovery.Result{
				Server: server, State: discovery.Answered, RTT: ping(i, server), At: time.Duration(server) * 10 * time.Millisecond,
			})
			infos.Servers = append(infos.Servers, wire.ServerInfo{Server: server, Info: discovery.Info{Map: "oa_dm1", MaxPlayers: 16}})
		}
		p.Conn.Send(infos)
		p.Conn.Send(report)
		p.Conn.Send(wire.Done{Round: list.Round})
	}
	for i, name := range names {
		p := players[name]
		finalists := hears[wire.Finalists](p, programs[name], func(text string) { texts[name] += text })
		v := wire.Verified{Round: finalists.Round, Attempt: finalists.Attempt}
		for _, server := range finalists.Servers {
			ms := float64(ping(i, server).Microseconds()) / 1000
			v.Servers = append(v.Servers, wire.Finalist{Server: server, State: discovery.Answered, RTTs: []float64{ms}, Sent: 3})
		}
		p.Conn.Send(v)
	}
	turn := func(p *page) func() bool {
		return func() bool { return strings.Contains(string(p.state["match"]), `"turn"`) }
	}
	for reader, p := range pages {
		p.until("the first turn", turn(p))
		for section, text := range p.state {
			texts[reader] += section + ":" + string(text) + "\n"
		}
		if _, own := p.points[reader]; len(p.points) > 1 || len(p.points) == 1 && !own {
			t.Errorf("the page of %q has the traces of %v", reader, p.points)
		}
	}
	for _, name := range names { // programs, from their first state on
		program := programs[name]
		for program.Match == nil || program.Match.Turn == nil {
			hears[wire.Room](players[name], program, func(text string) { texts[name] += text })
		}
		if len(program.Own) == 0 {
			t.Errorf("%s's program has no own pings", name)
		}
		var own wire.Own
		if json.Unmarshal(pages[name].state["own"], &own); len(own) == 0 {
			t.Errorf("%s's page has no own pings: %s", name, pages[name].state["own"])
		}
	}
	for _, path := range []string{"/api/rooms/" + code, "/api/rooms/" + code + "/culled/over_threshold", "/api/rooms/" + code + "/matches"} {
		texts["anybody"] += get(t, server, path)
	}
	for reader, text := range texts {
		for i, name := range names {
			seen := 0
			for server := range 6 {
				figure := fmt.Sprintf("%.1f", float64(ping(i, server).Microseconds())/1000)
				seen += strings.Count(text, figure)
				if reader != name && strings.Contains(text, figure) {
					t.Errorf("%q is shown %s's ping to server %d, %s:\n%s", reader, name, server, figure, lineWith(text, figure))
				}
			}
			if reader == name && seen == 0 {
				t.Errorf("%s is shown none of their own", name)
			}
		}
	}
	status, answer := orders(t, server, code, "whatif", players["ann"].page, map[string]any{"by": "minimax"})
	if status != http.StatusConflict || !strings.Contains(fmt.Sprint(answer), "match-whatif") {
		t.Errorf("a what-if: %d %v", status, answer)
	}
	status, answer = orders(t, server, code, "settings", secret, map[string]any{"settings": map[string]any{"match": ""}})
	if status != http.StatusConflict || !strings.Contains(fmt.Sprint(answer), "match-begun") {
		t.Errorf("no match any more: %d %v", status, answer)
	}
}

// hears waits for the next message of a type, and merges the states before it into what the program
// knows.
func hears[M wire.Message](p *player, program *wire.Snapshot, said func(text string)) M {
	p.Helper()
	for {
		m := expect[wire.Message](p)
		if r, is := m.(wire.Room); is {
			if err := program.Merge(r); err != nil {
				p.Fatal(err)
			}
			for section, text := range r {
				said("program's " + section + ":" + string(text) + "\n")
			}
		}
		if wanted, is := m.(M); is {
			return wanted
		}
	}
}

// lineWith returns the line of a text that has a word.
func lineWith(text, word string) string {
	for line := range strings.Lines(text) {
		if strings.Contains(line, word) {
			return line
		}
	}
	return ""
}

// TestSideFlood checks that a page that changes sides 500 times in a moment fills neither the room's
// log nor its time.
func TestSideFlood(t *testing.T) {
	t.Parallel()
	settings := friday(0)
	settings.Match = "bo3"
	h, server := serve(t, host.Config{List: listOf(2), Clock: clocktest.Hold(noon).Clock()})
	code, secret, _ := h.Open(settings)
	mal, ann := enters(t, server, code, "mal", ""), join(t, server, code, "ann")
	p := openPage(t, server, code, secret)
	for _, bad := range []map[string]any{
		{"side": "c"}, {"side": 1}, {"side": "a", "name": "nobody"}, {"side": "a", "name": strings.Repeat("\u202e", 99)},
	} {
		if status, answer := orders(t, server, code, "side", secret, bad); status < 400 || status >= 500 {
			t.Errorf("%v: %d %v", bad, status, answer)
		}
	}
	refused := 0
	for i := range 500 {
		if status, _ := orders(t, server, code, "side", mal, map[string]any{"side": []string{"a", "b"}[i%2]}); status >= 400 {
			refused++
		}
	}
	if refused < 300 {
		t.Errorf("%d orders of 500 are refused", refused)
	}
	if status, answer := orders(t, server, code, "side", secret, map[string]any{"side": "b", "name": "ann"}); status >= 300 {
		t.Errorf("the organiser waits for mal: %d %v", status, answer)
	}
	p.until("ann's side", p.says("match", `"captain":"ann"`))
	const most = 2 // the first of mal's, who may change once in two seconds, and ann's
	if n := strings.Count(string(p.state["log"]), `"room.side"`); n > most {
		t.Errorf("the log has %d of them, more than %d", n, most)
	}
	ann.Conn.Close(nil)
}
