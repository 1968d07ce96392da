package master

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// People paste addresses as they find them:
//
//	1.2.3.4:27015 my clan server
//	My clan: 1.2.3.4:27015
//	connect 1.2.3.4:27015; password x
//	steam://connect/1.2.3.4:27015/password
//	- <ddnet://1.2.3.4:8303>
//	1.2.3.4 27015

// readAddress returns the address in a row's or a person's text.
func readAddress(text string) (host string, port uint16, ok bool) {
	words := wordsOf(text)
	if len(words) == 1 {
		return splitAddress(words[0])
	}
	if address, found := addressAmong(words); found {
		return splitAddress(address)
	}
	return "", 0, false
}

// wordsOf returns the words of a line, and takes addresses out of their links and
// brackets.
func wordsOf(line string) []string {
	line = strings.TrimSpace(line)
	if _, target, found := strings.Cut(line, "+connect"); found && strings.Contains(line, "://") {
		if plain, err := url.PathUnescape(target); err == nil { // steam://run/730//+connect 1.2.3.4:27015
			line = plain
		}
	}
	words := strings.Fields(line)
	for i := range words {
		words[i] = bare(words[i])
	}
	if len(words) > 1 && (words[0] == "-" || words[0] == "*" || words[0] == "•") {
		words = words[1:]
	}
	words = slices.DeleteFunc(words, func(w string) bool { return w == "" })
	if len(words) > 1 && strings.EqualFold(strings.TrimPrefix(words[0], "+"), "connect") {
		words = words[1:2] // a line for a game's console
	}
	if len(words) == 2 && strings.Trim(words[1], "0123456789") == "" && !strings.Contains(words[0], ":") && isAddress(words[0], true) {
		return []string{words[0] + ":" + words[1]}
	}
	return words
}

// addressAmong returns the word that is an address: the first or the last.
func addressAmong(words []string) (string, bool) {
	switch {
	case len(words) == 0:
		return "", false
	case isAddress(words[0], true):
		return words[0], true
	case isAddress(words[len(words)-1], false) && !isAddress(words[1], false):
		return words[len(words)-1], true
	case len(words) == 2 && isAddress(words[1], false) && strings.HasSuffix(words[0], ":"):
		return words[1], true
	}
	return "", false
}

// isAddress reports whether a word among others is meant as an address: one in digits,
// or a name with a port; at the start of a line also a name with a dot in it.
func isAddress(word string, first bool) bool {
	host, port, ok := splitAddress(word)
	if !ok {
		return false
	}
	_, err := netip.ParseAddr(host)
	return err == nil || port != 0 || first && strings.Contains(strings.Trim(host, "."), ".")
}

// linkPorts are the default ports of kinds of links, where they differ from the game's
// own.
var linkPorts = map[string]string{"ss14s": "443"}

// bare strips a word of the brackets and marks around it, and a link down to its
// address. Links of the web stay links, because a page is no server.
func bare(word string) string {
	word = strings.TrimFunc(word, func(r rune) bool { return strings.ContainsRune("<>()\"'`,;", r) })
	scheme, rest, isLink := strings.Cut(word, "://")
	scheme = strings.ToLower(scheme)
	if !isLink || scheme == "http" || scheme == "https" {
		return word
	}
	if u, err := url.Parse(word); err == nil && scheme == "minecraft" {
		query := u.Query()
		if _, external, found := strings.Cut(query.Get("addExternalServer"), "|"); found {
			return external
		}
		if host := query.Get("serverUrl"); host != "" {
			return joinAddress(host, query.Get("serverPort"))
		}
	}
	rest = strings.TrimPrefix(rest, "connect/") // steam, fivem
	rest, _, _ = strings.Cut(rest, "/")
	rest, _, _ = strings.Cut(rest, "?")
	rest, _, _ = strings.Cut(rest, "#")
	rest = rest[strings.LastIndex(rest, "@")+1:] // mumble://name@host
	switch port, known := linkPorts[scheme]; {
	case !isAddress(rest, true):
		return word // it starts another program
	case known && !strings.Contains(rest, ":"):
		return joinAddress(rest, port)
	}
	return rest
}
