package scout

// Doubt is about pings that no light could have: of one player's line, of a place, or of one ping. Who or
// what it is not about is -1.
type Doubt struct {
	Player, Place int
	Why           Why
}

// Why is the likely cause of a [Doubt].
type Why string

// These are the causes.
const (
	// LineAnswers: something on the player's line, such as a transparent proxy, answers for places
	// everywhere. None of the player's pings by this way count.
	LineAnswers Why = "line"
	// NearEverybody: the place answers near by wherever one is (anycast), or is not where it is said to
	// be. No server there would have that ping.
	NearEverybody Why = "anycast"
	// TooShort: this player's ping of the place contradicts the player's others, and nobody else's does.
	TooShort Why = "short"
)

const (
	// kmPerMS is how far light in glass comes and goes in a ms.
	kmPerMS = 100
	// offPlace, in km, is how far a machine may be from the middle of its city, and slackMS, in ms, what a
	// clock may be off.
	offPlace, slackMS = 150, 1
	// linesShare is the share of contradicted places, as a divisor, above which the line is doubted.
	linesShare = 3
)

// Doubts returns what is doubtful about the players' pings: the ways to two places are together at least as
// long as the way between them,
//
//	km(a, b) ≤ 100·(ping a + ping b)
//
// and the fewest places are doubted without which this holds. A place that is doubted for half of the
// players it answered, whose lines are not, is doubted for all.
func Doubts(places []Place, players []Player) (doubts []Doubt) {
	against := make([][]int, len(places)) // the players for whom a place is doubtful
	answered := make([]int, len(places))
	for i := range players {
		known, wrong := contradicted(places, &players[i])
		if len(wrong)*linesShare > len(known) {
			doubts = append(doubts, Doubt{i, -1, LineAnswers})
			continue
		}
		for _, at := range known {
			answered[at]++
		}
		for _, at := range wrong {
			against[at] = append(against[at], i)
		}
	}
	for at, who := range against {
		switch {
		case len(who) == 0:
		case 2*len(who) >= answered[at]:
			doubts = append(doubts, Doubt{-1, at, NearEverybody})
		default:
			for _, player := range who {
				doubts = append(doubts, Doubt{player, at, TooShort})
			}
		}
	}
	return doubts
}

// contradicted returns the places that answered a player, and those of them to be doubted: again and again
// the one that most others contradict, and of several the one with the shortest ping for its distance.
func contradicted(places []Place, p *Player) (known, wrong []int) {
	for at := range places {
		if p.hasPing(at) && places[at].isKnown() {
			known = append(known, at)
		}
	}
	left := append([]int(nil), known...)
	for {
		worst, most, longest := -1, 0, 0.0
		for i, a := range left {
			n, beyond := 0, 0.0
			for _, b := range left {
				if over := (places[a].km(places[b])-offPlace)/kmPerMS - p.Pings[a] - p.Pings[b] - slackMS; over > 0 {
					n, beyond = n+1, beyond+over
				}
			}
			if n > most || n == most && n > 0 && beyond > longest {
				worst, most, longest = i, n, beyond
			}
		}
		if worst < 0 {
			return known, wrong
		}
		wrong = append(wrong, left[worst])
		left = append(left[:worst], left[worst+1:]...)
	}
}
