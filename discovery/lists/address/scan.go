package address

import (
	"cmp"
	"net/netip"
	"net/url"
	"strings"
	"unicode"
)

// token is a word, a gap between words, or a link.
type token struct {
	text string
	// isGap says that it separates words: a blank or a mark.
	isGap bool
	// at and end are its place in the line, in bytes.
	at, end int
	Address
	rank rank
	// isLink says that it leads to a server by itself.
	isLink bool
	// isOut says that it is no address and no port: a password, a number in a list.
	isOut bool
	// isQuoted says that it stands between quotation marks beside other words.
	isQuoted bool
}

// letter is a character of a line, and its place there.
type letter struct {
	r  rune
	at int
}

// letters returns a line without what nobody sees: zero-width spaces, marks of the
// writing direction. Full-width signs and blanks of all kinds become ASCII.
func letters(line string) []letter {
	all := make([]letter, 0, len(line)+1)
	for at, r := range line {
		switch {
		case unicode.Is(unicode.Cf, r), unicode.Is(unicode.Variation_Selector, r), r == '\\' && escapes(line[at+1:]):
			continue
		case r == '\t':
		case unicode.IsSpace(r):
			r = ' '
		case r == '。' || r == '｡':
			r = '.'
		case r >= '！' && r <= '～':
			r -= '！' - '!'
		}
		all = append(all, letter{r, at})
	}
	return all
}

// escapes reports whether a backslash before a text only keeps a chat from formatting.
func escapes(rest string) bool { return rest != "" && strings.ContainsRune("_*.~`[]", rune(rest[0])) }

// isWordy reports whether a character may be a part of an address, or of a word that is none.
func isWordy(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.M, r) || strings.ContainsRune(`.-_:%+@\`, r)
}

// scanner cuts a line into tokens.
type scanner struct {
	line    string
	letters []letter
	tokens  []token
}

func scan(line string) []token {
	s := scanner{line: line, letters: letters(line)}
	for i := 0; i < len(s.letters); {
		switch n := s.linkAt(i); {
		case n > 0:
			s.addLink(i, i+n)
			i += n
		case s.bracketAt(i) > 0:
			n := s.bracketAt(i)
			s.addWord(i, i+n)
			i += n
		case isWordy(s.letters[i].r):
			n := s.wordAt(i)
			s.addWord(i, i+n)
			i += n
		default:
			s.add(token{text: string(s.letters[i].r), isGap: true}, i, i+1)
			i++
		}
	}
	return s.tokens
}

func (s *scanner) text(from, to int) string {
	var b strings.Builder
	for _, l := range s.letters[from:to] {
		b.WriteRune(l.r)
	}
	return b.String()
}

func (s *scanner) add(t token, from, to int) {
	t.at, t.end = s.letters[from].at, len(s.line)
	if to < len(s.letters) {
		t.end = s.letters[to].at
	}
	s.tokens = append(s.tokens, t)
}

// wordAt returns the length of a word.
func (s *scanner) wordAt(i int) (n int) {
	for i+n < len(s.letters) && isWordy(s.letters[i+n].r) {
		n++
	}
	return n
}

// bracketAt returns the length of an IP address in brackets, with its port.
func (s *scanner) bracketAt(i int) int {
	if s.letters[i].r != '[' {
		return 0
	}
	for n := 1; i+n < len(s.letters) && n < len("[ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255%interface]"); n++ {
		if s.letters[i+n].r == ']' {
			if _, err := netip.ParseAddr(s.text(i+1, i+n)); err == nil {
				return n + 1 + s.wordAt(i+n+1)
			}
			return 0
		}
	}
	return 0
}

// addWord adds a word, with the address in it.
func (s *scanner) addWord(from, to int) {
	t := token{text: s.text(from, to)}
	if strings.Contains(strings.ToUpper(t.text), "%3A") { // copied from a link
		if plain, err := url.PathUnescape(t.text); err == nil {
			t.text = plain
		}
	}
	if left, port, found := strings.Cut(t.text, ":"); found && isPort(left) { // port:27015
		s.add(token{text: left}, from, to)
		t.text = port
		if port != "" {
			s.add(t, from, to)
		}
		return
	}
	t.Address, t.rank = rankIn(t.text)
	if t.rank == sure && from > 0 && s.letters[from-1].r == '[' && strings.Contains(t.Host, ":") {
		t.rank = broken // a bracket that nothing closes
	}
	s.add(t, from, to)
}

// rankIn reads a word with the signs around it, and with a label (ip:192.0.2.1).
func rankIn(text string) (Address, rank) {
	word := strings.TrimRight(text, ".:,_")
	if _, name, found := cutLast(word, "@"); found {
		if a, rank := rankOf(name); rank == sure && (a.Port != 0 || strings.HasPrefix(word, "@")) {
			return a, rank
		}
		return Address{}, noAddress // a mail's address
	}
	if signless := strings.TrimLeft(word, `+-\._`); signless != word {
		a, rank := rankOf(signless)
		if _, err := netip.ParseAddr(a.Host); err != nil && rank != broken {
			return Address{}, noAddress // the option of a command
		}
		return a, rank
	}
	if label, rest, found := strings.Cut(word, ":"); found && rest != "" && label != "" && isWord(label) {
		if a, rank := rankOf(rest); rank == sure || rank >= bareFull && isLabel(label) {
			if _, err := netip.ParseAddr(word); err != nil {
				return a, sure
			}
		}
	}
	return rankOf(word)
}

func isWord(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && r != '-' && r != '_' })
}

// linkAt returns the length of a link.
func (s *scanner) linkAt(i int) int {
	n := s.schemeAt(i)
	if n == 0 || i > 0 && isScheme(s.letters[i-1].r) {
		return 0
	}
	for n += len("://"); i+n < len(s.letters); n++ {
		if r := s.letters[i+n].r; unicode.IsSpace(r) || strings.ContainsRune("\"'<>`“”„", r) {
			break
		}
		if s.schemeAt(i+n) > 0 && !isScheme(s.letters[i+n-1].r) {
			break // the next link, without a blank
		}
	}
	return n
}

// longestScheme is longer than any scheme of a game.
const longestScheme = 32

// schemeAt returns the length of the scheme of a link that begins here.
func (s *scanner) schemeAt(i int) (n int) {
	for i+n < len(s.letters) && n < longestScheme && isScheme(s.letters[i+n].r) {
		n++
	}
	if n == 0 || i+n+len("://") > len(s.letters) || s.text(i+n, i+n+len("://")) != "://" {
		return 0
	}
	return n
}

func isScheme(r rune) bool {
	return r < 0x80 && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("+-.", r))
}

func (s *scanner) addLink(from, to int) {
	t := token{text: s.text(from, to)}
	if a, is := ofLink(t.text); is {
		t.Address, t.rank, t.isLink = a, sure, true
	}
	s.add(t, from, to)
}

// ofLink returns the server that a link leads to. Pages of the web are no servers, but
// some have a server's address in their own.
func ofLink(link string) (Address, bool) {
	scheme, rest, _ := strings.Cut(link, "://")
	scheme = strings.ToLower(scheme)
	if plain, err := url.PathUnescape(rest); err == nil {
		rest = plain
	}
	switch scheme {
	case "http", "https":
		_, path, _ := strings.Cut(rest, "/")
		return within(path)
	case "minecraft":
		query := queryOf(link)
		if _, external, found := strings.Cut(query.Get("addExternalServer"), "|"); found {
			return singleAddress(external)
		}
		if host := query.Get("serverUrl"); host != "" {
			return singleAddress(Join(host, query.Get("serverPort")))
		}
	}
	if _, target, found := strings.Cut(rest, "+connect"); found { // steam://run/730//+connect 192.0.2.1:27015
		return singleAddress(target)
	}
	rest = strings.TrimPrefix(rest, "connect/")
	if end := strings.IndexFunc(rest, func(r rune) bool { return !isWordy(r) && r != '[' && r != ']' }); end >= 0 {
		rest = rest[:end]
	}
	rest = rest[strings.LastIndex(rest, "@")+1:] // mumble://name@host
	a, rank := rankIn(rest)
	if rank < sure && !strings.HasPrefix(rest, "[") { // an unbalanced bracket belongs to the text around the link
		rest, _, _ = strings.Cut(rest, "]")
		a, rank = rankIn(rest)
	}
	if rank < bareFull {
		return Address{}, false // it starts another program
	}
	if port, ok := portOf(queryOf(link).Get("port")); ok && a.Port == 0 { // ts3server://
		a.Port = port
	}
	a.Port = cmp.Or(a.Port, linkPorts[scheme])
	return a, true
}

func queryOf(link string) url.Values {
	_, query, _ := strings.Cut(link, "?")
	query, _, _ = strings.Cut(query, "#")
	values, _ := url.ParseQuery(query) // what it can read of it
	return values
}

// singleAddress returns the address in a part of a link.
func singleAddress(text string) (Address, bool) {
	line, err := Read(text)
	if err != nil || len(line.Addresses) != 1 {
		return Address{}, false
	}
	return line.Addresses[0], true
}

// within returns the only IP address with a port in a web page's path.
func within(path string) (found Address, is bool) {
	for _, t := range scan(path) {
		if t.rank != sure || t.Port == 0 {
			continue
		}
		if _, err := netip.ParseAddr(t.Host); err != nil || is {
			return Address{}, false
		}
		found, is = t.Address, true
	}
	return found, is
}
