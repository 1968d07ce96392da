package room

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"muster/host/room/ballot"
	"muster/host/room/outage"
)

// leftAfter is how long a player's program may be away, while people vote or count down,
// until the others choose without: longer than the longest pause of a peer that tries to
// come back, so that whoever merely changed networks loses nothing.
const leftAfter = 8 * time.Second

// absent are the players whom the choice was made for and who are away, and of those who
// have been for long enough to have left. If most are it is likely our own line, and
// nobody has left before a round's pause would end.
func (r *Room) absent() (away, left []*player) {
	group := r.round.chosenFor()
	away = filtered(group, func(p *player) bool { return !p.connected })
	after := leftAfter
	if 2*len(away) > len(group) {
		after = outage.LongestPause
	}
	return away, filtered(away, func(p *player) bool { return r.now.Sub(p.heard) >= after })
}

// goOnWithout has the others choose again if somebody has left.
func (r *Room) goOnWithout() {
	away, left := r.absent()
	if len(left) == 0 || len(left) == len(r.round.chosenFor()) {
		return // nobody is there to go on
	}
	for _, p := range left {
		p.leftOut = true
		p.missed += leftAfter // who comes and goes has a say for so long only
		r.round.ballot.Withdraw(p.name, ballot.Vote|ballot.Ready)
	}
	r.chooseAgain(sentenceOf(names(left), "left"))
	if len(away) == len(left) {
		r.isReady()
	}
}

// chooseAgain chooses for those who are left of the group, or are more by now: what says
// in a sentence why. If the same server is the best the vote goes on, and the countdown.
func (r *Room) chooseAgain(what string) {
	group := r.round.chosenFor()
	selected := r.selectFor(group)
	before := r.round.selection.Chosen
	if selected.Chosen == nil || before == nil || selected.Chosen.Server != before.Server {
		r.note("%s Choosing again for %s.", what, headcount(names(group)))
		r.rechoose(selected)
		return
	}
	r.note("%s %s is still the best for %s.", what, r.round.serverName(before.Server), headcount(names(group)))
	selected.Doubts = r.round.selection.Doubts
	r.round.selection, r.round.whatIf = &selected, nil
	r.weigh()
	r.round.ballot.Open(r.round.options())
}

// comesBack counts a player again who was left out for having left while people vote. The
// first of a group that was mostly away gives the rest of them leftAfter to follow: a line
// that comes up again does not bring all of them at once.
func (r *Room) comesBack(p *player) {
	if !r.isVoting() {
		return
	}
	group := r.round.chosenFor()
	away, _ := r.absent()
	if slices.Contains(group, p) && 2*len(away) <= len(group) && 2*(len(away)+1) > len(group) {
		for _, late := range away {
			late.heard = r.now
		}
	}
	if !p.leftOut || r.round.trust.IsExcluded(p.name) || p.missed == 0 || p.missed > mostMissed || !r.round.hasMeasured(p) {
		return
	}
	group = append(group, p)
	p.leftOut = false
	if selected := r.selectFor(group); selected.Chosen != nil {
		selection := *r.round.selection
		selection.Players = selected.Players
		r.round.selection = &selection
		r.chooseAgain(sentenceOf([]string{p.name}, "is back"))
		return
	}
	p.leftOut = true
}

// isReady counts down if people are ready: nobody need say it again because another has left.
func (r *Room) isReady() {
	if v, voting := r.phase.(*Voting); voting && r.round.ballot.IsReady(r.electorate()) {
		v.countDown(r, "everyone is ready")
	}
}

// sentenceOf is what one or several people did.
func sentenceOf(who []string, did string) string {
	if n := len(who); n > 1 {
		return fmt.Sprintf("%s and %s %s.", strings.Join(who[:n-1], ", "), who[n-1], did)
	}
	return fmt.Sprintf("%s %s.", who[0], did)
}

// headcount is for how many people something is, in words as people say small numbers; one
// alone has a name.
func headcount(who []string) string {
	words := []string{"nobody", "", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"}
	switch n := len(who); {
	case n == 1:
		return who[0]
	case n < len(words):
		return words[n]
	default:
		return strconv.Itoa(n)
	}
}
