package cli

import (
	"bytes"
	"fmt"
	"io"
	"net/netip"
	"strings"

	"github.com/mdp/qrterminal/v3"
)

// invite prints what friends need: a link, the code, the line to paste.
func (h *hosting) invite(i invitation) {
	out, style := h.streams.Out, h.style(h.streams.Out)
	fmt.Fprintf(out, "link  %s\ncode  %s\njoin  muster join %s\n", style.bold(i.link()), style.bold(i.code), i.link())
	switch addr, err := netip.ParseAddrPort(i.host); {
	case err == nil && addr.Addr().IsLoopback():
		h.screen.say("only this machine can join: it listens on %v", addr.Addr())
	case isTerminal(out):
		writeQR(out, i.link(), style)
	}
	if h.settings.Players > 0 {
		h.screen.say("waiting for %d players; Enter starts with who is here", h.settings.Players)
	} else {
		h.screen.say("press Enter when everyone is here")
	}
}

// writeQR draws a link for phones. With colours it is white on black whatever
// the terminal's own are: phones want dark dots on light.
func writeQR(w io.Writer, link string, s style) {
	var code bytes.Buffer
	qrterminal.GenerateHalfBlock(link, qrterminal.L, &code)
	for line := range strings.Lines(code.String()) {
		fmt.Fprintln(w, s.wrap("97;40", strings.TrimSuffix(line, "\n")))
	}
}
