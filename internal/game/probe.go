package game

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"muster/discovery"
)

// QueryMethod is one way to ask a server that nobody listed. See [Table.QueryMethods].
type QueryMethod struct {
	Protocol string
	// Above is the entry's query_above: how far above the players' port servers are asked.
	Above uint16
	// Shift is how far above the given port the entry's port lies. People often know only the port
	// for players of a game on Steam, and many servers are asked at the next port.
	Shift uint16
}

// QueryMethods returns every way to ask a server at a port that a game of the table uses, some fifty. The ways of most games come
// first. Plain TCP comes last, because it only learns that somebody answers.
func (t Table) QueryMethods(port uint16) []QueryMethod {
	const least = "tcp"
	games := map[QueryMethod]int{{Protocol: "a2s", Shift: 1}: 0}
	for _, name := range protocols {
		games[QueryMethod{Protocol: name}] = 0
	}
	for _, g := range t.games {
		games[QueryMethod{Protocol: g.ProtocolName, Above: g.QueryAbove}]++
	}
	games[QueryMethod{Protocol: least}] = -1
	ways := slices.SortedFunc(maps.Keys(games), func(a, b QueryMethod) int {
		return cmp.Or(cmp.Compare(games[b], games[a]), cmp.Compare(a.Protocol, b.Protocol), cmp.Compare(a.Above, b.Above),
			cmp.Compare(a.Shift, b.Shift))
	})
	return slices.DeleteFunc(ways, func(w QueryMethod) bool {
		return int(port)+int(w.Above)+int(w.Shift) > math.MaxUint16 || w.queryPort(port) < port // a port above the last one
	})
}

func (w QueryMethod) protocol() discovery.Protocol { return w.Game().Protocol() }

// Game returns a game whose servers are asked in this way.
func (w QueryMethod) Game() Game { return Game{ProtocolName: w.Protocol, QueryAbove: w.Above} }

// Port returns the port in the entry, for a server at the given port.
func (w QueryMethod) Port(given uint16) uint16 { return given + w.Shift }

// queryPort returns the port that is asked, 0 for none.
func (w QueryMethod) queryPort(given uint16) uint16 {
	if aside, is := w.protocol().(discovery.Aside); is {
		return aside.QueryPort(w.Port(given))
	}
	return w.Port(given)
}

// IsTCP reports whether servers are asked over a TCP connection in place of UDP packets.
func (w QueryMethod) IsTCP() bool {
	_, is := w.protocol().(discovery.Stream)
	return is
}

// Questions is what a probe sends to an address before anything answers.
type Questions struct {
	Protocols            int
	Packets, Connections int
	Ports                []string // in order
}

// Count returns what the ways send to the address of a given port, each UDP question tries times.
func Count(ways []QueryMethod, given uint16, tries int) Questions {
	var q Questions
	var names []string
	var ports []int
	for _, w := range ways {
		names, ports = append(names, w.Protocol), append(ports, int(w.queryPort(given)))
		if w.IsTCP() {
			q.Connections++
		} else {
			q.Packets += tries
		}
	}
	slices.Sort(names)
	slices.Sort(ports)
	q.Protocols = len(slices.Compact(names))
	for _, port := range slices.Compact(ports) {
		q.Ports = append(q.Ports, strconv.Itoa(port))
	}
	return q
}

// Answer is what a server said when it was asked in one way. Info may be nil.
type Answer struct {
	Method QueryMethod
	Info   *discovery.Info
}

// In returns the answer as one in a way; nil stays nil.
func (a *Answer) In(w QueryMethod) *Answer {
	if a == nil {
		return nil
	}
	return &Answer{Method: w, Info: a.Info}
}

// IsNamed reports whether there is an answer, and it has the server's name.
func (a *Answer) IsNamed() bool { return a != nil && a.Info != nil && a.Info.Name != "" }

// Best returns the answer that tells most: a server's name, else its seats, else any. Of equal ones the first counts.
func Best(answers []Answer) (Answer, bool) {
	told := func(a Answer) int {
		switch {
		case a.IsNamed():
			return 2
		case a.Info != nil && a.Info.MaxPlayers > 0:
			return 1
		}
		return 0
	}
	if len(answers) == 0 {
		return Answer{}, false
	}
	return slices.MaxFunc(answers, func(a, b Answer) int { // of equal ones it returns the first
		return cmp.Compare(told(a), told(b))
	}), true
}

// Known returns the games of the table that a server may be of by its answer: those with its id on Steam, or those that
// alone speak its protocol.
func (t Table) Known(a Answer) (games []Game) {
	isOnSteam := a.Info != nil && a.Info.AppID != 0
	for _, g := range t.games {
		speaks := g.ProtocolName == a.Method.Protocol && g.QueryAbove == a.Method.Above
		if isOnSteam && uint64(g.AppID) == a.Info.AppID || !isOnSteam && speaks {
			games = append(games, g)
		}
	}
	const few = 3 // more games than this are an engine's
	if len(games) > few || a.Method.Protocol == "tcp" {
		return nil
	}
	return games
}

// NewID returns an id for a game that a server is of: by what the server says of itself, or a general one.
func NewID(a Answer) string {
	if a.Info != nil {
		if id := strings.Join(wordsOf(a.Info.Mod), ""); isID(id) && unicode.IsLetter([]rune(id)[0]) {
			return id
		}
	}
	return "mygame"
}

// EntryOf returns an entry of games.toml for the game of a server that answered at the given port. remark says where the
// entry comes from.
func EntryOf(id string, a Answer, given uint16, remark string) string {
	var b strings.Builder
	line := func(format string, values ...any) { fmt.Fprintf(&b, format+"\n", values...) }
	line("# %s", discovery.CleanText(remark))
	line("[game.%s]", id)
	line("name = %q", id)
	line("protocol = %q", a.Method.Protocol)
	line("port = %d", a.Method.Port(given))
	if a.Method.Above != 0 {
		line("query_above = %d", a.Method.Above)
	}
	isOnSteam := a.Method.Protocol == "a2s" && a.Info != nil && a.Info.AppID > 0 && a.Info.AppID <= math.MaxUint32
	if isOnSteam {
		line("app_id = %d", a.Info.AppID)
		line(`launch = ["steam://connect/{query}{/password}"]`)
	} else {
		line("# What starts it, if something does: a program and its arguments, or one link.")
		line(`# launch = ["%s", "{address}"]`, id)
	}
	return b.String()
}

// Append returns a user's table with one more entry. It refuses an entry that the table has, and a table that is not sound.
func Append(table, id, entry, name string) (string, error) {
	old, err := Check(strings.NewReader(table), name)
	if err != nil {
		return "", err
	}
	if slices.Contains(old, id) {
		return "", &FileError{File: name, Line: lineOf(table, id, "", 0), Err: fmt.Errorf("game %q is there already", id)}
	}
	if table != "" {
		table = strings.TrimRight(table, "\n") + "\n\n"
	}
	table += entry
	_, err = Check(strings.NewReader(table), name)
	return table, err
}
