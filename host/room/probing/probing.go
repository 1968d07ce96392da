// Package probing decides which player measures which server in a round. Either each player or NAT
// group measures the whole list, or a search picks the servers. The room tells each player a number
// of servers in advance, and never asks for more.
//
//	Measure, Turn, Share ─▶ asks ─▶ players' programs
//	                          ▲             │
//	                          └── Report ◀──┘
//
// This package draws no conclusions from the measurements: package decision does.
package probing

import (
	"slices"
	"time"

	"muster/discovery"
	"muster/discovery/sentence"
	"muster/host/room/evidence"
	"muster/host/room/facts"
	"muster/host/room/finals"
	"muster/host/room/infos"
	"muster/host/room/pace"
	"muster/host/room/people"
	"muster/host/room/podium"
	"muster/host/room/roomtime"
	"muster/host/room/search"
	"muster/host/wire"
	"muster/selection"
	"muster/selection/coordinate"
	"muster/selection/rules"
)

// Probing is the measuring of a round. Only it changes the evidence while players measure.
type Probing struct {
	evidence *facts.Evidence
	heard    *infos.Infos
	// turns is the wait for processor time. It is not saved, because a restored room asks for more.
	turns search.Turns
	// search picks the servers of a coordinated measuring. shares are the NAT groups that measure
	// the whole list together. Neither is saved, because both follow from the results.
	search *search.Search
	shares *search.Groups
	// budget is the number of servers that each player may be asked for.
	budget search.Budget
	// pace knows which players answer slowly. It is not saved, because a restored room asks again.
	pace pace.Pace
	// podium shows the leading servers on pages.
	podium podium.Podium
}

// Moment is the time of a call, and whether people vote then.
type Moment struct {
	roomtime.Clocks
	IsVoting bool
}

// New returns a Probing that has asked nobody yet. It will write the evidence and the servers'
// facts.
func New(evidence *facts.Evidence, heard *infos.Infos) Probing {
	return Probing{evidence: evidence, heard: heard}
}

// results returns a player's results, nil if the player has left.
func (p *Probing) results(player people.ID) *evidence.PlayerResults { return (*p.evidence)[player] }

// Next returns the measuring of the next round.
func (p *Probing) Next() Probing {
	next := New(p.evidence, p.heard)
	next.turns = p.turns
	next.turns.Begin()
	return next
}

// Search returns the search with the newest facts about servers; nil without one.
func (p *Probing) Search(g facts.Facts) *search.Search {
	if p.search != nil {
		for _, server := range p.heard.News() {
			p.search.Inform(server)
		}
	}
	return p.search
}

// EndSearch ends the search, because its goal has changed or it is over. The next turn begins
// another one.
func (p *Probing) EndSearch() { p.search = nil }

// EndMainSearch ends the search that leads to the choice, but not the one that goes on during a
// vote.
func (p *Probing) EndMainSearch() {
	if p.search != nil && !p.search.IsBehind() {
		p.search = nil
	}
}

// terms returns the limits by settings and list on the number of servers that a player is asked
// for.
func terms(g facts.Facts) search.Terms {
	t := search.Terms{Servers: g.Tuning().Budget, Votes: g.Settings().Agree != wire.No, Listed: len(g.Servers().List)}
	if g.Settings().Strategy != wire.Coordinated {
		t.Servers = -1
	}
	return t
}

// promise returns the number of servers that a player is promised with the next question, 0 for the
// whole list.
func (p *Probing) promise(g facts.Facts, player people.ID) int {
	w := p.results(player)
	if w.IsSharing() {
		return w.Promise(0)
	}
	return w.Promise(p.budget.Max(terms(g)))
}

// MaxTold returns how many servers one player is asked for at most, by the numbers that players
// were told or will be told. 0 is the whole list.
func (p *Probing) MaxTold(g facts.Facts) int {
	var promised []int
	for _, player := range g.Players() {
		promised = append(promised, p.results(player).Promised())
	}
	return p.budget.MaxTold(terms(g), promised)
}

// Ask notes the servers that players' programs are asked for, within the promised numbers. It
// returns the questions in order. A result that came unasked counts once the player is asked for
// its server.
func (p *Probing) Ask(g facts.Facts, asks []search.Ask, m Moment) (out []search.Ask) {
	for _, ask := range asks {
		w := p.results(ask.Player)
		servers, admitted := w.Ask(ask.Servers, m.Room)
		if len(servers) == 0 {
			continue
		}
		out = append(out, search.Ask{Player: ask.Player, Servers: servers})
		for _, server := range admitted {
			p.heard.SettleFacts(server)
			if result := w.At(server); result.State != discovery.Unprobed {
				out = append(out, p.shareResult(g, ask.Player, result, m)...)
			}
		}
	}
	return out
}

// shareResult passes a player's result on to the NAT group or the search. It returns the questions
// that follow.
func (p *Probing) shareResult(g facts.Facts, player people.ID, result discovery.Result, m Moment) []search.Ask {
	groups := p.natGroups()
	if groups == nil {
		return nil
	}
	var mates []search.NATMate
	for _, mate := range groups.NATMates(player, result) {
		w := p.results(mate)
		mayAsk := !g.IsHidden(mate, result.Server) && terms(g).Spare(w.Left(), m.IsVoting) > 0
		mates = append(mates, search.NATMate{ID: mate, State: w.At(result.Server).State, MayAsk: mayAsk})
	}
	if s := p.Search(g); s != nil && s.Groups == groups {
		return p.Ask(g, s.Heard(player, result, mates, m.Room), m)
	}
	_, instead := groups.Heard(player, result, mates)
	return p.Ask(g, instead, m)
}

// natGroups returns the NAT groups that measure as one, nil if each player measures alone.
func (p *Probing) natGroups() *search.Groups {
	if p.shares != nil || p.search == nil {
		return p.shares
	}
	return p.search.Groups
}

// Release forgets the open questions to a player, so that others are asked them again.
func (p *Probing) Release(player people.ID) {
	if groups := p.natGroups(); groups != nil {
		groups.Release(player)
	}
}

// unreported returns the open questions: servers that players were asked for and have not reported.
func (p *Probing) unreported(g facts.Facts) (out []search.Ask) {
	groups := p.natGroups()
	if groups == nil {
		return nil
	}
	for _, ask := range groups.Out() {
		if w := p.results(ask.Player); w != nil {
			ask.Servers = slices.DeleteFunc(ask.Servers, func(server int) bool { return !w.IsUnprobed(server) })
			out = append(out, ask)
		}
	}
	return out
}

// hasOpenQuestion reports whether an answer to the search may still come.
func (p *Probing) hasOpenQuestion(g facts.Facts, now roomtime.Time) bool {
	return p.search.MayHear(now) && slices.ContainsFunc(p.unreported(g), func(ask search.Ask) bool { return len(ask.Servers) > 0 })
}

// searchers returns the NAT groups that can search now.
func searchers(g facts.Facts) [][]people.ID { return g.NATGroups(g.Present()) }

func (p *Probing) members(g facts.Facts, natGroups [][]people.ID, m Moment) [][]search.Member {
	groups, t := make([][]search.Member, len(natGroups)), terms(g)
	for i, players := range natGroups {
		for _, player := range players {
			w := p.results(player)
			groups[i] = append(groups[i], search.Member{
				ID: player, Spare: t.Spare(w.Left(), m.IsVoting), Discreet: w.ProbeLimit(), Asked: w.Asked(), More: w.AskedMore(),
				Lags: p.pace.Lags(player),
			})
		}
	}
	return groups
}

// currentSearch returns the search, or a new one if the NAT groups have changed. More is the
// organiser's addition to the search's budget. IsBehind says that the search goes on during a vote.
func (p *Probing) currentSearch(g facts.Facts, more int, isBehind bool, m Moment) *search.Search {
	g.Refresh()
	natGroups := searchers(g)
	if s := p.Search(g); s != nil && s.Are(natGroups) {
		return s
	}
	var heads []people.ID
	for _, mates := range natGroups {
		heads = append(heads, mates[0])
	}
	p.heard.News() // a new search knows this news already
	setup := search.Setup{
		Topology: g.Tree(), Servers: *g.Servers(), Table: g.Table(heads), Criteria: g.Criteria(*g.Settings(), heads),
		IsBehind: isBehind, More: more,
		Options: coordinate.Options{Seed: g.Tuning().Seed + uint64(g.Number()), Budget: g.Tuning().Budget, Enough: g.Tuning().Enough},
	}
	setup.Options.Remembered = g.Forecasts(heads, m.Wall)
	if !g.Settings().AnyVersion {
		setup.Criteria.Editions = g.Editions(g.Present())
	}
	if rules.Of(setup.Criteria.By).Averages { // experiments showed no gain with other rules
		setup.Options.Guests = g.Counted().Searched(g.WithPlaces(heads))
	}
	p.search = search.New(p.members(g, natGroups, m), p.unreported(g), setup)
	return p.search
}

// noteBusyLines finds out when players' own lines were busy, and corrects the RTTs of that time.
func (p *Probing) noteBusyLines(g facts.Facts) {
	for _, player := range g.Players() {
		w := p.results(player)
		for _, server := range w.Watch(g.Tree()) {
			if p.search != nil && w.IsAsked(server) {
				p.search.Correct(player, w.At(server))
			}
		}
	}
}

// JudgePace judges how fast players answer. A player who lags is asked for the finalists only, and
// drops all other questions. The search then begins again from the results. It returns the messages
// to the programs of such players, and notes on slow players.
func (p *Probing) JudgePace(g facts.Facts, now roomtime.Time) (asks []search.Ask, notes []sentence.Sentence) {
	if p.search == nil {
		return nil, nil
	}
	owing := map[people.ID]int{}
	for _, ask := range p.search.Out() {
		owing[ask.Player] = len(ask.Servers)
	}
	var players []pace.Player
	for _, player := range g.Present() {
		if g.Silence(player, now) >= 0 { // else the program rests, as it has said
			probed, _ := p.results(player).Progress()
			players = append(players, pace.Player{ID: player, Answers: probed, Owing: owing[player]})
		}
	}
	lagging, fast, slow := p.pace.Note(now, players)
	for _, player := range fast {
		p.Release(player) // the next search asks the player like all others
	}
	for _, player := range lagging {
		p.Release(player)
		asks = append(asks, search.Ask{Player: player, Only: true})
	}
	return asks, p.slowNotes(slow)
}

// SlowNotes returns notes on the slow players that a finished search did not wait for.
func (p *Probing) SlowNotes(g facts.Facts) []sentence.Sentence {
	return p.slowNotes(p.pace.Slow(g.Present()))
}

func (p *Probing) slowNotes(players []people.ID) (notes []sentence.Sentence) {
	for _, player := range players {
		notes = append(notes, sentence.Of("room.slow", "player", player, "n", p.pace.Pace(player)))
	}
	return notes
}

// IsSearchDue reports whether the search can begin its next round of questions.
func (p *Probing) IsSearchDue(g facts.Facts, now roomtime.Time) bool {
	return p.search.IsDue(searchers(g), now)
}

// Turn makes the search's next round of questions. More is the organiser's addition to its budget.
// It returns the questions, and whether the search is over, with a note on its outcome.
func (p *Probing) Turn(g facts.Facts, more int, m Moment) (asks []search.Ask, outcome sentence.Sentence, isOver bool) {
	p.noteBusyLines(g)
	s := p.currentSearch(g, more, false, m)
	groups := p.members(g, searchers(g), m)
	asks, isOver = s.Turn(groups, len(g.Active()), m.Room)
	asks = p.Ask(g, asks, m)
	if isOver && p.hasOpenQuestion(g, m.Room) && g.Select(g.Active()).Chosen == nil {
		return asks, outcome, false // an open answer may be the only server that suits everyone
	}
	if isOver {
		var isDry bool
		outcome, isDry = s.Outcome(groups)
		p.budget.Close(isDry)
	}
	return asks, outcome, isOver
}

// minGainMS is the lead in score, in ms, that another server needs to get a look once a vote has
// begun.
const minGainMS = 2

// TurnBehind goes on with the search during a vote. If it has found a sufficiently better server it
// returns that choice, for package decision, and a note. Otherwise it returns the next questions,
// and how many servers the players' own discovery may ask.
func (p *Probing) TurnBehind(g facts.Facts, m Moment) (
	note sentence.Sentence, other *selection.Selection, asks []search.Ask, own []search.Own,
) {
	p.noteBusyLines(g)
	s := p.currentSearch(g, 0, true, m)
	s.Behind(m.Room)
	selected, chosen := g.Select(g.ChosenFor()), *g.Newest().Chosen
	for _, ranked := range selected.Ranking {
		if ranked.Server == chosen.Server {
			chosen.Score = ranked.Score // its score as of now
		}
	}
	if found := selected.Chosen; found != nil && found.Server != chosen.Server && chosen.Score-found.Score >= minGainMS {
		note = sentence.Of("room.better", "server", g.Servers().Called(found.Server), "than", g.Servers().Called(chosen.Server))
		return note, &selected, nil, nil
	}
	asks, own = p.Search(g).NextBehind(p.members(g, searchers(g), m), m.Room)
	asks = p.Ask(g, asks, m)
	for _, own := range own { // own has one player for each address
		p.results(own.Player).Allow(own.Servers)
	}
	return note, nil, asks, own
}

// Report takes a player's results. If isChosen, second looks have begun, and a result counts only
// if the server had none. It returns more questions, and reports whether any result was new.
func (p *Probing) Report(g facts.Facts, player people.ID, report wire.Report, isChosen bool, m Moment) (asks []search.Ask, isNews bool) {
	passed, w := min(max(0, m.Room.Sub(g.Measuring())), wire.LongestTime), p.results(player)
	for _, probe := range report.Results {
		if isChosen && !w.IsUnprobed(probe.Server) || g.IsHidden(player, probe.Server) {
			continue // finalists have had their second look
		}
		probe.At += passed - report.Now // all players' times count from the same moment
		isNew, isOwn := w.Report(probe, passed, m.Room)
		if isOwn {
			p.heard.SettleFacts(probe.Server)
		}
		if !w.IsAsked(probe.Server) {
			continue
		}
		isNews = isNews || isNew
		if !isChosen || m.IsVoting {
			asks = append(asks, p.shareResult(g, player, w.At(probe.Server), m)...)
		}
	}
	return asks, isNews
}

// NoteLooks adds a player's second look to the evidence. In a match a later look raises no ping,
// because people have seen the averages by then.
func (p *Probing) NoteLooks(g facts.Facts, player people.ID, seen []finals.Seen, now roomtime.Time) {
	w := p.results(player)
	for _, one := range seen {
		if w.Admit(one.Server) {
			p.heard.SettleFacts(one.Server)
		}
		if one.Info != nil {
			p.heard.Hear(player, one.Server, wire.TidyInfo(*one.Info), now.Sub(g.Measuring()))
		}
		if one.Look != nil {
			look := evidence.Look(*one.Look)
			before, was := w.Looked(look.Server)
			if was && g.Settings().IsMatch() && before.State == discovery.Answered && look.State == discovery.Answered {
				look.RTT = min(look.RTT, before.RTT)
			}
			w.Look(look)
		}
	}
}

// NoteAside adds the answer of a program whose player plays to the evidence. One packet says less
// than the look before the launch, so its quality stays.
func (p *Probing) NoteAside(g facts.Facts, player people.ID, result discovery.Result, info *discovery.Info, now roomtime.Time) {
	w := p.results(player)
	look, _ := w.Looked(result.Server)
	look.Result, look.RTTs = result, nil
	p.NoteLooks(g, player, []finals.Seen{{Server: result.Server, Info: info, Look: (*finals.Look)(&look)}}, now)
}

// NoteMisses adds failed looks to the evidence.
func (p *Probing) NoteMisses(lost []finals.Missed) {
	for _, m := range lost {
		if w := p.results(m.Player); w != nil {
			w.Look(evidence.Look(m.Look))
		}
	}
}

// Measure returns the messages that start a player's program, including the player's results so
// far. In a coordinated search it asks at once for the servers on the player's own network: hardly
// any are nearer, and a long search might pass over them. In a match it asks for those near the host, too.
func (p *Probing) Measure(g facts.Facts, player people.ID, strategy string, m Moment) (told []wire.Message, asks []search.Ask) {
	w := p.results(player)
	var known []discovery.Result
	for _, hidden := range g.HiddenFrom(player) {
		known = append(known, discovery.Result{Server: hidden, State: discovery.Lost})
	}
	for server := range w.Servers() {
		known = append(known, w.At(server))
	}
	measure := wire.Measure{Round: g.Number(), Game: g.Settings().Game, Strategy: strategy, Seed: seedFor(g, player), Known: len(known)}
	if n := len(g.Settings().Limits); n > 0 {
		measure.MaxRTT = discovery.Millis(g.Settings().Limits[n-1])
	}
	if w.IsSharing() {
		measure.Strategy = wire.Coordinated
	}
	if measure.Strategy != wire.Coordinated {
		w.AskAll(m.Room)
	}
	measure.Max = p.promise(g, player)
	told = append(told, measure)
	if len(known) > 0 {
		told = append(told, wire.Report{Round: g.Number(), Results: known})
	}
	var local []int
	for _, server := range slices.Concat(g.Around(player), g.Landmarks()) {
		if w.IsUnprobed(server) {
			local = append(local, server)
		}
	}
	if strategy == wire.Coordinated && len(local) > 0 {
		asks = p.Ask(g, []search.Ask{{Player: player, Servers: local}}, m)
	}
	return told, asks
}

// seedFor returns a player's own seed. With one seed for all, every server would hear from all
// players at the same moment.
func seedFor(g facts.Facts, player people.ID) uint64 {
	return g.Tuning().Seed + uint64(g.Number()) + uint64(slices.Index(g.Players(), player))<<32
}

// Leaders puts the leading servers on the pages, if a page is open and the next ranking is due. It
// returns the questions for servers' names, and reports whether it showed anything.
func (p *Probing) Leaders(g facts.Facts, now roomtime.Time) (asks []search.Ask, isShown bool) {
	if !g.IsWatched() || !p.podium.IsDue(now) {
		return nil, false
	}
	results := 0
	for _, player := range g.Players() {
		results += len(p.results(player).Probes())
	}
	players := g.Measured()
	ranking := podium.Rank(selection.Basis{
		Servers: *g.Servers(), Table: g.BasisWithGuests(players).Table, Criteria: g.Criteria(*g.Settings(), players),
	}, g.Active())
	forecasts := map[int]map[people.ID]time.Duration{}
	if p.search != nil {
		for _, server := range ranking.Servers() {
			forecasts[server] = p.search.Forecast(server)
		}
	}
	nameless := p.podium.Show(ranking, forecasts, results, now)
	for _, player := range g.Present() {
		heard := slices.DeleteFunc(slices.Clone(nameless), func(server int) bool { return !p.results(player).CanName(server) })
		if len(heard) > 0 {
			asks = append(asks, search.Ask{Player: player, Servers: heard})
		}
	}
	return asks, true
}

// LimitLooks cuts looks down to the promised numbers of servers. It returns these looks, and the
// players for whom none is left.
func (p *Probing) LimitLooks(g facts.Facts, asks []finals.Ask) (shown []finals.Ask, without []people.ID) {
	for _, ask := range asks {
		w := p.results(ask.Player)
		if w == nil {
			continue
		}
		isEmpty := len(ask.Servers) == 0
		ask.Round, ask.Game, ask.Max = g.Number(), g.Settings().Game, p.promise(g, ask.Player)
		if ask.Servers = w.Show(ask.Servers); len(ask.Servers) == 0 && !isEmpty {
			without = append(without, ask.Player)
			continue
		}
		shown = append(shown, ask)
	}
	return shown, without
}

// HasAllResults reports whether a player has a result for every server of the list. Such a player
// has finished, even if the program does not say so.
func (p *Probing) HasAllResults(g facts.Facts, player people.ID) bool {
	probed, _ := p.results(player).Progress()
	return probed > 0 && probed+len(g.HiddenFrom(player)) >= len(g.Servers().List)
}

// AwaitTurn notes that the room waits for processor time. It reports whether the room has to ask
// for it, and returns a note for people who wait long.
func (p *Probing) AwaitTurn(isBackground bool, now roomtime.Time) (isNew bool, note sentence.Sentence) {
	return p.turns.Await(isBackground, now)
}

// TakeTurn ends the wait for processor time.
func (p *Probing) TakeTurn(now roomtime.Time) { p.turns.Take(now) }

// IsTimeUp reports whether the search has taken too long, not counting its waits for turns.
func (p *Probing) IsTimeUp(took time.Duration, now roomtime.Time) bool {
	return p.search.IsTimeUp(took, p.turns.Waited(now))
}

// Idle returns the players without open questions. Without NAT groups that measure together, these
// are all of players.
func (p *Probing) Idle(players []people.ID) []people.ID {
	if groups := p.natGroups(); groups != nil {
		return groups.Idle()
	}
	return players
}

// View returns the leading servers as pages see them.
func (p *Probing) View(g facts.Facts) *wire.Standing {
	return p.podium.View(g.Number(), g.Names())
}

// State returns the saved state of the measuring.
func (p *Probing) State() *search.BudgetState { return p.budget.State() }
