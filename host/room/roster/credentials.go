package roster

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base32"
	"strings"
)

// Keys let people into a room: the code that people pass on by word, the key that links also carry,
// and the organiser's secret.
type Keys struct {
	Code   string `json:"code"`
	Link   string `json:"link"`
	Secret string `json:"secret"`
}

// Digest stands for a token, a key or a secret in look-ups. Neither the digest nor the time of a
// comparison reveals anything about it.
type Digest [sha256.Size]byte

// DigestOf returns the digest of a credential.
func DigestOf(credential string) Digest { return sha256.Sum256([]byte(credential)) }

// PageOf returns the credential of the pages of a player with a token. It opens nothing that the
// token does: a page is not the player's program.
func PageOf(token string) string { return derived("page", token) }

// TicketOf returns a credential that lets the program of somebody who has a page join as that
// person, once. The page shows it in a line to paste; in a list of processes it is no key to
// the page.
func TicketOf(page string) string { return derived("ticket", page) }

// isTicket reports whether a text may be a [TicketOf].
func isTicket(text string) bool {
	return len(text) == ticketLength && strings.Trim(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") == ""
}

// ticketLength is the length of everything that is derived.
const ticketLength = 16

// digestOfTicket is where [Roster.Badges] keeps the badge for the page of a ticket. A caller who
// knows only the ticket finds nothing there.
func digestOfTicket(ticket string) Digest { return DigestOf(derived("page of ticket", ticket)) }

// OwnerOf returns the text by which the roster knows the owner of a credential again who has left.
// It is empty without a credential.
func OwnerOf(credential string) string {
	if credential == "" {
		return ""
	}
	return derived("lists", credential)
}

// MarkOf returns the mark that identifies the person of a page in a history. It reveals no
// credential.
func MarkOf(page string) string { return derived("evening", page) }

// derived returns another secret of 80 bits, which does not reveal the first.
func derived(use, secret string) string {
	sum := sha256.Sum256([]byte("muster " + use + "\x00" + secret))
	return base32.StdEncoding.EncodeToString(sum[:10])
}

// isSame compares credentials in constant time. An empty one belongs to nobody.
func isSame(a, b string) bool {
	return a != "" && subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1
}
