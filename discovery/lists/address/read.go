package address

import (
	"net/netip"
	"slices"
	"strings"
	"unicode"
)

// Line is what a line says about servers.
type Line struct {
	// Type is QStat's type in upper case (Q3S, A2S), or empty.
	Type string
	// Addresses are all servers that stand there, at least one.
	Addresses []Address
	// Name is the text after the only address.
	Name string
}

// longestLine is the longest line that is read, in bytes: an address with the longest
// names of all kinds.
const longestLine = 4 << 10

// Read reads a line. Its error is an [*Error].
func Read(text string) (Line, error) {
	if at, err := netip.ParseAddrPort(text); err == nil { // most lists have nothing else
		a, rank := ipAt(at.Addr(), "", false)
		if a.Port = at.Port(); rank == sure && a.Port != 0 {
			return Line{Addresses: []Address{a}}, nil
		}
	}
	if len(text) > longestLine {
		return Line{}, wrong(text, "%s", wantLine)
	}
	l := reader{text: text, tokens: scan(text)}
	l.mark()
	for i, t := range l.tokens {
		if t.rank == broken && !l.isBeside(i) {
			return Line{}, l.broken(t)
		}
	}
	chosen := l.choose()
	if len(chosen) == 0 {
		return Line{}, wrong(strings.TrimSpace(text), "%s", wantLine)
	}
	if err := l.addPorts(chosen); err != nil {
		return Line{}, err
	}
	return l.result(chosen)
}

// One reads a text with a single address and nothing that could be another.
func One(text string) (Address, error) {
	line, err := Read(text)
	switch {
	case err != nil:
		return Address{}, err
	case len(line.Addresses) > 1:
		return Address{}, wrong(text, "%s", wantAddress)
	}
	return line.Addresses[0], nil
}

type reader struct {
	text   string
	tokens []token
	// words are the indexes of the tokens that are no gaps and count.
	words []int
	// taken holds the numbers that are ports.
	taken map[int]bool
}

// mark marks what is not an address: passwords, the number of a list, and names in quotation marks.
func (l *reader) mark() {
	l.taken = make(map[int]bool)
	for i, t := range l.tokens {
		if t.isGap {
			continue
		}
		if len(l.words) == 0 && isNumber(t.text) && l.next(i) >= 0 && !strings.HasPrefix(t.text, ":") {
			if n, _ := portOf(bare(t.text)); n < firstPort { // 1. ADDRESS
				l.tokens[i].isOut = true
				continue
			}
		}
		if before := l.before(i); before >= 0 && t.rank < sure && slices.Contains(secrets, bare(l.tokens[before].text)) && !l.tokens[before].isOut {
			l.tokens[i].isOut = true
		}
		if isMark(t.text) {
			continue
		}
		l.words = append(l.words, i)
	}
	l.markQuotes()
}

// markQuotes marks what stands between quotation marks beside other words.
func (l *reader) markQuotes() {
	open := -1
	for i, t := range l.tokens {
		if !t.isGap || t.text != `"` {
			continue
		}
		if open < 0 {
			open = i
			continue
		}
		inside := l.tokens[open+1 : i]
		if slices.ContainsFunc(inside, func(t token) bool {
			return !t.isGap && t.rank < dotted && !isNumber(t.text) && !isLabel(t.text) && !isMark(t.text)
		}) {
			for j := range inside {
				inside[j].isQuoted = true
			}
		}
		open = -1
	}
}

// isMark reports whether a word has neither letters nor digits.
func isMark(word string) bool {
	return !strings.ContainsFunc(word, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
}

// isNumber reports whether a word is a number, with a colon or point beside it.
func isNumber(word string) bool {
	word = strings.TrimSuffix(strings.TrimRight(strings.TrimPrefix(word, ":"), ".:"), ".0")
	return word != "" && strings.Trim(word, "0123456789") == ""
}

// number returns the number of a word, if it can be a port.
func number(word string) (uint16, bool) {
	return portOf(strings.TrimRight(strings.TrimPrefix(word, ":"), ".:"))
}

// next and before return the index of the nearest word; -1 is none.
func (l *reader) next(i int) int {
	for i++; i < len(l.tokens); i++ {
		if t := l.tokens[i]; !t.isGap && !isMark(t.text) {
			return i
		}
	}
	return -1
}

func (l *reader) before(i int) int {
	for i--; i >= 0; i-- {
		if t := l.tokens[i]; !t.isGap && !isMark(t.text) {
			return i
		}
	}
	return -1
}

// textBetween returns the gaps and marks between two words.
func (l *reader) textBetween(i, j int) string {
	var b strings.Builder
	for _, t := range l.tokens[i+1 : j] {
		b.WriteString(t.text)
	}
	return b.String()
}

// isBeside reports whether a token is in a quoted name beside an address.
func (l *reader) isBeside(i int) bool {
	return l.tokens[i].isQuoted && slices.ContainsFunc(l.tokens, func(t token) bool { return t.rank == sure && !t.isQuoted })
}

// broken explains a word that looks like an address.
func (l *reader) broken(t token) error {
	field := l.field(t)
	if as, is := gluedPort(strings.TrimRight(t.text, ".:,")); is {
		whole := strings.TrimRight(t.text, ".:,")
		return wrong(field, "plain: write %s, or [%s]", as, whole)
	}
	return wrong(field, "%s", wantAddress)
}

// field returns what stands around a token between blanks.
func (l *reader) field(t token) string {
	from := strings.LastIndexFunc(l.text[:t.at], unicode.IsSpace) + 1
	to := strings.IndexFunc(l.text[t.end:], unicode.IsSpace)
	if to < 0 {
		return l.text[from:]
	}
	return l.text[from : t.end+to]
}

// choose returns the words that are the line's addresses: what follows a command to
// connect, or else what is surely one, or else a name at its usual place.
func (l *reader) choose() (chosen []int) {
	for _, isIt := range []func(i int) bool{l.isTarget, l.isSure, l.isPlaced, l.isAlone} {
		for _, i := range l.words {
			if !l.tokens[i].isOut && isIt(i) && !l.isBeside(i) {
				chosen = append(chosen, i)
			}
		}
		if len(chosen) > 0 {
			return chosen
		}
	}
	return nil
}

// isTarget reports whether a word follows a command to connect: at the start of the
// line, or as an option.
func (l *reader) isTarget(i int) bool {
	before := l.before(i)
	if l.tokens[i].rank < bareName || before < 0 || !slices.Contains(commands, bare(l.tokens[before].text)) {
		return false
	}
	command := l.tokens[before].text
	isOption := strings.ContainsAny(command[:1], `+-\`) || before > 0 && l.tokens[before-1].text == "/"
	return isOption || before == l.words[0] && (l.tokens[i].rank >= dotted || l.next(i) < 0 || strings.ContainsAny(l.textBetween(i, l.next(i)), ";"))
}

func (l *reader) isSure(i int) bool { return l.tokens[i].rank == sure }

// isPlaced reports whether a name stands where people write the address: first, last,
// or after a label.
func (l *reader) isPlaced(i int) bool {
	t := l.tokens[i]
	isFull := t.rank == bareFull && t.Port >= firstPort
	if t.rank != dotted && !isFull || l.isInPath(i) || strings.ContainsFunc(l.text, isControl) {
		return false
	}
	before, isLabelled := l.before(i), false
	if before >= 0 {
		isLabelled = isLabel(l.tokens[before].text) || strings.HasSuffix(l.tokens[before].text, ":") ||
			strings.ContainsAny(l.textBetween(before, i), "=:")
	}
	isAlone := len(l.words) == 1
	isWeb := strings.HasPrefix(t.Host, "www.")
	return isAlone || isLabelled && !isWeb || (i == l.words[0] || i == l.words[len(l.words)-1]) && !isWeb
}

// isControl reports whether a character controls a terminal.
func isControl(r rune) bool { return unicode.IsControl(r) && !unicode.IsSpace(r) }

// isInPath reports whether a name is a part of a file's path or of a page's.
func (l *reader) isInPath(i int) bool {
	if next := l.next(i); next >= 0 && l.textBetween(i, next) == "/" {
		return true
	}
	return i > 0 && (l.tokens[i-1].text == "/" || strings.HasSuffix(l.tokens[i-1].text, `\`)) && i > 1
}

// isAlone reports whether a word is all that the line has, besides QStat's type: a name
// of the local network.
func (l *reader) isAlone(i int) bool {
	if rank := l.tokens[i].rank; rank != bareName && rank != bareFull {
		return false
	}
	isPlain := !slices.ContainsFunc(l.tokens, func(t token) bool { return t.isGap && t.text != " " && t.text != "\t" })
	switch {
	case !isPlain:
		return false
	case len(l.words) == 1:
		return true
	}
	return len(l.words) == 2 && i == l.words[1] && IsType(l.tokens[l.words[0]].text)
}

// result returns what the line says, once its addresses have their ports.
func (l *reader) result(chosen []int) (line Line, err error) {
	for n, i := range chosen {
		a := l.tokens[i].Address
		if n > 0 && !l.areJoined(chosen[n-1], i) && !l.isSame(chosen[:n], a) {
			return Line{}, wrong(strings.TrimSpace(l.text), "plain: put each server into a line of its own, such as %s", l.tokens[chosen[0]].Address)
		}
		line.Addresses = merged(line.Addresses, a)
	}
	first := chosen[0]
	if at := slices.Index(l.words, first); at == 1 && len(chosen) == 1 {
		if word := l.tokens[l.words[0]].text; IsType(word) && strings.TrimSpace(l.textBetween(l.words[0], first)) == "" {
			line.Type = strings.ToUpper(word)
		}
	}
	if len(line.Addresses) == 1 && (first == l.words[0] || line.Type != "") {
		line.Name = l.name(chosen[len(chosen)-1])
	}
	return line, nil
}

// merged adds an address to others. The same host without a port is the same server.
func merged(all []Address, a Address) []Address {
	for i := range all {
		if all[i].Host != a.Host || all[i].Port != a.Port && all[i].Port != 0 && a.Port != 0 {
			continue
		}
		all[i].Port = max(all[i].Port, a.Port)
		return all
	}
	return append(all, a)
}

// isSame reports whether an address is one of those before it.
func (l *reader) isSame(before []int, a Address) bool {
	return slices.ContainsFunc(before, func(i int) bool { return len(merged([]Address{l.tokens[i].Address}, a)) == 1 })
}

// areJoined reports whether nothing but "and" stands between two addresses.
func (l *reader) areJoined(i, j int) bool {
	for _, t := range l.tokens[i+1 : j] {
		isJoin := t.isGap || isMark(t.text) || slices.Contains(joins, strings.ToLower(t.text)) || isLabel(t.text)
		if !isJoin && !l.taken[slices.IndexFunc(l.tokens, func(o token) bool { return o.at == t.at && o.text == t.text })] {
			return false
		}
	}
	return true
}

// name returns the text after an address. With a password in it there is none, because
// names are shown to others.
func (l *reader) name(i int) string {
	for l.next(i) >= 0 && l.taken[l.next(i)] || l.next(i) >= 0 && isPort(l.tokens[l.next(i)].text) && l.taken[l.next(l.next(i))] {
		i = l.next(i)
	}
	if slices.ContainsFunc(l.tokens[i:], func(t token) bool { return t.isOut }) {
		return ""
	}
	name := strings.TrimSpace(strings.TrimLeft(l.text[l.tokens[i].end:], "\"'`*<>()]"))
	for _, sep := range []string{",", ";", "|", "- ", "– ", ": ", "= "} {
		name = strings.TrimSpace(strings.TrimPrefix(name, sep))
	}
	if inner, ok := strings.CutPrefix(name, `"`); ok && strings.Index(inner, `"`) == len(inner)-1 {
		return inner[:len(inner)-1]
	}
	return name
}
