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

// invite prints what friends need: a link, the code, the line to paste. The QR
// code comes first: on a small screen the rest still stands below it.
func (h *hosting) invite(i invitation, listening netip.AddrPort) {
	out, style := h.streams.Out, h.style(h.streams.Out)
	addr, err := netip.ParseAddrPort(i.host)
	alone, needed := err == nil && addr.Addr().IsLoopback(), 0
	if !alone && isTerminal(out) {
		needed = writeQR(out, i.link(), style, width(out))
	}
	fmt.Fprintf(out, "link  %s\ncode  %s\njoin  muster join %s\n", style.bold(i.link()), style.bold(i.code), i.link())
	switch {
	case alone && listening.Addr().IsUnspecified():
		h.screen.say("this machine is on no network, so only it can join: connect it, then start the host again")
	case alone:
		h.screen.say("only this machine can join: it listens on %v", addr.Addr())
	case needed > 0:
		h.screen.say("the QR code needs %d columns; the page shows it, too", needed)
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
