package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"muster/discovery"
	"muster/discovery/sentence"
	"muster/host/schedule"
	"muster/internal/catalogue"
	"muster/selection"
	"muster/selection/rules"
)

// MaxPlayers is the most players a room may have; the largest game servers take as many.
const MaxPlayers = 64

// Settings are what the organiser decides. [Table] says how people set each of them.
type Settings struct {
	Name string `json:"name"`
	Game string `json:"game"`
	// Players is how many players the group waits for and needs seats for; with 0 the organiser
	// decides when to start.
	Players int            `json:"players"`
	By      selection.Rule `json:"by"`
	// Limits are RTTs that no player may exceed, strictest first.
	Limits Limits `json:"limits_ms"`
	// Wishes are the criteria for what a server reports. A room sets no NoPassword: it follows from
	// Password.
	selection.Wishes
	// Prefer is the margin by which the group's own servers may score worse than the best other
	// server and still be chosen. 0 means no preference.
	Prefer discovery.Millis `json:"prefer_ms,omitzero"`
	// LongLook is how long everyone looks at the finalists again, 0 for a moment.
	LongLook discovery.Millis `json:"long_look_ms,omitzero"`
	// Wait is how long the room waits for seats if all suitable servers are full; with 0 the
	// organiser decides.
	Wait discovery.Millis `json:"wait_ms,omitzero"`
	// AnyVersion keeps servers that a player's version of the game cannot join. People are told
	// either way.
	AnyVersion bool `json:"any_version,omitempty"`
	// Strategy is how players measure.
	Strategy string `json:"strategy"`
	// Agree says whether people vote, veto and confirm that they are ready before the launch. While
	// it is undecided, they do so once two players have the page open.
	Agree Decision `json:"agree,omitzero"`
	// GuestsVote gives guests a vote, although they have shown only a nickname.
	GuestsVote bool `json:"guests_vote,omitempty"`
	// Open says that joining needs no code, as long as the host has no other open room.
	Open bool `json:"open,omitempty"`
	// Announce says whether players' programs announce the room on their own networks. While it is
	// undecided, they do if they reach the host at a private address, and never on a public host.
	Announce Decision `json:"announce,omitzero"`
	// Max is the largest number of players that the room takes, if the host bounds it; 0 leaves it
	// to the room.
	Max int `json:"most,omitempty"`
	// Servers is the organiser's own list, which replaces the game's. Nobody is shown the list
	// itself.
	Servers []netip.AddrPort `json:"servers,omitempty"`
	// SteamIDs are the players' in a match, for the game server's plugin. Only players see them.
	SteamIDs SteamIDs `json:"steam_ids,omitempty"`
	// LookAround makes players' programs look for servers on their own networks, which the host
	// cannot see.
	LookAround bool `json:"look_around,omitempty"`
	// LookBeyond makes the programs of players in other private networks than the host's do so, on a
	// large LAN.
	LookBeyond bool `json:"look_beyond,omitempty"`
	// Renews says that the organiser's program sends Servers again as each round begins.
	Renews bool `json:"renews,omitempty"`
	// OwnGame describes the room's game if the host may not know it.
	OwnGame *OwnGame `json:"own_game,omitempty"`
	// Voice is the link of the group's voice channel; see [CheckVoice].
	Voice string `json:"voice,omitempty"`
	// Webhook is the URL to which the room posts in the group's channel. Anyone with the URL can
	// post there, so it is shown to nobody. NoLink leaves the room's link out of the posts, because
	// the link admits everyone who reads it.
	Webhook string `json:"-"`
	// League is the name of the league that opened the room by its key, empty for people's rooms. No
	// patch changes it.
	League string `json:"-"`
	NoLink bool   `json:"webhook_no_link,omitempty"`
	// Every is when the group meets, by [schedule.Parse], in a room that stays after the session.
	// It is empty for other rooms.
	Every string `json:"every,omitempty"`
	// Quorum is how many people must say yes for a room that stays to open without a date, 0 for no
	// such number.
	Quorum int `json:"quorum,omitempty"`
	// Seeks is what the room looks for: servers if it is empty, else [SeekPlace] or [SeekEither].
	Seeks string `json:"seeks,omitempty"`
	// Places are where a server could be; pages see their names.
	Places Venues `json:"places,omitempty"`
	// Match says how many maps a match of two sides has at most: "bo1", "bo3" or "bo5". It is empty
	// in other rooms.
	Match string `json:"match,omitempty"`
	// Order are the moves over the servers, such as "ban ban pick". If it is empty, the captains ban
	// until one server is left. Maps are the names of the match's maps; if it is empty, captains
	// decide no maps. SideA and SideB are what the sides are called.
	Order string `json:"order,omitempty"`
	Maps  string `json:"maps,omitempty"`
	SideA string `json:"side_a,omitempty"`
	SideB string `json:"side_b,omitempty"`
	// Law is the league's law on pings that the match keeps.
	Law Law `json:"law,omitzero"`
	// Turn is how long a captain may take for a move, 0 for [UsualTurn].
	Turn discovery.Millis `json:"turn_ms,omitzero"`
	// Password is the game server's password. Players get it for the launch, and nobody else sees
	// it, so it is in no document.
	Password string `json:"-"`
}

// These are the values of [Settings.Seeks]. SeekPlace looks for a place where a server of the group's own would
// suit it. SeekEither does so only if no server suits.
const SeekPlace, SeekEither = "place", "either"

// AnnounceKey is the setting that lets players' programs announce the room.
const AnnounceKey = "announce"

// passwordKey is the setting of the game server's password, and maxPassword the longest one, in bytes.
const passwordKey, maxPassword = "password", 256

// Setting is a row of the table of settings. The command line's flags, the form of pages and other
// programs, patches and what-ifs follow from it.
type Setting struct {
	// Key is the setting's name in JSON.
	Key string
	// Of points to the setting. Its type decides how people set it, unless Type says so; see [Field].
	Of   func(*Settings) any
	Type string
	// Flag is the flag of muster host, and Usage its help, in a Section; they are empty if there is
	// none.
	Flag, Usage string
	Section     Section
	// Choices are the possible values of a text, if they are limited. Examples are some values.
	Choices, Examples []string
	// OnPage says that the organiser may change the setting on the page. AtOpening says that whoever
	// opens a room sets it in a form, too. For both the catalogue has words; see [Setting.says].
	OnPage, AtOpening bool
	// Supposed says that a what-if may try it, too.
	Supposed bool
	// Rare says that hardly anybody needs it, so the page shows it apart.
	Rare bool
	// IsWish says that people are told it in a sentence with what the organiser wants.
	IsWish bool
	// Needs is the setting without which this one means nothing.
	Needs string
	// Alone is the value of the flag without an argument; if it is empty, the flag needs one.
	// Min and Max bound a time that is not 0. Unit is the unit in which people say it: "ms", "s"
	// or "min".
	Alone    string
	Min, Max time.Duration
	Unit     string
	// Longest is the longest text, in letters.
	Longest int
}

// Section is a part of the help of muster host.
type Section string

// These are the sections: what the servers must be like, what the room is like, what the evening is
// like, the match of two sides, and who gets in.
const (
	OfServers Section = "servers"
	OfRoom    Section = "room"
	OfEvening Section = "evening"
	OfMatch   Section = "match"
	OfAccess  Section = "access"
)

// These bound times. A look shorter than minLook has too few samples to tell lines apart, and no
// one sits through more than MaxLook.
const (
	minLook = 5 * time.Second
	MaxLook = 60 * time.Second
	// No round of a game ends within minWait, and no one stays longer than MaxWait.
	minWait = time.Minute
	MaxWait = 2 * time.Hour
)

// matchKey is the setting that makes a room's round a match of two sides, and serversKey the
// organiser's own list.
const matchKey, serversKey = "match", "servers"

func wishes() (rows []Setting) {
	for _, asked := range selection.Asked() {
		if asked.Key != "" {
			rows = append(rows, Setting{
				Key: asked.Key, Of: func(s *Settings) any { return asked.Of(&s.Wishes) }, Rare: asked.Rare, IsWish: true,
				Section: OfServers, Flag: asked.Flag, Usage: asked.Usage, OnPage: true,
			})
		}
	}
	return rows
}

// Table returns the table of settings.
func Table() []Setting {
	return slices.Concat([]Setting{
		{Key: "game", Of: func(s *Settings) any { return &s.Game }, Type: "game", OnPage: true},
		{Key: "by", Of: func(s *Settings) any { return &s.By },
			Section: OfServers, Flag: "by", Usage: "rule for the choice (default: the game's)", OnPage: true, Supposed: true},
		{Key: "limits_ms", Of: func(s *Settings) any { return &s.Limits },
			Section: OfServers, Flag: "max-rtt", Usage: "nobody may have a ping over this; of several the strictest that can be kept holds",
			OnPage: true, Supposed: true},
	}, wishes(), []Setting{
		{Key: "prefer_ms", Of: func(s *Settings) any {
			return &s.Prefer
		}, Rare: true, IsWish: true, Supposed: true, Min: time.Microsecond, Max: MaxRTT, Unit: "ms",
			Section: OfServers, Flag: "prefer-ours", Usage: "one of the group's favourites is chosen unless another server is " +
				"better by more than this `DURATION`", OnPage: true},
		{Key: "long_look_ms", Of: func(s *Settings) any {
			return &s.LongLook
		}, Rare: true, IsWish: true, Min: minLook, Max: MaxLook, Unit: "s", Alone: "30s",
			Section: OfServers, Flag: "long-look", Usage: "for tournaments: everyone looks at the finalists for this `DURATION`, " +
				"gently, so that loss and jitter count", OnPage: true},
		{Key: "wait_ms", Of: func(s *Settings) any { return &s.Wait }, Rare: true, Min: minWait, Max: MaxWait, Unit: "min", Alone: "30m",
			Section: OfEvening, Flag: "wait-for-seats", Usage: "where all servers that would suit are full, watch the best gently " +
				"for this `DURATION`, and go together once there is a seat for everybody",
			OnPage: true},
		{Key: "any_version", Of: func(s *Settings) any { return &s.AnyVersion }, Rare: true, IsWish: true,
			Section: OfServers, Flag: "any-version", Usage: "do not leave servers out that somebody's version of the game " +
				"(--game-version) does not get into, only say so", OnPage: true},
		{Key: "players", Of: func(s *Settings) any { return &s.Players }, IsWish: true,
			Section: OfRoom, Flag: "players", Usage: "start by itself once `N` are here; 0 waits for Enter", OnPage: true},
		{Key: "agree", Of: func(s *Settings) any { return &s.Agree },
			Section: OfEvening, Flag: "vote", Usage: "people vote, veto and say that they are ready before the launch, on the page " +
				"or in the terminal; =false goes straight there (default: they vote once two players have the page open)",
			OnPage: true},
		{Key: "guests_vote", Of: func(s *Settings) any { return &s.GuestsVote },
			Section: OfEvening, Flag: "guests-vote", Usage: "people who have only the page, and no personal link, vote, too",
			OnPage: true},
		{Key: "every", Of: func(s *Settings) any { return &s.Every }, Rare: true, Examples: []string{"fri 20:00"},
			Section: OfRoom, Flag: "every", Usage: "keep the room when the night ends, with link, people and history, until the " +
				"next evening: `WHEN` it is, as in \"fri 20:00\", \"tue,fri 8pm Europe/Berlin\", \"daily 20:00\", " +
				"\"2026-11-27 20:00\" or \"whenever\"", OnPage: true},
		{Key: "quorum", Needs: "every", Of: func(s *Settings) any { return &s.Quorum }, Rare: true,
			Section: OfRoom, Flag: "quorum", Usage: "with --every whenever: once `N` have said that they come, tell everybody and open",
			OnPage: true},
		{Key: "seeks", Of: func(s *Settings) any { return &s.Seeks }, Rare: true, Choices: []string{"", SeekPlace, SeekEither},
			Section: OfRoom, Flag: "where", Alone: SeekPlace, Usage: "look for a place where a server of your own would suit " +
				"everybody; =either: only if no server suits", OnPage: true},
		{Key: "name", Of: func(s *Settings) any { return &s.Name },
			Section: OfRoom, Flag: "room", Usage: "the room's `NAME` (default: its code)", AtOpening: true},
		{Key: passwordKey, Of: func(s *Settings) any { return &s.Password }, Type: "password", Rare: true, Longest: maxPassword,
			Section: OfEvening, Flag: "password", Usage: "the game server's `PASSWORD`, given to players only", AtOpening: true},
		{Key: voiceKey, Of: func(s *Settings) any { return &s.Voice }, Type: "link", Rare: true, Longest: maxVoice,
			Section: OfEvening, Flag: "voice", Usage: "the `LINK` of your voice channel, shown to everybody in the room: mumble://, " +
				"ts3server://, teamspeak://, Discord, Jitsi, Element, Google Meet or Steam", OnPage: true},
		{Key: WebhookKey, Of: func(s *Settings) any { return &s.Webhook }, Type: "webhook", Rare: true, Longest: maxWebhook,
			Section: OfEvening, Flag: "webhook", Usage: "post to this webhook, `URL`; better: --webhook-file",
			OnPage: true},
		{Key: NoLinkKey, Of: func(s *Settings) any { return &s.NoLink }, Rare: true,
			Section: OfEvening, Flag: "webhook-no-link", Usage: "leave the room's link, which lets in who reads it, out of what is " +
				"told there", OnPage: true},
		{Key: "open", Of: func(s *Settings) any { return &s.Open },
			Section: OfAccess, Flag: "open", Usage: "let everybody in who finds the room, without its code"},
		{Key: AnnounceKey, Of: func(s *Settings) any { return &s.Announce }, Rare: true,
			Section: OfAccess, Flag: "announce", Usage: "players' programs announce the room on their own networks, so that others there find it; " +
				"=false: only this host does (default: they do where this host has a private address)",
			OnPage: true},
		{Key: "league", Of: func(s *Settings) any { return &s.League }},
		{Key: "renews", Of: func(s *Settings) any { return &s.Renews }},
		{Key: "own_game", Of: func(s *Settings) any { return &s.OwnGame }},
		{Key: "look_around", Of: func(s *Settings) any { return &s.LookAround }},
		{Key: "look_beyond", Of: func(s *Settings) any { return &s.LookBeyond }},
		{Key: "most", Of: func(s *Settings) any { return &s.Max }},
		{Key: serversKey, Of: func(s *Settings) any { return &s.Servers }, Type: "servers"},
		{Key: matchKey, Of: func(s *Settings) any { return &s.Match }, Rare: true, Choices: []string{"", "bo1", "bo3", "bo5"},
			Section: OfMatch, Flag: "match", Usage: "a match of two sides: their captains ban and pick servers, and maps with --maps, " +
				"in turn; best of one, three or five maps", OnPage: true},
		{Key: "side_a", Needs: matchKey, Of: func(s *Settings) any { return &s.SideA }, Rare: true, Longest: maxSideName,
			Section: OfMatch, Flag: "side-a", Usage: "what a match's first side is called, by `NAME`", OnPage: true},
		{Key: "side_b", Needs: matchKey, Of: func(s *Settings) any { return &s.SideB }, Rare: true, Longest: maxSideName,
			Section: OfMatch, Flag: "side-b", Usage: "what a match's second side is called, by `NAME`", OnPage: true},
		{Key: "order", Needs: matchKey, Of: func(s *Settings) any { return &s.Order }, Type: "moves", Rare: true,
			Examples: []string{"ban ban ban ban pick", "ban ban pick", "pick"},
			Section:  OfMatch, Flag: "order", Usage: "a match's `MOVES` over the servers, as in \"ban ban ban ban pick\" (default: ban " +
				"until one is left)", OnPage: true},
		{Key: "law", Needs: matchKey, Of: func(s *Settings) any { return &s.Law }, Rare: true,
			Section: OfMatch, Flag: "law", Usage: "a league's law on pings, `NAME|FILE`: servers that break it are left out unless no other " +
				"is left, and it says who decides then (see muster laws)", OnPage: true},
		{Key: mapsKey, Needs: matchKey, Of: func(s *Settings) any { return &s.Maps }, Rare: true, Examples: []string{"dm6, dm17, ztn"},
			Section: OfMatch, Flag: "maps", Usage: "the `MAPS` that captains ban and pick after the server, as in \"dm6, dm17, ztn\"", OnPage: true},
		{Key: "turn_ms", Needs: matchKey, Of: func(s *Settings) any {
			return &s.Turn
		}, Rare: true, Min: minCaptainTurn, Max: maxCaptainTurn, Unit: "s",
			Section: OfMatch, Flag: "turn", Usage: "how long a captain may take for a move; then the room moves (default 30s)", OnPage: true},
		{Key: "steam_ids", Of: func(s *Settings) any { return &s.SteamIDs }},
		{Key: "places", Of: func(s *Settings) any { return &s.Places }, Rare: true, OnPage: true},
		{Key: "strategy", Of: func(s *Settings) any { return &s.Strategy },
			Section: OfServers, Flag: "strategy", Usage: "how players measure", Choices: strategies()},
	})
}

// strategies returns the ways in which a room's players may measure.
func strategies() []string {
	words := []string{Coordinated}
	for _, s := range discovery.Strategies() {
		words = append(words, string(s))
	}
	return words
}

// OnPage reports whether the organiser may change a setting on the page.
func OnPage(s Setting) bool { return s.OnPage }

// Supposed reports whether a what-if may change a setting.
func Supposed(s Setting) bool { return s.Supposed }

// keysOf returns the keys of the settings that may be changed.
func keysOf(may func(Setting) bool) (keys []string) {
	for _, row := range Table() {
		if may(row) {
			keys = append(keys, row.Key)
		}
	}
	return keys
}

// Patched returns the settings with the values of a JSON object. It refuses settings that the patch
// may not change. An error names an invalid setting.
//
// Texts are cleaned first: a text without visible characters is empty. Callers that must predict
// what the room will do call Patched, too.
func (s Settings) Patched(patch []byte, may func(Setting) bool) (_ Settings, err error) {
	var values map[string]json.RawMessage
	if err := json.Unmarshal(patch, &values); err != nil {
		return s, fmt.Errorf("no settings: %w", InJSON(err))
	}
	if why := strange(values, keysOf(may)); why != nil {
		return s, why
	}
	s.Limits = slices.Clone(s.Limits)
	if s.MaxBots != nil { // the patch must not write to the room's own number
		bots := *s.MaxBots
		s.MaxBots = &bots
	}
	for _, row := range Table() {
		value, named := values[row.Key]
		if !named {
			continue
		}
		if err := json.Unmarshal(value, row.Of(&s)); err != nil {
			return s, row.refused(err)
		}
		if took, is := row.Of(&s).(*discovery.Millis); is {
			if err := row.CheckTime(time.Duration(*took)); err != nil {
				return s, row.refused(err)
			}
		}
		if text, is := row.Of(&s).(*string); is {
			if *text, err = row.text(*text); err != nil {
				return s, err
			}
		}
	}
	if s.OwnGame != nil {
		own := *s.OwnGame
		own.Name = discovery.CleanText(own.Name)
		s.OwnGame = &own
		if err := own.check(); err != nil {
			return s, Setting{Key: "own_game"}.refused(err)
		}
	}
	if s.Voice != "" {
		if err := CheckVoice(s.Voice); err != nil {
			return s, err
		}
	}
	if s.Webhook != "" {
		if err := CheckWebhook(s.Webhook); err != nil {
			return s, err
		}
	}
	if err := s.CheckMatch(); err != nil {
		return s, err
	}
	if s.Every != "" {
		when, err := schedule.Parse(s.Every, "")
		if err != nil {
			return s, whenRefused(err)
		}
		s.Every = when.String()
	}
	switch {
	case s.Players < 0:
		return s, impossible("refused.players-negative", "n", s.Players)
	case s.Players > MaxPlayers, s.Quorum < 0, s.Quorum > MaxPlayers:
		return s, impossible("refused.players-most", "n", MaxPlayers)
	case s.Max > 0 && s.Players > s.Max:
		return s, impossible("refused.players-most-here", "n", s.Max)
	}
	return s, s.Criteria().Check(nil)
}

// impossible refuses a setting with the sentence of a key; see [sentence.Of].
func impossible(key string, pairs ...any) error { return Refuse(ReasonAction, key, pairs...) }

func (row Setting) refused(err error) error {
	var refusal *Refusal
	if !errors.As(err, &refusal) {
		return fmt.Errorf("%s: %w", row.Key, InJSON(err))
	}
	var name any = row.Key
	if row.OnPage {
		name = row.says("label")
	}
	return impossible("refused.setting", "setting", name, "why", refusal.Says)
}

// whenRefused says why a text is no schedule.
func whenRefused(err error) error {
	var zone schedule.UnknownZoneError
	var ambiguous schedule.AmbiguousZoneError
	switch {
	case errors.As(err, &ambiguous):
		return impossible("refused.every-zones", "zone", ambiguous.Name, "zones", ambiguous.Zones)
	case errors.As(err, &zone):
		return impossible("refused.every-zone", "zone", string(zone))
	case errors.Is(err, schedule.ErrNoZone):
		return impossible("refused.every-no-zone", "example", `"fri 20:00 Europe/Berlin"`)
	}
	return impossible("refused.every-form", "weekly", `"fri 20:00"`, "often", `"tue,fri 8pm Europe/Berlin"`,
		"once", `"2026-11-27 20:00"`, "never", `"whenever"`)
}

// IsWhole reports whether a text is accepted whole or not at all. A shortened link leads elsewhere,
// and a password without one of its spaces opens nothing.
func (row Setting) IsWhole() bool {
	return row.isLink() || row.Key == passwordKey || row.Key == mapsKey
}

func (row Setting) isLink() bool { return row.Type == "link" || row.Type == "webhook" }

func (row Setting) text(given string) (string, error) {
	switch {
	case row.isLink():
		return strings.TrimSpace(given), nil // Patched checks it as a whole
	case row.Key == passwordKey && len(given) > maxPassword:
		return "", impossible("refused.password-long", "n", maxPassword)
	case row.Key == passwordKey && strings.ContainsFunc(given, func(c rune) bool { return c == utf8.RuneError || !unicode.IsPrint(c) }):
		return "", impossible("refused.password-hidden")
	case row.Key == passwordKey:
		return given, nil
	case row.Key == mapsKey: // longer than a text may be
		return strings.Join(splitMaps(given), ", "), nil
	}
	text := discovery.CleanText(given)
	if row.Choices != nil && !slices.Contains(row.Choices, text) {
		return "", impossible("refused.setting-words", "setting", row.Key, "text", text, "words", strings.Join(row.Choices, ", "))
	}
	return text, nil
}

// CheckTime says why the setting cannot have this time, nil if it can. The error does not name the
// setting.
func (row Setting) CheckTime(d time.Duration) error {
	if d != 0 && (d < row.Min || d > row.Max) {
		return impossible("refused.time", "time", spoken(d), "least", spoken(row.Min), "most", spoken(row.Max))
	}
	return nil
}

// spoken says a time as people do, such as 5 min, 30 s or 15 ms.
func spoken(d time.Duration) sentence.Sentence {
	for _, unit := range []struct {
		one time.Duration
		key string
	}{{time.Hour, "unit.h"}, {time.Minute, "unit.min"}, {time.Second, "unit.s"}} {
		if d%unit.one == 0 {
			return sentence.Of(unit.key, "n", int(d/unit.one))
		}
	}
	return sentence.Of("unit.ms", "n", float64(d)/float64(time.Millisecond))
}

// Criteria returns what the settings demand of a server.
func (s Settings) Criteria() selection.Criteria {
	c := selection.Criteria{By: s.By, Limits: s.Limits, Wishes: s.Wishes, Allowed: time.Duration(s.Prefer)}
	c.NoPassword = s.Password == ""
	return c
}

// Wanted says what the organiser wants, in players' words.
func (s Settings) Wanted() sentence.Sentence {
	wishes := []sentence.Sentence{s.Rule()}
	var unset Settings
	for _, row := range Table() {
		if row.IsWish && !reflect.DeepEqual(row.Of(&s), row.Of(&unset)) {
			wishes = append(wishes, row.says("wanted", "value", row.value(&s)))
		}
	}
	if s.Game == "" {
		return sentence.Of("room.wanted-place", "wishes", wishes)
	}
	return sentence.Of("room.wanted", "game", s.Game, "wishes", wishes)
}

// String is [Settings.Wanted] in English.
func (s Settings) String() string { return catalogue.InEnglish().Say(s.Wanted()) }

// GameName returns what people call the room's game, if the room knows it.
func (s Settings) GameName() string {
	if own := s.OwnGame; own != nil && own.ID == s.Game && own.Name != "" {
		return own.Name
	}
	return s.Game
}

// Rule returns the rule and its limits, in players' words.
func (s Settings) Rule() sentence.Sentence {
	var limits []string
	for _, limit := range s.Limits {
		limits = append(limits, limit.String())
	}
	args := []any{"rule", rules.Of(s.By).Short(), "limits", len(limits)}
	if len(limits) > 0 {
		args = append(args, "first", limits[0], "others", limits[1:])
	}
	return sentence.Of("room.rule", args...)
}
