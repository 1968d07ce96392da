// Package pace compares how fast the players of a search answer. One player's slow line must not
// hold all others up. A player is not slow while it only waits for silent servers, or while
// everybody is as slow.
//
//	Note, a few times a second ─▶ Lags: asked for the finalists only
//	                            └▶ Slow: told to everybody
package pace

import (
	"slices"
	"time"

	"muster/host/room/people"
	"muster/host/room/roomtime"
)

const (
	// second is the time over which a player is judged.
	second = time.Second
	// slowShare is the share of the others' median below which a player is slow. The median is that
	// of the players' shares of questions answered in a second. enough is the number of servers a
	// second that is never slow. It is a tenth of the papers' rate.
	slowShare, enough = 0.1, 14
	// handful is the number of questions that a lossy line may leave without an answer for some
	// seconds. The search does not wait for so few.
	handful = 8
	// lagsAfter is how long a player is slow before it gets the finalists only. It is short, because
	// every further second costs a slow player a finalist, and a mistake costs a fast player
	// nothing.
	lagsAfter = time.Second
	// A player who lags counts as fast again once it answers prompt questions within promptly. That
	// happens only once. Otherwise the searches would begin again and again.
	prompt, promptly = 3, 300 * time.Millisecond
	// silence is how long a slow player may be silent between two answers.
	silence = 3 * time.Second
	// slowAfter is how long a player is slow before everybody is told.
	slowAfter = 5 * time.Second
)

// Player has a player's present numbers: the answers so far, and the questions without an answer.
type Player struct {
	ID             people.ID
	Answers, Owing int
}

// Pace watches the players of a round. The zero value has seen nobody.
type Pace struct{ marks map[people.ID]*mark }

// mark is all that the pace knows of a player.
type mark struct {
	// since is the beginning of the second under way, zero while the player owes nothing. answers
	// and owing are the player's numbers then.
	since          roomtime.Time
	answers, owing int
	// share is the share of questions that the player answered in the newest second, -1 before any
	// is over. last is the number of answers in the newest second with any, and answered its end.
	share    float64
	last     int
	answered roomtime.Time
	// slow is how long the player has been slow without a break, and lags says that this was long
	// enough.
	slow time.Duration
	lags bool
	// lapses is how often the player began to lag.
	lapses int
}

// Note takes the players' present numbers. It returns the players who begin to lag, the players who
// lag no longer, and the players who begin to be slow.
func (p *Pace) Note(now roomtime.Time, players []Player) (lagging, fast, slow []people.ID) {
	if p.marks == nil {
		p.marks = map[people.ID]*mark{}
	}
	isOver := make([]bool, len(players)) // whether a player's second is over
	for i, player := range players {
		m := p.markOf(player.ID)
		lagged := m.lags
		if isOver[i] = m.note(now, player); lagged && !m.lags {
			fast = append(fast, player.ID)
		}
	}
	for i, player := range players {
		if !isOver[i] {
			continue
		}
		m := p.marks[player.ID]
		before := m.slow
		m.judge(now, player, p.medianOfOthers(players, i))
		if m.slow >= lagsAfter && !m.lags {
			m.lags, m.lapses, lagging = true, m.lapses+1, append(lagging, player.ID)
		}
		if m.slow >= slowAfter && before < slowAfter {
			slow = append(slow, player.ID)
		}
	}
	return lagging, fast, slow
}

func (p *Pace) markOf(player people.ID) *mark {
	if p.marks[player] == nil {
		p.marks[player] = &mark{share: -1}
	}
	return p.marks[player]
}

// note takes the player's numbers. It reports whether a second is over in which the player had open
// questions all the time. A player who has answered nothing yet may still wait for the list.
func (m *mark) note(now roomtime.Time, player Player) (isOver bool) {
	switch {
	case player.Owing == 0:
		if player.Answers > 0 {
			m.share = 1
		}
		isPrompt := !m.since.IsZero() && player.Answers-m.answers >= prompt && now.Sub(m.since) <= promptly
		if isPrompt && m.lapses == 1 {
			m.lags = false
		}
		if m.since = (roomtime.Time(0)); isPrompt || !m.lags {
			m.slow = 0
		}
	case m.since.IsZero(), player.Answers == 0:
		m.begin(now, player)
	case now.Sub(m.since) >= second:
		got := player.Answers - m.answers
		m.share = float64(got) / float64(got+player.Owing)
		return true
	}
	return false
}

func (m *mark) begin(now roomtime.Time, player Player) {
	m.since, m.answers, m.owing = now, player.Answers, player.Owing
}

// medianOfOthers returns the median of the other players' shares, or 0 if nobody else has one.
func (p *Pace) medianOfOthers(players []Player, but int) float64 {
	var shares []float64
	for i, player := range players {
		if share := p.marks[player.ID].share; i != but && share >= 0 {
			shares = append(shares, share)
		}
	}
	if len(shares) == 0 {
		return 0
	}
	slices.Sort(shares)
	return (shares[(len(shares)-1)/2] + shares[len(shares)/2]) / 2
}

// judge judges the second that is over, and begins the next. A second without any answer counts
// only for a player who lags, between two answers. Other silences have other causes, and the room
// waits for them by other rules.
func (m *mark) judge(now roomtime.Time, player Player, others float64) {
	got := player.Answers - m.answers
	isBehind := m.lags || player.Owing >= handful && m.share < slowShare*others // a player who lags owes little
	isSlow := isBehind && float64(got) < enough*now.Sub(m.since).Seconds()
	switch {
	case !isSlow:
		m.slow = 0
	case got > 0 || m.lags && now.Sub(m.answered) < silence:
		m.slow += now.Sub(m.since)
	}
	if got > 0 {
		m.last, m.answered = got, now
	}
	m.begin(now, player)
}

// Lags reports whether a player was slow for so long that it gets the finalists only.
func (p *Pace) Lags(player people.ID) bool { return p.marks[player] != nil && p.marks[player].lags }

// Slow returns the players who lag and were not yet called slow, such as because a search ended
// early.
func (p *Pace) Slow(players []people.ID) (slow []people.ID) {
	for _, player := range players {
		if m := p.marks[player]; m != nil && m.lags && m.slow >= second && m.slow < slowAfter {
			m.slow = slowAfter
			slow = append(slow, player)
		}
	}
	return slow
}

// Pace returns how many answers a player gave in the newest second with any.
func (p *Pace) Pace(player people.ID) int { return p.markOf(player).last }
