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

// Tags are words that a server describes itself with, in its own order, each after the
// first behind a blank. [TagsOf] makes them of what it says.
type Tags string

const (
	// maxTags and maxTag bound the tags and the bytes of one: a mod's name has no more.
	// All of them are no longer than any other text.
	maxTags, maxTag = 24, 48
)

// TagsOf are the words in a text of a server's, cleaned, each once. Words of which most
// is numbers are clocks and counters (DayZ's 14:32, Rust's cp281), another one with
// every look: they are left out, unless they are as short as 1v1.
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

// Words are the tags one by one.
func (t Tags) Words() []string { return strings.Fields(string(t)) }

// Meets reports whether a server with these tags has all words that are wanted, and
// none that stands there with a minus before it, letter case apart.
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

// UnmarshalJSON reads a list of words, whoever wrote it.
func (t *Tags) UnmarshalJSON(data []byte) error {
	var words []string
	err := json.Unmarshal(data, &words)
	*t = TagsOf(strings.Join(words, " "))
	return err
}

// Edition is what a player has of a game. The zero value is nobody knows what.
type Edition struct {
	Version string `json:"version"`
	// Protocol is the newest that this version speaks, or 0.
	Protocol int `json:"protocol,omitempty"`
}

// Fit is how a server and a player's edition of the game go together.
type Fit uint8

const (
	// Fits: nothing is known that speaks against it.
	Fits Fit = iota
	// Differs: they call their versions differently, which need not matter.
	Differs
	// Shuts: the server speaks no protocol that the player's edition does.
	Shuts
)

// Fit is whether a player with an edition gets into the server, as far as it tells.
// Protocols decide where both are known, as players' programs compare them and nothing
// else; words alone do not, as games differ in what they let in.
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

// IsOfVersion reports whether the server is of a version that somebody wants: its own
// words have it, or go on behind it (1.20 is 1.20.4, too, and no 1.2), or a number is
// that of a protocol which it speaks.
func (i *Info) IsOfVersion(wanted string) bool {
	number, err := strconv.Atoi(wanted)
	return err == nil && i.Protocol > 0 && i.speaks(number) || isOfVersion(i.Version, wanted)
}

// isOfVersion reports whether a version stands in a server's words, alone or with more
// behind a dot.
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

// VersionText is what people read of the server's version: its own words, or the
// numbers of its protocols where it has none.
func (i *Info) VersionText() string {
	switch {
	case i.Version != "" || i.Protocol == 0:
		return i.Version
	case i.OldestProtocol > 0 && i.OldestProtocol != i.Protocol:
		return "protocols " + strconv.Itoa(i.OldestProtocol) + " to " + strconv.Itoa(i.Protocol)
	}
	return "protocol " + strconv.Itoa(i.Protocol)
}
