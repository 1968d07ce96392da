package lobby

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"muster/discovery"
	"muster/host/wire"
	"muster/internal/term"
	"muster/selection"
)

// voter turns the lines that a player types during a vote into votes.
type voter struct {
	// says carries the votes to the player's program.
	says chan wire.Say
	// room is the newest state of the room, nil while the player is in none.
	room atomic.Pointer[wire.Snapshot]
}

// wordsAtOnce is how many votes may wait while the program is busy.
const wordsAtOnce = 8

func newVoter() *voter { return &voter{says: make(chan wire.Say, wordsAtOnce)} }

// typed handles a line that was typed unasked, and reports whether it was for the vote. Enter alone
// is not. say tells the player what is wrong with the line.
func (v *voter) typed(line string, say func(string)) bool {
	room := v.room.Load()
	if line == "" || room == nil {
		return false
	}
	if word, is := ofMeeting(line, room); is {
		v.say(word)
		return true
	}
	if keys := keysOfMeeting(room.Meeting); keys != "" && slices.Contains([]string{"help", "?"},
		strings.ToLower(strings.TrimSpace(line))) {
		if say(keys); room.Voting.Open {
			say(keysOfVote)
		}
		return true
	}
	if !room.Voting.Open {
		return false
	}
	word, wrong := wordOf(line, room)
	if wrong != "" {
		say(wrong)
		return true
	}
	v.say(word)
	return true
}

func (v *voter) say(word wire.Say) {
	select {
	case v.says <- word:
	default: // nobody types that fast
	}
}

// keysOfVote says what a player can type during a vote.
const keysOfVote = "type a number to vote (0 takes it back), v and a number to veto (v3), r when you " +
	"are ready, w to wait"

// wordOf parses a line during a vote, or says what is wrong with it.
func wordOf(line string, room *wire.Snapshot) (word wire.Say, wrong string) {
	word.Round = room.Room.Round
	what := strings.ToLower(strings.TrimSpace(line))
	number, isVeto := strings.CutPrefix(what, "v")
	word.What = wire.SayVote
	switch {
	case what == "r" || what == "ready":
		word.What = wire.SayReady
		return word, ""
	case what == "w" || what == "wait":
		word.What = wire.SayWait
		return word, ""
	case what == "0":
		return word, ""
	case isVeto:
		word.What, number = wire.SayVeto, strings.TrimPrefix(number, "eto")
	}
	n, err := strconv.Atoi(strings.TrimSpace(number))
	if err != nil {
		return word, keysOfVote
	}
	place := slices.Index(numbersOf(room.Voting), n)
	if place < 0 {
		return word, "the candidates are " + numbersInWords(room.Voting)
	}
	if word.Addr, err = netip.ParseAddrPort(room.Voting.Ballot[place]); err != nil {
		return word, "the host does not say where that is"
	}
	return word, ""
}

// numbersInWords lists the candidates' numbers: "1 to 4", "1, 3, 6".
func numbersInWords(v wire.Voting) string {
	numbers := numbersOf(v)
	slices.Sort(numbers)
	last := len(numbers) - 1
	if last > 0 && numbers[last]-numbers[0] == last {
		return fmt.Sprintf("%d to %d", numbers[0], numbers[last])
	}
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(numbers), " ", ", "), "[]")
}

// numbersOf returns the candidates' numbers, in the order of the ballot.
func numbersOf(v wire.Voting) (numbers []int) {
	for i := range v.Ballot {
		numbers = append(numbers, v.Number(i))
	}
	return numbers
}

// Candidate is a server on the ballot.
type Candidate struct {
	// number is the candidate's number in this round.
	number int
	selection.Ranked
	card wire.ServerCard
	name string
	// without are the players who have no ping there.
	without []string
}

// Candidates returns the servers on the ballot, in the order of their numbers.
func Candidates(s wire.Snapshot) (all []Candidate) {
	if s.Choice == nil {
		return nil
	}
	for i, addr := range s.Voting.Ballot {
		at := slices.IndexFunc(s.Choice.Selection.Ranking, func(r selection.Ranked) bool { return r.Addr.String() == addr })
		c := Candidate{number: s.Voting.Number(i), name: addr}
		if at >= 0 {
			c.Ranked = s.Choice.Selection.Ranking[at]
		}
		if c.card = s.Choice.Servers[addr]; c.card.Name != "" {
			c.name = discovery.CleanText(c.card.Name)
		}
		for _, p := range s.Players() {
			if _, has := c.RTT[p.Name]; !has {
				c.without = append(c.without, p.Name)
			}
		}
		all = append(all, c)
	}
	return all
}

// ballotTable shows the candidates, the reader's own ping first. own is empty if nobody plays here.
func ballotTable(s wire.Snapshot, own string) *term.Table {
	const server, place, everyone = "SERVER", "MAP", "EVERYONE"
	t := &term.Table{
		Columns: []term.Column{term.Right(""), term.Right("YOU"), term.Right("AVERAGE"), term.Left(server),
			term.Left(place), term.Right("FREE"), term.Left(everyone)},
		Spare: []string{place, "FREE"},
	}
	for _, c := range Candidates(s) {
		you := ""
		if rtt, has := c.RTT[own]; has {
			you = fmt.Sprintf("%.0f ms", rtt)
		} else if slices.Contains(c.without, own) {
			you = "no ping"
		}
		var pings []string
		for _, name := range c.without { // this must not be cut off
			if name != own {
				pings = append(pings, name+" has no ping")
			}
		}
		for _, p := range s.People { // of the guests only those who are counted in
			if rtt, has := c.RTT[p.Name]; has && p.Name != own {
				mark := ""
				if _, estimated := s.Choice.Selection.Estimated[p.Name]; estimated {
					mark = "≈ "
				}
				pings = append(pings, fmt.Sprintf("%s %s%.0f", p.Name, mark, rtt))
			}
		}
		free, where := "", c.card.Map
		if c.card.MaxPlayers > 0 {
			free = strconv.Itoa(max(0, c.card.MaxPlayers-c.card.Players))
		}
		if c.card.Country != "" {
			where = strings.TrimSpace(where + " " + c.card.Country)
		}
		name := c.name
		if c.Ours {
			name = "♥ " + name
		}
		t.Add(c.number, you, fmt.Sprintf("%.0f ms", c.MeanMS), name, where, free, strings.Join(pings, ", "))
	}
	return t
}

// passwordNote says which candidates have a password, and who types it; it is empty if none has
// one.
func passwordNote(s wire.Snapshot, own string) string {
	var locked []string
	for _, c := range Candidates(s) {
		if c.card.Password {
			locked = append(locked, strconv.Itoa(c.number))
		}
	}
	if len(locked) == 0 {
		return ""
	}
	note := strings.Join(locked, ", ") + " has a password"
	if len(locked) > 1 {
		note = strings.Join(locked, ", ") + " have a password"
	}
	player := slices.IndexFunc(s.People, func(p wire.Person) bool { return p.Name == own })
	switch {
	case player < 0:
		return note
	case s.People[player].TypesPassword:
		return note + ": you type it in the game, and read it here when you go"
	}
	return note + ": your game gets it from muster"
}

// votesInWords says who votes for which candidate, and who is ready; it is empty before anybody
// votes.
func votesInWords(s wire.Snapshot) string {
	var parts, ready, waiting []string
	for i, addr := range s.Voting.Ballot {
		var who []string
		for _, p := range s.People {
			if p.Vote == addr {
				who = append(who, p.Name)
			}
		}
		if len(who) > 0 {
			parts = append(parts, fmt.Sprintf("%d has %s (%s)", s.Voting.Number(i), term.Count(len(who), "vote"),
				strings.Join(who, ", ")))
		}
	}
	for _, p := range s.People {
		switch {
		case p.Ready:
			ready = append(ready, p.Name)
		case (p.Page || p.Asked) && hasSay(s, p):
			waiting = append(waiting, p.Name)
		}
	}
	if len(ready) > 0 {
		text := "ready: " + strings.Join(ready, ", ")
		if len(waiting) > 0 {
			text += "; not yet: " + strings.Join(waiting, ", ")
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "; ")
}

// hasSay reports whether a person's vote counts.
func hasSay(s wire.Snapshot, p wire.Person) bool {
	if p.Peer {
		return !p.LeftOut
	}
	return s.Room.GuestsVote && !p.NoSay || p.Estimate != nil && p.Estimate.Counted
}

// ballot is what a View has shown of a vote.
type ballot struct {
	servers, votes string
	counting       bool
}

// showVote prints the candidates and the votes whenever they change.
func (n *View) showVote(s wire.Snapshot) {
	if !s.Voting.Open || n.Help == nil {
		n.told = ballot{}
		return
	}
	if servers := fmt.Sprint(s.Room.Round, s.Voting.Ballot, s.Voting.Numbers); servers != n.told.servers {
		n.told = ballot{servers: servers}
		var table strings.Builder
		ballotTable(s, n.name).Write(term.Terminal{Writer: &table, Columns: n.Screen.Width()})
		n.Screen.Say("%s", n.Screen.Wrap("where shall we play? "+discovery.CleanText(s.Voting.Rule), 0))
		n.Screen.Say("%s", strings.TrimSuffix(table.String(), "\n"))
		if note := passwordNote(s, n.name); note != "" {
			n.Screen.Say("%s", n.Screen.Wrap(note, 0))
		}
		if n.votes {
			n.Screen.Say("%s", n.Screen.Faint(n.Screen.Wrap(keysOfVote, 0)))
		}
	}
	if votes := votesInWords(s); votes != n.told.votes {
		if n.told.votes = votes; votes == "" {
			votes = "no votes"
		}
		n.Screen.Say("%s", n.Screen.Wrap(votes, 0))
	}
	if counting := !s.Voting.LaunchAt.IsZero(); counting != n.told.counting {
		if n.told.counting = counting; counting && n.votes {
			n.Screen.Say("%s", n.Screen.Faint("w stops the countdown"))
		}
	}
}
