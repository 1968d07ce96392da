package roster

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base32"
	"strings"
)

// Keys let people into a room: the code that people can say aloud, the key in links, and the
// organiser's secret.
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

// PageOf returns the credential of a player's pages, from the token of the player's program. A page
// cannot act as the program.
func PageOf(token string) string { return derived("page", token) }

// TicketOf returns a credential with which a program can join as the person of a page, once. The
// page shows it in a command to paste. Seen in a list of processes, it does not open the page.
func TicketOf(page string) string { return derived("ticket", page) }

// isTicket reports whether a text may be a [TicketOf].
func isTicket(text string) bool {
	return len(text) == ticketLength && strings.Trim(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") == ""
}

// ticketLength is the length of a ticket, as of all derived credentials.
const ticketLength = 16

// digestOfTicket is the key under which [Roster.Badges] keeps the badge for the page of a ticket.
// The ticket itself is no key there.
func digestOfTicket(ticket string) Digest { return DigestOf(derived("page of ticket", ticket)) }

// OwnerOf returns a text from a credential by which the roster recognises its owner after a return.
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

// derived returns a secret of 80 bits for a use, which does not reveal the given one.
func derived(use, secret string) string {
	sum := sha256.Sum256([]byte("muster " + use + "\x00" + secret))
	return base32.StdEncoding.EncodeToString(sum[:10])
}

// isSame compares credentials in constant time. An empty one belongs to nobody.
func isSame(a, b string) bool {
	return a != "" && subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1
}
