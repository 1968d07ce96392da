package discovery

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode"
)

// MaxProtocol is the highest number of a protocol: snapshots of Minecraft count from
// 2³⁰ on.
const MaxProtocol = 1<<31 - 1

// Tags are a server's own words for itself, in its own order, separated by blanks.
// [TagsOf] makes them.
type Tags string

const (
	// maxTags bounds the number of tags, and maxTag the bytes of each: a mod's name has
	// no more. All of them together are no longer than any other text.
	maxTags, maxTag = 24, 48
)

// TagsOf returns the words in a server's text, cleaned, each once. It leaves out words
// that are mostly digits: they are clocks and counters that change with every look
// (DayZ's 14:32, Rust's cp281). Short ones such as 1v1 stay.
func TagsOf(text string) Tags {
	if text == "" {
		return ""
	}
	var kept []string
	seen, length := map[string]bool{}, 0
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ',' || r == ';' || unicode.IsSpace(r) }) {
		word = CleanText(word)
		lower := strings.ToLower(word)
		if word == "" || len(word) > maxTag || seen[lower] || isCounter(word) {
			continue
		}
		if length += len(word) + 1; len(kept) == maxTags || length > maxText {
			break
		}
		seen[lower] = true
		kept = append(kept, word)
	}
	return Tags(strings.Join(kept, " "))
}

func isCounter(word string) bool {
	letters, digits := 0, 0
	for _, r := range word {
		switch {
		case unicode.IsLetter(r):
			letters++
		case unicode.IsDigit(r):
			digits++
		}
	}
	const fewest = 3
	return digits > letters && digits >= fewest || letters == 0
}

// Words returns the tags one by one.
func (t Tags) Words() []string { return strings.Fields(string(t)) }

// Meets reports whether a server with these tags has all wanted words, and none of
// those with a minus before it. It ignores letter case.
func (t Tags) Meets(wanted string) bool {
	if wanted == "" {
		return true
	}
	has := map[string]bool{}
	for _, word := range t.Words() {
		has[strings.ToLower(word)] = true
	}
	for word := range strings.FieldsFuncSeq(strings.ToLower(wanted), func(r rune) bool { return r == ',' || unicode.IsSpace(r) }) {
		if word, unwanted := strings.CutPrefix(word, "-"); has[word] == unwanted {
			return false
		}
	}
	return true
}

// MarshalJSON writes a list of words.
func (t Tags) MarshalJSON() ([]byte, error) { return json.Marshal(t.Words()) }

// UnmarshalJSON reads a list of words and cleans it like a stranger's text.
func (t *Tags) UnmarshalJSON(data []byte) error {
	var words []string
	err := json.Unmarshal(data, &words)
	*t = TagsOf(strings.Join(words, " "))
	return err
}

// Edition is a player's version of a game. The zero value is unknown.
type Edition struct {
	Version string `json:"version"`
	// Protocol is the newest that this version speaks, or 0.
	Protocol int `json:"protocol,omitempty"`
}

// Fit tells whether a server and a player's edition of the game go together.
type Fit uint8

const (
	// Fits means that nothing known speaks against it.
	Fits Fit = iota
	// Differs means that the two name their versions differently, which need not matter.
	Differs
	// Shuts means that the server speaks no protocol of the player's edition.
	Shuts
)

// Fit tells whether a player with an edition can join the server. If both protocols are
// known, they decide: players' programs compare nothing else. Version words alone
// decide nothing, because games differ in which versions they accept.
func (i *Info) Fit(e Edition) Fit {
	switch {
	case i.Protocol > 0 && e.Protocol > 0:
		if i.speaks(e.Protocol) {
			return Fits
		}
		return Shuts
	case i.Version == "" || e.Version == "" || isOfVersion(i.Version, e.Version) || isOfVersion(e.Version, i.Version):
		return Fits
	}
	return Differs
}

// speaks reports whether a protocol is one of the server's.
func (i *Info) speaks(protocol int) bool {
	oldest := i.Protocol
	if i.OldestProtocol > 0 {
		oldest = min(oldest, i.OldestProtocol)
	}
	return protocol >= oldest && protocol <= i.Protocol
}

// IsOfVersion reports whether the server has a wanted version. Its own words have the
// version, or go on after it: 1.20 matches 1.20.4, and 1.2 does not. Or the number is
// that of a protocol that the server speaks.
func (i *Info) IsOfVersion(wanted string) bool {
	number, err := strconv.Atoi(wanted)
	return err == nil && i.Protocol > 0 && i.speaks(number) || isOfVersion(i.Version, wanted)
}

// isOfVersion reports whether words have a version, alone or followed by a dot.
func isOfVersion(words, version string) bool {
	words, version = strings.ToLower(words), strings.ToLower(version)
	isPart := func(c byte) bool { return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' }
	for from := 0; ; from++ {
		at := strings.Index(words[from:], version)
		if version == "" || at < 0 {
			return false
		}
		from += at
		end := from + len(version)
		begins := from == 0 || !isPart(words[from-1]) && words[from-1] != '.' || words[from-1] == 'v' && (from == 1 || !isPart(words[from-2]))
		if begins && (end == len(words) || !isPart(words[end])) {
			return true
		}
	}
}

// VersionText returns the server's version for people: its own words, or else the
// numbers of its protocols.
func (i *Info) VersionText() string {
	switch {
	case i.Version != "" || i.Protocol == 0:
		return i.Version
	case i.OldestProtocol > 0 && i.OldestProtocol != i.Protocol:
		return "protocols " + strconv.Itoa(i.OldestProtocol) + " to " + strconv.Itoa(i.Protocol)
	}
	return "protocol " + strconv.Itoa(i.Protocol)
}
