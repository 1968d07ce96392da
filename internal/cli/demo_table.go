package cli

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"time"

	"muster/discovery"
	"muster/host/wire"
	"muster/internal/sim"
	"muster/internal/sim/fleet"
	"muster/selection"
)

// evening is all that could have been measured in the demo: the world's own
// round trips, of which the players saw a part, with jitter.
type evening struct {
	players []string
	servers selection.Servers
	table   *selection.Table
}

func eveningOf(world *sim.World, fleet *fleet.Fleet) evening {
	e := evening{players: demoNames[:len(world.Places)], servers: selection.Servers{List: fleet.Servers()}}
	e.table = selection.NewTable(e.players, len(world.Servers))
	for server := range world.Servers {
		s := &world.Servers[server]
		e.servers.Infos = append(e.servers.Infos, &s.Info)
		for place := range e.players {
			state := discovery.Answered
			if s.Silent || s.Refusing {
				state = discovery.Lost
			}
			e.table.Set(place, server, state, world.RTT(place, server))
		}
	}
	return e
}

// saved says what looking together has saved.
func saved(room wire.Room) string {
	asked, listed := askedEach(room), thousands(room.Listed)
	text := fmt.Sprintf("%s, %s servers: %s probes each", some(len(room.Members), "player"), listed, thousands(asked))
	if asked < room.Listed {
		text += " instead of " + listed
	}
	return text
}

// thousands is a number as people read it.
func thousands(n int) string {
	if n < 1000 {
		return strconv.Itoa(n)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1000), n%1000)
}

// tell prints the chosen server, what everyone would have got elsewhere, and
// how the group would have fared by hand.
func (d *demo) tell(room wire.Room, e evening, took time.Duration) error {
	if d.json {
		return json.NewEncoder(d.streams.Out).Encode(room.Selection)
	}
	out, columns := d.streams.Out, width(d.streams.Out)
	chosen := room.Selection.Chosen.Addr
	fmt.Fprintf(out, "\n%s\n\n", d.style(out).bold("Everyone to "+room.Server))
	e.elsewhere(chosen).write(out, columns)
	fmt.Fprintln(out)
	e.byHand(chosen, took).write(out, columns)
	return nil
}

// elsewhere compares the chosen server with each player's favourite.
func (e evening) elsewhere(chosen netip.AddrPort) *table {
	t := &table{columns: []column{{"RTT IN MS AT", left}}}
	for _, name := range e.players {
		t.columns = append(t.columns, column{name, right})
	}
	t.columns = append(t.columns, column{"average", right})
	t.add(e.row("the chosen server", chosen)...)
	for _, name := range e.players {
		t.add(e.row(name+"'s favourite", e.favourite(name))...)
	}
	return t
}

// favourite is the server that one player would choose for all.
func (e evening) favourite(name string) netip.AddrPort {
	wish := e.wish()
	wish.Weights = make(map[string]float64)
	for _, other := range e.players {
		wish.Weights[other] = 0
	}
	wish.Weights[name] = 1
	if best := selection.Select(e.servers, e.table, wish).Chosen; best != nil {
		return best.Addr
	}
	return netip.AddrPort{}
}

func (e evening) wish() selection.Criteria {
	return selection.Criteria{By: selection.Mean, Seats: len(e.players), NoPassword: true, Top: 1}
}

// row is what each player has to a server, and the average.
func (e evening) row(title string, server netip.AddrPort) []string {
	row := []string{title}
	for _, rtt := range e.rtts(server) {
		row = append(row, fmt.Sprintf("%.0f", rtt))
	}
	return append(row, fmt.Sprintf("%.0f", mean(e.rtts(server))))
}

// rtts are the players' RTTs to a server in milliseconds.
func (e evening) rtts(server netip.AddrPort) []float64 {
	at := slices.IndexFunc(e.servers.List, func(s discovery.Server) bool { return s.Addr == server })
	rtts := make([]float64, len(e.players))
	for player := range rtts {
		if at >= 0 {
			_, rtt := e.table.At(player, at)
			rtts[player] = float64(rtt) / 1e6
		}
	}
	return rtts
}

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// topChoices is how many servers each player proposes; see [selection.ManualFirst].
const topChoices = 20

// byHand is Table 3 of MUSST: what people reach who look servers up themselves,
// a second each.
func (e evening) byHand(chosen netip.AddrPort, took time.Duration) *table {
	best := selection.ManualBest(e.servers, e.table, e.wish())
	first := selection.ManualFirst(e.servers, e.table, e.wish(), topChoices)
	t := &table{columns: []column{{"CHOSEN", left}, {"AVERAGE", right}, {"TIME", right}}}
	t.add("by Muster", fmt.Sprintf("%.0f ms", mean(e.rtts(chosen))), seconds(took))
	t.add("by hand, after looking at all servers", manualMean(best), seconds(best.Time))
	t.add(fmt.Sprintf("by hand, among each player's %d nearest", topChoices), manualMean(first), seconds(first.Time))
	return t
}

func manualMean(m selection.Manual) string {
	if m.Chosen == nil {
		return "none"
	}
	return fmt.Sprintf("%.0f ms", m.Chosen.MeanMS)
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.0f s", d.Seconds()) }
