package lobby

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"muster/discovery"
	"muster/discovery/hostport"
	"muster/discovery/sentence"
	"muster/host/wire"
	"muster/internal/catalogue"
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
func (v *voter) typed(line string, say func(sentence.Sentence)) bool {
	room := v.room.Load()
	if line == "" || room == nil {
		return false
	}
	if word, is := ofMeeting(line, room); is {
		v.say(word)
		return true
	}
	if keys := keysOfMeeting(room.Meeting); !keys.IsZero() && slices.Contains([]string{"help", "?"},
		strings.ToLower(strings.TrimSpace(line))) {
		if say(keys); room.Voting.Open {
			say(keysOfVote)
		}
		return true
	}
	if word, wrong, is := moveOf(line, room); is {
		if !wrong.IsZero() {
			say(wrong)
			return true
		}
		v.say(word)
		return true
	}
	if !room.Voting.Open {
		return false
	}
	word, wrong := wordOf(line, room)
	if !wrong.IsZero() {
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
var keysOfVote = sentence.Of("term.vote-keys", "none", "0", "v", "v", "v3", "v3", "r", "r", "w", "w")

// wordOf parses a line during a vote, or says what is wrong with it.
func wordOf(line string, room *wire.Snapshot) (word wire.Say, wrong sentence.Sentence) {
	word.Round = room.Room.Round
	what := strings.ToLower(strings.TrimSpace(line))
	number, isVeto := strings.CutPrefix(what, "v")
	word.What = wire.SayVote
	switch {
	case what == "r" || what == "ready":
		word.What = wire.SayReady
		return word, wrong
	case what == "w" || what == "wait":
		word.What = wire.SayWait
		return word, wrong
	case what == "0":
		return word, wrong
	case isVeto:
		word.What, number = wire.SayVeto, strings.TrimPrefix(number, "eto")
	}
	n, err := strconv.Atoi(strings.TrimSpace(number))
	if err != nil {
		return word, keysOfVote
	}
	place := slices.Index(numbersOf(room.Voting), n)
	if place < 0 {
		return word, candidatesAre(room.Voting)
	}
	if word.Addr.AddrPort, err = hostport.Parse(room.Voting.Ballot[place]); err != nil {
		return word, sentence.Of("term.vote-nowhere")
	}
	return word, wrong
}

// candidatesAre lists the candidates' numbers: "1 to 4", "1, 3 and 6".
func candidatesAre(v wire.Voting) sentence.Sentence {
	numbers := numbersOf(v)
	slices.Sort(numbers)
	last := len(numbers) - 1
	if last > 0 && numbers[last]-numbers[0] == last {
		return sentence.Of("term.candidates-from", "first", numbers[0], "last", numbers[last])
	}
	texts := make([]string, len(numbers))
	for i, n := range numbers {
		texts[i] = strconv.Itoa(n)
	}
	return sentence.Of("term.candidates", "numbers", texts)
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
	// Number is the candidate's number in this round.
	Number int
	selection.Ranked
	Card wire.ServerCard
	Name string
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
		c := Candidate{Number: s.Voting.Number(i), Name: addr}
		if at >= 0 {
			c.Ranked = s.Choice.Selection.Ranking[at]
		}
		if c.Card = s.Choice.Servers[addr]; c.Card.Name != "" {
			c.Name = discovery.CleanText(c.Card.Name)
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
func ballotTable(l *catalogue.Language, s wire.Snapshot, own string) *term.Table {
	place, seats := l.Words("term.column-map"), l.Words("term.column-free")
	t := &term.Table{
		Columns: []term.Column{term.Right(""), term.Right(l.Words("term.column-you")), term.Right(l.Words("term.column-average")),
			term.Left(l.Words("term.column-server")), term.Left(place), term.Right(seats), term.Left(l.Words("term.column-everyone"))},
		Spare: []string{place, seats},
	}
	ping := func(ms float64) string { return l.Words("unit.ms", "n", math.Round(ms)) }
	for _, c := range Candidates(s) {
		you := ""
		if rtt, has := c.RTT[own]; has {
			you = ping(rtt)
		} else if slices.Contains(c.without, own) {
			you = l.Words("term.no-ping")
		}
		var pings []sentence.Sentence
		for _, name := range c.without { // this must not be cut off
			if name != own {
				pings = append(pings, sentence.Of("term.player-no-ping", "player", name))
			}
		}
		for _, p := range s.People { // of the guests only those who are counted in
			if rtt, has := c.RTT[p.Name]; has && p.Name != own {
				key := "term.player-ping"
				if _, estimated := s.Choice.Selection.Estimated[p.Name]; estimated {
					key = "term.player-estimate"
				}
				pings = append(pings, sentence.Of(key, "player", p.Name, "ms", math.Round(rtt)))
			}
		}
		free, where := "", c.Card.Map
		switch {
		case c.Card.MaxPlayers > 0:
			free = strconv.Itoa(max(0, c.Card.MaxPlayers-c.Card.Players))
		case c.Card.Players > 0:
			free = "?"
		}
		if c.Card.Country != "" {
			where = strings.TrimSpace(where + " " + c.Card.Country)
		}
		name := c.Name
		if c.Ours {
			name = "♥ " + name
		}
		t.Add(c.Number, you, ping(c.MeanMS), name, where, free, joined(l, "list.more", pings...))
	}
	return t
}

// joined joins sentences by the pattern of a key with {first} and {next}.
func joined(l *catalogue.Language, key string, all ...sentence.Sentence) (text string) {
	for i, next := range all {
		if i == 0 {
			text = l.Say(next)
		} else {
			text = l.Words(key, "first", sentence.Plain(text), "next", next)
		}
	}
	return text
}

// choicesInWords says what each choice is the best in, and what it costs whom. It says nothing if one
// server is the best in every way.
func choicesInWords(l *catalogue.Language, s wire.Snapshot, own string) (lines []string) {
	players := 0
	if s.Choice != nil {
		players = len(s.Choice.Selection.Players)
	}
	special := slices.DeleteFunc(slices.Clone(s.Voting.Choices), func(c wire.Option) bool { return c.Gone || c.Kind == selection.Also })
	if len(special) < 2 {
		return nil
	}
	for _, c := range s.Voting.Choices {
		at := slices.Index(s.Voting.Ballot, c.Addr.String())
		if c.Gone || at < 0 {
			continue
		}
		gain, cost := "", ""
		ms := func(ms float64) sentence.Sentence { return sentence.Of("unit.ms", "n", math.Round(ms)) }
		if c.Kind != selection.Also {
			gain = l.Words("pick.gain."+string(c.Kind), "n", cmp.Or(c.Players, players), "all", players, "ms", ms(c.GainMS))
		}
		key := "pick.costs"
		if at == 0 {
			key = "pick.pays"
		}
		if c.Payer == own {
			key += "-you"
		}
		if c.Payer != "" {
			cost = l.Words(key, "player", c.Payer, "ms", ms(c.CostMS))
		}
		lines = append(lines, strings.TrimSpace(l.Words("term.choice", "number", s.Voting.Number(at),
			"choice", sentence.Of("pick."+string(c.Kind)), "gain", sentence.Plain(gain), "cost", sentence.Plain(cost))))
	}
	return lines
}

// passwordNote says which candidates have a password, and who types it; it says nothing if none has
// one.
func passwordNote(s wire.Snapshot, own string) sentence.Sentence {
	var locked []string
	for _, c := range Candidates(s) {
		if c.Card.Password {
			locked = append(locked, strconv.Itoa(c.Number))
		}
	}
	if len(locked) == 0 {
		return sentence.Sentence{}
	}
	says := func(key string) sentence.Sentence { return sentence.Of(key, "numbers", locked, "n", len(locked)) }
	player := slices.IndexFunc(s.People, func(p wire.Person) bool { return p.Name == own })
	switch {
	case player < 0:
		return says("term.password")
	case s.People[player].TypesPassword:
		return says("term.password-typed")
	}
	return says("term.password-passed")
}

// votesInWords says who votes for which candidate, and who is ready; it is empty before anybody
// votes.
func votesInWords(l *catalogue.Language, s wire.Snapshot) string {
	var parts []sentence.Sentence
	var ready, waiting []string
	for i, addr := range s.Voting.Ballot {
		var who []string
		for _, p := range s.People {
			if p.Vote == addr {
				who = append(who, p.Name)
			}
		}
		if len(who) > 0 {
			parts = append(parts, sentence.Of("term.votes", "number", s.Voting.Number(i), "n", len(who), "players", who))
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
		parts = append(parts, sentence.Of("term.ready", "players", ready))
	}
	if len(ready) > 0 && len(waiting) > 0 {
		parts = append(parts, sentence.Of("term.not-ready", "players", waiting))
	}
	return joined(l, "list.clauses", parts...)
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
		ballotTable(n.Screen.Language, s, n.name).Write(term.Terminal{Writer: &table, Columns: n.Screen.Width()})
		n.Screen.Tell("term.vote", "rule", s.Voting.Rule)
		n.Screen.Say("%s", strings.TrimSuffix(table.String(), "\n"))
		for _, line := range choicesInWords(n.Screen.Language, s, n.name) {
			n.Screen.Say("%s", n.Screen.Wrap(line, 0))
		}
		if note := passwordNote(s, n.name); !note.IsZero() {
			n.Screen.Say("%s", n.Screen.Wrap(n.Screen.Language.Say(note), 0))
		}
		if n.votes {
			n.Screen.Say("%s", n.Screen.Faint(n.Screen.Wrap(n.Screen.Language.Say(keysOfVote), 0)))
		}
	}
	if votes := votesInWords(n.Screen.Language, s); votes != n.told.votes {
		if n.told.votes = votes; votes == "" {
			votes = n.Screen.Words("term.no-votes")
		}
		n.Screen.Say("%s", n.Screen.Wrap(votes, 0))
	}
	if counting := !s.Voting.LaunchAt.IsZero(); counting != n.told.counting {
		if n.told.counting = counting; counting && n.votes {
			n.Screen.Say("%s", n.Screen.Faint(n.Screen.Words("term.stop-countdown", "w", "w")))
		}
	}
}
