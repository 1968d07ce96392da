package cli

import (
	"bytes"
	"fmt"
	"io"
	"net/netip"
	"strings"
	"unicode/utf8"

	"github.com/mdp/qrterminal/v3"
)

// invite prints what friends need: a link, the code, the line to paste.
func (h *hosting) invite(i invitation, listening netip.AddrPort) {
	out, style := h.streams.Out, h.style(h.streams.Out)
	fmt.Fprintf(out, "link  %s\ncode  %s\njoin  muster join %s\n", style.bold(i.link()), style.bold(i.code), i.link())
	switch addr, err := netip.ParseAddrPort(i.host); {
	case err == nil && addr.Addr().IsLoopback() && listening.Addr().IsUnspecified():
		h.screen.say("this machine is on no network, so only it can join: connect it, then start the host again")
	case err == nil && addr.Addr().IsLoopback():
		h.screen.say("only this machine can join: it listens on %v", addr.Addr())
	case isTerminal(out):
		if columns := writeQR(out, i.link(), style, width(out)); columns > 0 {
			h.screen.say("the QR code needs %d columns; the page shows it, too", columns)
		}
	}
	if h.settings.Players > 0 {
		h.screen.say("waiting for %d players; Enter starts with who is here", h.settings.Players)
	} else {
		h.screen.say("press Enter when everyone is here")
	}
}

// writeQR draws a link for phones. With colours it is white on black whatever
// the terminal's own are: phones want dark dots on light. Where there is not the
// width for it nothing is drawn, and it tells how many columns it takes.
func writeQR(w io.Writer, link string, s style, width int) (needed int) {
	var code bytes.Buffer
	qrterminal.GenerateHalfBlock(link, qrterminal.L, &code)
	lines := strings.Split(strings.TrimSuffix(code.String(), "\n"), "\n")
	if columns := utf8.RuneCountInString(lines[0]); columns > width {
		return columns
	}
	for _, line := range lines {
		fmt.Fprintln(w, s.wrap("97;40", line))
	}
	return 0
}
