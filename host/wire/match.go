package wire

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"muster/discovery"
	"muster/discovery/sentence"
	"muster/selection/even"
	"muster/selection/law"
)

// Side is one of a match's two sides, [SideA] or [SideB]. It is empty for people on neither, such
// as casters and referees.
type Side string

// The sides of a match.
const (
	SideA Side = "a"
	SideB Side = "b"
)

// IsValid reports whether this is a side, or neither.
func (s Side) IsValid() bool { return s == "" || s == SideA || s == SideB }

// Other returns the opposite side.
func (s Side) Other() Side {
	switch s {
	case SideA:
		return SideB
	case SideB:
		return SideA
	}
	return ""
}

// Match is what everyone sees of a match: its sides, and how they come to a server and to maps. The
// sides' captains ban and pick in turn:
//
//	order      ban  ban  ban  ban  pick
//	captain     a    b    a    b    a     ─▶ one server, then the maps in the same way
//
// Until the server is decided, a player sees their own pings and the sides' averages, and nobody
// else's pings; see [Own].
type Match struct {
	// BestOf is how many maps the match has at most: 1, 3 or 5.
	BestOf int `json:"best_of"`
	// Camps are the two sides, a first.
	Camps [2]Camp `json:"camps"`
	// Turn is the move that the room waits for. It is nil if the room waits for no move.
	Turn *Turn `json:"turn,omitempty"`
	// Moves are the moves that were made, the oldest first.
	Moves []Move `json:"moves"`
	// Servers are the finalists, in an order that stays while captains move.
	Servers []MatchServer `json:"servers"`
	// Maps are the maps of the match's pool. It is empty if captains decide no maps.
	Maps []MatchMap `json:"maps"`
	// Decided says that all moves are made. Server is then where the match is, and Play are its maps
	// in the order in which they are played.
	Decided bool     `json:"decided,omitempty"`
	Server  string   `json:"server,omitempty"`
	Play    []string `json:"play,omitempty"`
	// Venues are the servers of the maps that are played, in their order, if a law has them on two.
	// Law is the league's law, nil without one.
	Venues []MatchPlace `json:"venues,omitempty"`
	Law    *MatchLaw    `json:"law,omitempty"`
	// Even are the delays that would make pings even on the server, by player. It is empty until the
	// match is decided. It is advice; Evened says what is applied.
	Even map[string]Even `json:"even,omitempty"`
	// Evened is what both captains have agreed to, and what programs do about it.
	Evened *Evened `json:"evened,omitempty"`
}

// Even are a player's delays in ms: SidesMS makes the sides' average pings even, and AllMS all
// players' pings.
type Even struct {
	SidesMS int `json:"sides_ms"`
	AllMS   int `json:"all_ms"`
}

// MatchLaw is the law of a match. Its texts are the league's.
type MatchLaw struct {
	Name   string `json:"name"`
	League string `json:"league"`
	Source string `json:"source"`
	// Says are its sentences: of limits, minping, objections, its order, and what follows then.
	Says []string `json:"says"`
	// Said is what the law's own order has decided, and once the match is decided, what its server
	// keeps or breaks. Breaks says the same in figures.
	Said   []sentence.Sentence `json:"said,omitempty"`
	Breaks []law.Break         `json:"breaks,omitempty"`
	// MinpingMS is the ping up to which a side has asked for a delay. It is advice, as Even is.
	MinpingMS float64 `json:"minping_ms,omitempty"`
}

// Camp is one side of a match.
type Camp struct {
	Side Side `json:"side"`
	// Name is what the side is called. It is empty if nobody has named the side.
	Name string `json:"name"`
	// Captain moves for the side. It is empty while the side has no players.
	Captain string   `json:"captain,omitempty"`
	Players []string `json:"players"`
	// Asks says that the side has asked for a long look at the finalists before it moves.
	Asks bool `json:"asks,omitempty"`
}

// The kinds of a move, and of what it is about. To the server that was decided, where a law lets
// somebody object, they say Object, AskDelay or Accept.
const (
	Ban      = "ban"
	Pick     = "pick"
	Object   = "object"
	AskDelay = "delay"
	Accept   = "accept"
	OfServer = "server"
	OfMap    = "map"
)

// Turn is the move that the room waits for.
type Turn struct {
	// Number is the move's place among all moves, from 1. A captain names it, so that a late press
	// is no move of the next turn.
	Number int `json:"number"`
	// Kind is [Ban], [Pick] or [Object], and Of is [OfServer] or [OfMap].
	Kind string `json:"kind"`
	Of   string `json:"of"`
	// Side is the side that moves. It is empty if both may, or if the organiser moves.
	Side Side `json:"side"`
	// Captain is the person who moves. If both captains may, Captains are those who have not moved yet.
	// In a Blind turn neither sees the other's move. Admin says that the organiser moves. Delay is who
	// may ask for a delay in place of another server.
	Captain  string   `json:"captain"`
	Captains []string `json:"captains,omitempty"`
	Blind    bool     `json:"blind,omitempty"`
	Admin    bool     `json:"admin,omitempty"`
	Delay    string   `json:"delay,omitempty"`
	// Nth is the place among moves of the kind about the same thing, from 1, and Total how many
	// these are: the third ban of four.
	Nth   int `json:"nth"`
	Total int `json:"total"`
	// Until is when the room moves for the captain.
	Until time.Time `json:"until"`
}

// Move is a move that was made.
type Move struct {
	Number int    `json:"number"`
	Kind   string `json:"kind"`
	Of     string `json:"of"`
	Side   Side   `json:"side"`
	// By is the captain who moved. It is empty if the clock ran out and the room moved.
	By string `json:"by,omitempty"`
	// What is the server's address, or the map.
	What string    `json:"what"`
	At   time.Time `json:"at"`
}

// MatchServer is a server that captains decide about. MeansMS are the sides' average pings, a's
// first; 0 is unknown. Gone is the number of the move that banned it, 0 for none.
type MatchServer struct {
	Addr string `json:"addr"`
	ServerCard
	MeansMS [2]float64 `json:"means_ms"`
	Gone    int        `json:"gone,omitempty"`
}

// MatchMap is a map of a match's pool. Gone is the number of the move that banned it, Picked that
// of the move that picked it, 0 for none.
type MatchMap struct {
	Name   string `json:"name"`
	Gone   int    `json:"gone,omitempty"`
	Picked int    `json:"picked,omitempty"`
}

// Own are a player's own pings in ms, by server address, or by the ID of a [Leader]. In a match
// nobody else is shown them until the server is decided; then those to that server are shown.
type Own map[string]float64

// UsualTurn is how long a captain may take for a move unless the settings say otherwise.
const UsualTurn = 30 * time.Second

const (
	// A clock under minCaptainTurn is over before a captain has read the servers' names. Nobody waits
	// longer than maxCaptainTurn.
	minCaptainTurn = 10 * time.Second
	maxCaptainTurn = 5 * time.Minute
	// maxMoves bounds an order of moves, and maxMaps a pool of maps. Leagues have seven to nine
	// maps.
	maxMoves = 16
	maxMaps  = 32
	// mapsKey is the setting of the match's maps.
	mapsKey = "maps"
	// maxMapName and maxSideName bound names, in letters.
	maxMapName  = 48
	maxSideName = 24
)

// IsMatch reports whether the room is a match of two sides.
func (s *Settings) IsMatch() bool { return s.Match != "" }

// BestOf returns how many maps the match has at most; 0 in other rooms.
func (s *Settings) BestOf() int {
	return map[string]int{"bo1": 1, "bo3": 3, "bo5": 5}[s.Match]
}

// ServerOrder returns the moves in which captains choose servers, each [Ban] or [Pick]. It is empty
// if the captains ban until one server is left.
func (s *Settings) ServerOrder() []string { return strings.Fields(s.Order) }

// MapPool returns the match's maps.
func (s *Settings) MapPool() []string { return splitMaps(s.Maps) }

// TurnTime returns how long a captain may take for a move.
func (s *Settings) TurnTime() time.Duration { return cmp.Or(time.Duration(s.Turn), UsualTurn) }

// Called returns what a sentence calls a side: its name, or a word for a side without one.
func (s *Settings) Called(side Side) any {
	if name := map[Side]string{SideA: s.SideA, SideB: s.SideB}[side]; name != "" {
		return name
	}
	return sentence.Of("match.side." + string(side))
}

// CheckMatch brings the settings of a match into their usual form. Its error names an invalid one.
func (s *Settings) CheckMatch() error {
	moves := strings.FieldsFunc(strings.ToLower(s.Order), func(c rune) bool { return strings.ContainsRune(" ,;-+", c) })
	for i, move := range moves {
		if move != Ban && (move != Pick || i < len(moves)-1) || len(moves) > maxMoves {
			return impossible("refused.order", "example", `"ban ban ban ban pick"`, "n", maxMoves)
		}
	}
	s.Order = strings.Join(moves, " ")
	for _, name := range []string{s.SideA, s.SideB} {
		if utf8.RuneCountInString(name) > maxSideName {
			return impossible("refused.side-name", "n", maxSideName)
		}
	}
	if s.SideA != "" && strings.EqualFold(s.SideA, s.SideB) {
		return impossible("refused.side-names", "name", s.SideA)
	}
	if err := s.checkLaw(); err != nil {
		return err
	}
	maps := splitMaps(s.Maps)
	for i, name := range maps {
		isTwice := slices.ContainsFunc(maps[:i], func(other string) bool { return strings.EqualFold(other, name) })
		if isTwice || utf8.RuneCountInString(name) > maxMapName || len(maps) > maxMaps {
			return impossible("refused.maps", "n", maxMaps, "letters", maxMapName)
		}
	}
	s.Maps = strings.Join(maps, ", ")
	if best := s.BestOf(); len(maps) > 0 && len(maps) < best {
		return impossible("refused.maps-few", "best", best, "n", len(maps))
	}
	return nil
}

// splitMaps returns the names in a list of maps. A name may have blanks.
func splitMaps(text string) (maps []string) {
	for name := range strings.SplitSeq(text, ",") {
		if name = discovery.CleanText(name); name != "" {
			maps = append(maps, name)
		}
	}
	return maps
}

// Law is the law of a match, nil for none. In JSON it is the name of a law that comes with Muster, or
// a whole law, a muster.law/1 document.
type Law struct{ *law.Law }

// IsZero reports whether there is no law.
func (l Law) IsZero() bool { return l.Law == nil }

// MarshalJSON writes a known law by its name.
func (l Law) MarshalJSON() ([]byte, error) {
	switch {
	case l.Law == nil:
		return []byte(`""`), nil
	case reflect.DeepEqual(l.Law, law.Known(l.Name)):
		return json.Marshal(l.Name)
	}
	return json.Marshal(l.Law)
}

// UnmarshalJSON refuses a name that nobody knows, and a law that is malformed or contradicts itself.
func (l *Law) UnmarshalJSON(data []byte) (err error) {
	var name string
	if json.Unmarshal(data, &name) == nil {
		if l.Law = law.Known(name); l.Law == nil && name != "" {
			return impossible("refused.law-unknown", "names", law.Names())
		}
		return nil
	}
	l.Law, err = law.Read(data)
	if faults := law.Faults(nil); errors.As(err, &faults) {
		var why []string
		for _, fault := range faults {
			why = append(why, strings.TrimPrefix(law.Faults{fault}.Error(), "law: "))
		}
		return impossible("refused.law", "faults", strings.Join(why, "; "))
	}
	return err
}

// checkLaw refuses an order of the captains' moves beside a law that says itself what follows if they
// do not agree, or whose own order always decides.
func (s *Settings) checkLaw() error {
	if l := s.Law.Law; l != nil && s.Order != "" && (l.Disagreement.Way != "" || len(l.Rules) == 0) {
		return impossible("refused.law-order", "league", l.League, "says", cmp.Or(l.Disagreement.Says, l.Order.Says))
	}
	return nil
}

// Delay tells a program how long to hold the packets of its player's game in a round, half of the
// time each way. The program starts the game through its own line then. With 0 an open line passes everything on
// at once, and a game that starts later goes directly.
type Delay struct {
	Round int              `json:"round"`
	By    discovery.Millis `json:"by_ms"`
}

// Status asks a program what the server to which it was sent says of its players. The answer is [Pings].
type Status struct {
	Round int `json:"round"`
}

// Pings are the pings that the game's server lists.
type Pings struct {
	Round int         `json:"round"`
	Pings []NamedPing `json:"pings"`
}

// NamedPing is a player's ping in ms, by the player's name in the game. No two players share it.
type NamedPing struct {
	Name string  `json:"name"`
	MS   float64 `json:"ms"`
}

func (Delay) kind() string  { return "delay" }
func (Status) kind() string { return "status" }
func (Pings) kind() string  { return "pings" }

func (d Delay) check() error {
	if by := time.Duration(d.By); by < 0 || by > even.MaxAdded*time.Millisecond {
		return fmt.Errorf("a delay of %v", by)
	}
	return nil
}

// MaxPings bounds the players of a server whose pings a program reports.
const MaxPings = 255

func (p Pings) check() error {
	if len(p.Pings) > MaxPings {
		return fmt.Errorf("pings of %d players", len(p.Pings))
	}
	for _, one := range p.Pings {
		if one.MS < 0 || one.MS > float64(MaxRTT.Milliseconds()) {
			return fmt.Errorf("a ping of %v ms", one.MS)
		}
	}
	return nil
}

// Evened says how a match's pings are made even while people play.
type Evened struct {
	// Agreed are the sides whose captains have agreed, a first.
	Agreed []Side `json:"agreed,omitempty"`
	// AddedMS are the delays by player, in ms, while people play. Only players whose programs delay the
	// game stand in it.
	AddedMS map[string]int `json:"added_ms,omitempty"`
	// Ended is the person who has ended it for all.
	Ended string `json:"ended,omitempty"`
}
