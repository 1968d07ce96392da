package quake3

import (
	"bytes"
	"slices"
	"strings"
)

const (
	// maxRequest bounds what a server reads of a stranger's request. The longest
	// real one, getserversExt with all its filters, is far shorter.
	maxRequest = 512
	// maxChallenge is the longest challenge that ioquake3 returns.
	maxChallenge = 128
)

// commands are the requests that servers and masters answer.
var commands = []string{"getinfo", "getstatus", "getservers", "getserversExt"}

// Request is what a client asks of a server or a master.
type Request struct {
	Command string
	Args    []string
}

// Challenge is the word that the reply to getinfo or getstatus returns, or empty.
func (r Request) Challenge() string {
	if len(r.Args) == 0 {
		return ""
	}
	return r.Args[0]
}

// ParseRequest reads getinfo, getstatus, getservers and getserversExt, with or
// without the line end or NUL that some clients put last. As in the games, a NUL
// ends the text, and all up to the blank parts words.
func ParseRequest(b []byte) (Request, error) {
	text, ok := bytes.CutPrefix(b, []byte(oob))
	if !ok || len(b) > maxRequest {
		return Request{}, malformed("a request of %d bytes", len(b))
	}
	text, _, _ = bytes.Cut(text, []byte{0})
	words := strings.FieldsFunc(string(text), func(r rune) bool { return r <= ' ' })
	if len(words) == 0 || !slices.Contains(commands, words[0]) {
		return Request{}, malformed("no known request")
	}
	r := Request{Command: words[0], Args: words[1:]}
	if len(r.Challenge()) > maxChallenge {
		return Request{}, malformed("a challenge of %d bytes", len(r.Challenge()))
	}
	return r, nil
}
