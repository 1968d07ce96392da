package lobby

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"muster/discovery"
	"muster/discovery/hostport"
	"muster/discovery/sentence"
	"muster/host/wire"
	"muster/internal/catalogue"
	"muster/internal/term"
)

// moveOf parses a line while a match's captains ban and pick: the number of a server or a map. It
// says what is wrong with the number of something that is not left. Other lines are no moves.
func moveOf(line string, room *wire.Snapshot) (word wire.Say, wrong sentence.Sentence, isMove bool) {
	if room.Match == nil || room.Match.Turn == nil {
		return word, wrong, false
	}
	turn := room.Match.Turn
	text := strings.TrimPrefix(strings.ToLower(strings.TrimSpace(line)), turn.Kind)
	n, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil {
		return word, wrong, false
	}
	word = wire.Say{Round: room.Room.Round, What: wire.SayMove, Number: turn.Number}
	left := numbersLeft(room.Match)
	switch {
	case !slices.Contains(left, n):
		texts := make([]string, len(left))
		for i, number := range left {
			texts[i] = strconv.Itoa(number)
		}
		return word, sentence.Of("term.turn-numbers", "numbers", texts), true
	case turn.Of == wire.OfMap:
		word.Map = room.Match.Maps[n-1].Name
	default:
		if word.Addr.AddrPort, err = hostport.Parse(room.Match.Servers[n-1].Addr); err != nil {
			return word, sentence.Of("term.vote-nowhere"), true
		}
	}
	return word, wrong, true
}

// numbersLeft returns the numbers of the servers or maps that a match's turn can be about. Each keeps
// its number, whatever is banned.
func numbersLeft(m *wire.Match) (numbers []int) {
	if m.Turn.Of == wire.OfMap {
		for i, one := range m.Maps {
			if one.Gone == 0 && one.Picked == 0 {
				numbers = append(numbers, i+1)
			}
		}
		return numbers
	}
	for i, one := range m.Servers {
		if one.Gone == 0 {
			numbers = append(numbers, i+1)
		}
	}
	return numbers
}

// leftTable shows what the captains can still ban or pick, with the reader's own ping and the
// averages of both sides.
func leftTable(l *catalogue.Language, s wire.Snapshot) *term.Table {
	m := s.Match
	if m.Turn.Of == wire.OfMap {
		t := &term.Table{Columns: []term.Column{term.Right(""), term.Left(l.Words("term.column-map"))}}
		for _, n := range numbersLeft(m) {
			t.Add(n, discovery.CleanText(m.Maps[n-1].Name))
		}
		return t
	}
	place, seats := l.Words("term.column-map"), l.Words("term.column-free")
	average := func(side wire.Side) term.Column {
		return term.Right(l.Words("match.average-of", "side", s.Room.Called(side)))
	}
	t := &term.Table{
		Columns: []term.Column{term.Right(""), term.Right(l.Words("term.column-you")), average(wire.SideA), average(wire.SideB),
			term.Left(l.Words("term.column-server")), term.Left(place), term.Right(seats)},
		Spare: []string{place, seats},
	}
	ping := func(ms float64) string {
		if ms == 0 {
			return term.None
		}
		return l.Words("unit.ms", "n", math.Round(ms))
	}
	for _, n := range numbersLeft(m) {
		one := m.Servers[n-1]
		name, free := discovery.CleanText(one.Name), ""
		if name == "" {
			name = one.Addr
		}
		switch {
		case one.MaxPlayers > 0:
			free = strconv.Itoa(max(0, one.MaxPlayers-one.Players))
		case one.Players > 0:
			free = "?"
		}
		t.Add(n, ping(s.Own[one.Addr]), ping(one.MeansMS[0]), ping(one.MeansMS[1]), name, strings.TrimSpace(one.Map+" "+one.Country), free)
	}
	return t
}

// turnInWords says whose move it is, and how long they have. own is the reader's name.
func turnInWords(s wire.Snapshot, own string, now time.Time) sentence.Sentence {
	turn := s.Match.Turn
	left := max(0, min(turn.Until.Sub(now), s.Room.TurnTime())).Round(time.Second) // the host's clock may differ
	var nth, captain sentence.Sentence
	with := []any{"nth", turn.Nth, "total", turn.Total, "side", s.Room.Called(turn.Side)}
	switch {
	case turn.Of == wire.OfMap && turn.Kind == wire.Pick:
		nth = sentence.Of("match.nth.pick-map", with...)
	case turn.Of == wire.OfMap:
		nth = sentence.Of("match.nth.ban-map", with...)
	case turn.Kind == wire.Pick:
		nth = sentence.Of("match.nth.pick-server", with...)
	default:
		nth = sentence.Of("match.nth.ban-server", with...)
	}
	switch {
	case turn.Captain != "" && turn.Captain == own:
		return sentence.Of("term.turn-yours", "nth", nth, "time", left)
	case turn.Captain != "" && turn.Kind == wire.Pick:
		captain = sentence.Of("match.captain.pick", "player", turn.Captain)
	case turn.Captain != "":
		captain = sentence.Of("match.captain.ban", "player", turn.Captain)
	case turn.Kind == wire.Pick:
		captain = sentence.Of("match.room.pick")
	default:
		captain = sentence.Of("match.room.ban")
	}
	return sentence.Of("term.turn", "captain", captain, "nth", nth, "time", left)
}

// evenInWords says which delays would make the reader's ping even with the others', and what the
// reader types for that in the game. It says nothing to people without a delay.
func evenInWords(l *catalogue.Language, s wire.Snapshot, own string) (lines []string) {
	delay, has := s.Match.Even[own]
	if !has || delay.SidesMS == 0 && delay.AllMS == 0 {
		return nil
	}
	ms := func(n int) sentence.Sentence { return sentence.Of("unit.ms", "n", n) }
	lines = append(lines, l.Words("term.even", "sides", ms(delay.SidesMS), "all", ms(delay.AllMS)))
	if s.Way == nil || s.Way.Delay == nil {
		return lines
	}
	how := s.Way.Delay
	for _, n := range slices.Compact([]int{delay.SidesMS, delay.AllMS}) {
		if n == 0 || how.MaxMS > 0 && n > how.MaxMS {
			continue
		}
		command := discovery.CleanText(strings.ReplaceAll(how.Command, "{ms}", strconv.Itoa(n)))
		if program := discovery.CleanText(how.Program); program != "" {
			lines = append(lines, l.Words("term.even-command-of", "program", program, "command", command))
		} else {
			lines = append(lines, l.Words("term.even-command", "command", command))
		}
	}
	return lines
}

// match is what a View has shown of a match.
type match struct{ turn, even string }

// showMatch prints what the captains can still ban or pick whenever the turn changes, and on the way
// to the server the delays for even pings.
func (n *View) showMatch(s wire.Snapshot) {
	if s.Match == nil || n.Help == nil {
		n.match = match{}
		return
	}
	if turn := s.Match.Turn; turn == nil {
		n.match.turn = ""
	} else if shown := fmt.Sprint(s.Room.Round, turn.Number, turn.Captain); shown != n.match.turn {
		n.match.turn = shown
		var table strings.Builder
		leftTable(n.Screen.Language, s).Write(term.Terminal{Writer: &table, Columns: n.Screen.Width()})
		n.Screen.Say("%s", strings.TrimSuffix(table.String(), "\n"))
		n.Screen.Say("%s", n.Screen.Wrap(n.Screen.Language.Say(turnInWords(s, n.name, time.Now())), 0))
	}
	if s.Way == nil {
		n.match.even = ""
		return
	}
	if shown := fmt.Sprint(s.Room.Round, s.Match.Even[n.name]); shown != n.match.even {
		n.match.even = shown
		for _, line := range evenInWords(n.Screen.Language, s, n.name) {
			n.Screen.Say("%s", n.Screen.Faint(n.Screen.Wrap(line, 0)))
		}
	}
}
