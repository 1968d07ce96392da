package lobby

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"muster/discovery"
	"muster/discovery/sentence"
	"muster/host/wire"
	"muster/internal/catalogue"
	"muster/internal/term"
	"muster/selection"
)

// Candidate is a server on the ballot.
type Candidate struct {
	// Number is the candidate's number in this round.
	Number int
	selection.Ranked
	Card wire.ServerCard
	Name string
}

// Candidates returns the servers on the ballot, in its order.
func Candidates(s wire.Snapshot) (all []Candidate) {
	for i, addr := range s.Voting.Ballot {
		c := Candidate{Number: s.Voting.Number(i), Name: addr}
		if s.Choice != nil {
			at := slices.IndexFunc(s.Choice.Selection.Ranking, func(r selection.Ranked) bool { return r.Addr.String() == addr })
			if at >= 0 {
				c.Ranked = s.Choice.Selection.Ranking[at]
			}
			if c.Card = s.Choice.Servers[addr]; c.Card.Name != "" {
				c.Name = discovery.CleanText(c.Card.Name)
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
			term.Left(l.Words("term.column-server")), term.Left(place), term.Right(seats)},
		Spare: []string{place, seats},
	}
	ping := func(ms float64) string { return l.Words("unit.ms", "n", math.Round(ms)) }
	for _, c := range Candidates(s) {
		you, free := "", ""
		if rtt, has := c.RTT[own]; has {
			you = ping(rtt)
		}
		if c.Card.MaxPlayers > 0 {
			free = strconv.Itoa(max(0, c.Card.MaxPlayers-c.Card.Players))
		}
		t.Add(c.Number, you, ping(c.MeanMS), c.Name, c.Card.Map, free)
	}
	return t
}

// votesInWords says who votes for which candidate, and who is ready; it is empty before anybody
// votes.
func votesInWords(l *catalogue.Language, s wire.Snapshot) string {
	var parts, ready []string
	for i, addr := range s.Voting.Ballot {
		var voters []string
		for _, p := range s.People {
			if p.Vote == addr {
				voters = append(voters, p.Name)
			}
		}
		if len(voters) > 0 {
			parts = append(parts, l.Words("term.votes", "number", s.Voting.Number(i), "n", len(voters), "players", voters))
		}
	}
	for _, p := range s.People {
		if p.Ready {
			ready = append(ready, p.Name)
		}
	}
	if len(ready) > 0 {
		parts = append(parts, l.Words("term.ready", "players", ready))
	}
	for len(parts) > 1 {
		parts = append([]string{l.Words("list.clauses", "first", parts[0], "next", parts[1])}, parts[2:]...)
	}
	return strings.Join(parts, "")
}

// showVote prints the candidates and the votes whenever they change.
func (n *View) showVote(s wire.Snapshot) {
	if !s.Voting.Open || n.Help == nil {
		n.servers, n.votes = "", ""
		return
	}
	l := n.Screen.Language
	if servers := fmt.Sprint(s.Room.Round, s.Voting.Ballot, s.Voting.Numbers); servers != n.servers {
		begins := n.servers == ""
		n.servers, n.votes = servers, ""
		var table strings.Builder
		ballotTable(l, s, n.name).Write(term.Terminal{Writer: &table, Columns: n.Screen.Width()})
		n.Screen.Tell("term.vote", "rule", s.Voting.Rule)
		n.Screen.Say("%s", strings.TrimSuffix(table.String(), "\n"))
		if n.name != "" {
			n.hint(keysOfVote)
		}
		if n.Typing.steers() && begins {
			n.hint(sentence.Of("term.launch-now"))
		}
		n.leadToPage("term.more-on-page")
	}
	if votes := votesInWords(l, s); votes != n.votes {
		n.votes = votes
		n.Screen.Say("%s", n.Screen.Wrap(votes, 0))
	}
}

// showTurn leads a captain to the page whenever it is their turn to ban or pick.
func (n *View) showTurn(s wire.Snapshot) {
	turn := ""
	if m := s.Match; m != nil && m.Turn != nil && slices.Contains(append(m.Turn.Captains, m.Turn.Captain), n.name) {
		turn = fmt.Sprint(s.Room.Round, m.Turn.Number)
	}
	if isNew := turn != n.turn && turn != "" && n.name != ""; isNew {
		key := "term.your-turn"
		if s.Match.Turn.Kind == wire.Object {
			key = "law.your-turn"
		}
		n.leadToPage(key, "kind", s.Match.Turn.Kind)
	}
	n.turn = turn
}

// showProposal says once how a player answers a proposal to move on. The log has told the proposal.
func (n *View) showProposal(s wire.Snapshot) {
	if p := proposal(&s); p != nil && !p.At.Equal(n.proposed) && slices.Contains(p.Asked, n.name) && n.Help != nil {
		n.proposed = p.At
		n.hint(keysOfMove(&s))
		n.leadToPage("term.more-on-page")
	}
}
