package game

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"muster/internal/hint"
	"muster/internal/slip"
)

// nearness says how a text names a game. Smaller is nearer.
type nearness int

const (
	byID        nearness = iota // the game's id
	byAlias                     // another name that people use
	byName                      // its name
	byBeginning                 // one of these begins so, or a part of its name
	byInitials                  // the first letters of its name
	byWords                     // words of its name begin so, in any order
	byPart                      // one of these contains it
	bySlip                      // one of these, with letters that are wrong, missing, extra or swapped
)

// Match is a game that a text may mean.
type Match struct {
	Game Game
	near nearness
	// slips is how many letters are wrong; isWhole says that nothing of the name is missing.
	slips   int
	isWhole bool
	// IsOther says that the numbers of the text are not the game's: Chivalry 2 is no Chivalry.
	IsOther bool
	// length is the number of letters in the name. Of two games that begin alike, the one with the
	// shorter name is nearer.
	length int
}

// IsExact reports whether the text is the whole name, another name or the id of the game.
func (m Match) IsExact() bool { return m.near <= byName }

// IsSlip reports whether letters of the text are wrong.
func (m Match) IsSlip() bool { return m.near == bySlip }

// maxText is the longest text that is looked for, in letters. No game's name is longer.
const maxText = slip.Longest

// finder finds games by what people call them: names, other names, initials, beginnings, parts, and all that with slips.
//
//	text ─▶ fold: no case, accents, signs; digits for Roman numbers ─┐
//	names ▶ fold ────────────────────────────────────────────────────┴▶ nearest kind of match ─▶ ranked
type finder struct {
	games  []Game
	called []called
}

// called is what a game is called, folded.
type called struct {
	id, name, initials []folded
	aliases, parts     [][]folded
	length             int
}

func newFinder(games []Game) *finder {
	f := &finder{games: games}
	for _, g := range games {
		k := called{id: fold(g.ID), name: fold(g.Name), length: len([]rune(g.Name))}
		if len(k.name) > 0 && len(k.name[0].words) > 1 {
			k.initials = fold(firstLetters(k.name[1].words))
		}
		for _, alias := range g.Aliases {
			k.aliases = append(k.aliases, fold(alias))
		}
		for _, part := range partsOf(g.Name) {
			k.parts = append(k.parts, fold(part))
		}
		f.called = append(f.called, k)
	}
	return f
}

// find returns the games that a text may mean, the nearest first. Of equally near ones the last played games, by id, come
// first. An empty text means no game.
func (f *finder) find(text string, last ...string) []Match {
	if len([]rune(text)) > maxText {
		return nil
	}
	asked := fold(text)
	if len(asked) == 0 {
		return nil
	}
	var found []Match
	for i, k := range f.called {
		if near, is := k.match(asked); is {
			found = append(found, Match{Game: f.games[i], near: near, IsOther: near > byName && !k.hasNumbers(asked), length: k.length})
		}
	}
	if len(found) == 0 { // so slips cost nothing while somebody types
		for i, k := range f.called {
			if slips, isWhole, is := k.slips(asked); is {
				found = append(found, Match{Game: f.games[i], near: bySlip, slips: slips, isWhole: isWhole, IsOther: !k.hasNumbers(asked), length: k.length})
			}
		}
	}
	since := func(m Match) int {
		if at := slices.Index(last, m.Game.ID); at >= 0 {
			return at
		}
		return len(last)
	}
	slices.SortStableFunc(found, func(a, b Match) int {
		return cmp.Or(cmp.Compare(a.class(), b.class()), cmp.Compare(a.slips, b.slips), cmp.Compare(since(a), since(b)),
			cmp.Compare(a.near, b.near), cmp.Compare(a.length, b.length), cmp.Compare(a.Game.ID, b.Game.ID))
	})
	return found
}

// class groups kinds of matches that mean a game equally well.
func (m Match) class() int {
	switch m.near {
	case byID:
		return 0
	case byAlias, byName:
		return 1
	case bySlip:
		return 3
	}
	return 2
}

// shortestSlip is the shortest name that a text may mean although letters are wrong, in letters. Many words are near to a
// shorter one.
const shortestSlip = 5

// onlyOf returns the game that a text means if the matches leave no doubt. A text with wrong letters must be a whole name,
// and a text with numbers must have those of the game.
func onlyOf(matches []Match) (Game, bool) {
	if len(matches) == 0 {
		return Game{}, false
	}
	best := matches[0]
	if best.IsOther {
		return Game{}, false
	}
	if len(matches) > 1 && matches[1].class() == best.class() && matches[1].slips == best.slips {
		return Game{}, false
	}
	if best.IsSlip() && (!best.isWhole || best.length < shortestSlip) {
		return Game{}, false
	}
	return best.Game, true
}

// Called returns the games that a text may mean, the nearest first. One that is clear is alone.
func (t Table) Called(text string) (all []Game, err error) {
	g, like, err := t.Meant(text)
	if err == nil {
		return []Game{g}, nil
	}
	for _, m := range like {
		if m.IsSlip() {
			return nil, err
		}
		all = append(all, m.Game)
	}
	if len(all) > 0 {
		err = nil
	}
	return all, err
}

// Meant returns the game that a text means, or an error that names the nearest: an [*UnknownError] or a [*SeveralError].
// like has all that the text may mean, the nearest first; it is nil for a game's id.
func (t Table) Meant(text string) (g Game, like []Match, err error) {
	if g, err = t.Find(text); err == nil {
		return g, nil, nil
	}
	like = t.Search(text)
	if g, isClear := onlyOf(like); isClear {
		return g, like, nil
	}
	if len(like) > 1 && !like[0].IsSlip() {
		several := &SeveralError{Text: text}
		for _, m := range like {
			several.Games = append(several.Games, m.Game)
		}
		err = several
	}
	return Game{}, like, err
}

// Search returns the games that a text may mean, see finder.find.
func (t Table) Search(text string, last ...string) []Match {
	return newFinder(t.games).find(text, last...)
}

// match returns the nearest kind of match.
func (k *called) match(asked []folded) (nearness, bool) {
	all := slices.Concat([][]folded{k.id, k.name}, k.aliases)
	is := func(of []folded) bool {
		return anyPair(asked, of, func(a, b folded) bool { return a.whole == b.whole })
	}
	begins := func(of []folded) bool {
		return anyPair(asked, of, func(a, b folded) bool { return strings.HasPrefix(b.whole, a.whole) })
	}
	switch {
	case is(k.id):
		return byID, true
	case slices.ContainsFunc(k.aliases, is):
		return byAlias, true
	case is(k.name):
		return byName, true
	case slices.ContainsFunc(all, begins), slices.ContainsFunc(k.parts, begins):
		return byBeginning, true
	case is(k.initials):
		return byInitials, true
	case anyPair(asked, k.name, func(a, b folded) bool { return eachBegins(a.words, b.words, strings.HasPrefix) }):
		return byWords, true
	case slices.ContainsFunc(all, func(of []folded) bool {
		return anyPair(asked, of, func(a, b folded) bool { return len(a.whole) > 2 && strings.Contains(b.whole, a.whole) })
	}):
		return byPart, true
	}
	return 0, false
}

// hasNumbers reports whether something that the game is called begins with the numbers of a text.
func (k *called) hasNumbers(asked []folded) bool {
	numbers := numbersOf(asked)
	return slices.ContainsFunc(slices.Concat([][]folded{k.id, k.name}, k.aliases, k.parts), func(of []folded) bool {
		own := numbersOf(of)
		return len(numbers) <= len(own) && slices.Equal(numbers, own[:len(numbers)]) || strings.Join(numbers, "") == strings.Join(own, "")
	})
}

// numbersOf returns the numbers in a text, Roman ones among them.
func numbersOf(text []folded) (numbers []string) {
	for _, word := range text[len(text)-1].words {
		if unicode.IsDigit([]rune(word)[0]) {
			numbers = append(numbers, word)
		}
	}
	return numbers
}

// slips returns how many letters are wrong if few enough are. isWhole says that the text is not just a beginning.
func (k *called) slips(asked []folded) (fewest int, isWhole, is bool) {
	for _, of := range slices.Concat([][]folded{k.id, k.name}, k.aliases, k.parts) {
		anyPair(asked, of, func(a, b folded) bool {
			most := allowed(a.letters)
			whole, beginning := slip.Distance(a.letters, b.letters, most)
			if whole <= most && (!is || whole < fewest || whole == fewest && !isWhole) {
				fewest, isWhole, is = whole, true, true
			}
			if beginning <= most && (!is || beginning < fewest) {
				fewest, isWhole, is = beginning, false, true
			}
			return false
		})
	}
	if is {
		return fewest, isWhole, true
	}
	near := func(name, word string) bool {
		letters := []rune(word)
		most := allowed(letters)
		if most == 0 {
			return strings.HasPrefix(name, word)
		}
		_, beginning := slip.Distance(letters, []rune(name), most)
		return beginning <= most
	}
	is = anyPair(asked, k.name, func(a, b folded) bool { return eachBegins(a.words, b.words, near) })
	return len(asked[0].words), false, is
}

// allowed returns how many letters of a word may be wrong.
func allowed(word []rune) int {
	switch {
	case len(word) < 4:
		return 0
	case len(word) < 8:
		return 1
	}
	return 2
}

// eachBegins reports whether each asked word begins a word of its own in the name.
func eachBegins(asked, name []string, begins func(name, word string) bool) bool {
	isTaken := make([]bool, len(name))
	for _, word := range asked {
		at := -1
		for i, other := range name {
			if at < 0 && !isTaken[i] && begins(other, word) {
				at = i
			}
		}
		if at < 0 {
			return false
		}
		isTaken[at] = true
	}
	return true
}

// folded is a text without case, accents and signs, ready to be compared.
type folded struct {
	words   []string
	whole   string // the words without blanks
	letters []rune // of the whole
}

func newFolded(words []string) folded {
	whole := strings.Join(words, "")
	return folded{words, whole, []rune(whole)}
}

// anyPair reports whether two texts match in the same form, see [fold].
func anyPair(a, b []folded, match func(a, b folded) bool) bool {
	for i := range min(len(a), len(b)) {
		if match(a[i], b[i]) {
			return true
		}
	}
	return false
}

// fold returns a text in two forms: as it stands, and with digits for Roman numbers. A text without words has no form.
func fold(text string) []folded {
	words := wordsOf(text)
	if len(words) == 0 {
		return nil
	}
	var arabic []string
	for i, word := range words {
		arabic = append(arabic, number(word, i))
	}
	return []folded{newFolded(words), newFolded(arabic)}
}

// romans are the numbers that names of games have. A single letter is mostly none.
var romans = []string{"", "", "ii", "iii", "iv", "", "vi", "vii", "viii", "ix"}

// number returns a Roman number in digits, and every other word as it is. at is the word's place in its text.
func number(word string, at int) string {
	n := slices.Index(romans[2:], word) + 2
	switch {
	case word == "v" && at > 0: // V Rising is no fifth part
		return "5"
	case n < 2:
		return word
	}
	return string(rune('0' + n))
}

// fillers are words that people leave out.
var fillers = []string{"and", "the", "of"}

// wordsOf returns the words of a text in small letters without accents and signs. Numbers are words of their own.
func wordsOf(text string) (words []string) {
	var word strings.Builder
	end := func() {
		if word.Len() > 0 {
			words = append(words, word.String())
			word.Reset()
		}
	}
	var before rune
	for _, r := range norm.NFKD.String(text) {
		switch {
		case unicode.Is(unicode.Mn, r), r == '\'', r == '’', r == '`':
			continue
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			end()
		case word.Len() > 0 && unicode.IsDigit(r) != unicode.IsDigit(before):
			end()
			fallthrough
		default:
			word.WriteRune(unicode.ToLower(r))
		}
		before = r
	}
	end()
	if kept := slices.DeleteFunc(slices.Clone(words), func(w string) bool { return slices.Contains(fillers, w) }); len(kept) > 0 {
		return kept
	}
	return words
}

// firstLetters returns the first letter of each word; numbers stay whole.
func firstLetters(words []string) string {
	var all strings.Builder
	for _, word := range words {
		if r := []rune(word); unicode.IsDigit(r[0]) {
			all.WriteString(word)
		} else {
			all.WriteRune(r[0])
		}
	}
	return all.String()
}

// partsOf returns the parts of a name that people know a game by: after a colon, in brackets and before them.
func partsOf(name string) (parts []string) {
	before, inside, has := strings.Cut(name, "(")
	if has {
		parts = append(parts, before)
		for part := range strings.SplitSeq(strings.TrimSuffix(inside, ")"), ",") {
			parts = append(parts, part)
		}
	}
	if _, after, found := strings.Cut(before, ": "); found {
		parts = append(parts, after)
	}
	return parts
}

// SeveralError says that a text may mean several games.
type SeveralError struct {
	Text  string
	Games []Game // the nearest first
}

// maxNamed is how many games an error names. They fill a line or two.
const maxNamed = 6

// Said returns the error as a sentence of the catalogue.
func (e *SeveralError) Said() *hint.Said {
	return hint.Say("which.several", "text", e.Text).Advising("which.several-hint", "games", Named(e.Games))
}

func (e *SeveralError) Error() string { return e.Said().Error() }

// Hint says what a user can do about it, in English.
func (e *SeveralError) Hint() string { return e.Said().Hint() }

// Named returns the first few games as people read them: with their ids, which commands take.
func Named(games []Game) (names []string) {
	for _, g := range games[:min(len(games), maxNamed)] {
		names = append(names, g.ID+" ("+g.Name+")")
	}
	return names
}
