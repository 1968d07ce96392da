package cli

import (
	"context"
	"runtime"

	"muster/internal/game"
)

// present shows a page that is one person's own. Ticket is a way to it that works once:
// everybody on this machine can read the browser's command line.
func (p *program) present(ctx context.Context, link string, ticket func() string) {
	switch {
	case p.home != nil:
		p.home.Open(link)
	case p.hasBrowser():
		p.browse(ctx, ticket())
	}
}

// hasBrowser reports whether the player sits in front of this machine and its terminal,
// and a browser may be there.
func (p *program) hasBrowser() bool { return p.screen.IsTerminal && p.hasDesktop() }

// hasDesktop reports whether this machine has windows, and the user is not far away.
func (p *program) hasDesktop() bool {
	hasDesktop := runtime.GOOS == "windows" || runtime.GOOS == "darwin" || p.env("DISPLAY") != "" || p.env("WAYLAND_DISPLAY") != ""
	return p.env("SSH_CONNECTION") == "" && hasDesktop
}

// browse shows a link in the player's browser. If that fails, the link stands on the
// screen anyway.
func (p *program) browse(ctx context.Context, link string) {
	if p.hasBrowser() {
		p.startBrowser(ctx, link)
	}
}

func (p *program) startBrowser(ctx context.Context, link string) {
	wait, err := game.Start(ctx, game.Game{Launch: []string{link}}.Template(runtime.GOOS), nil)
	if err != nil {
		p.logger().Debug("no browser", "error", err)
		return
	}
	go wait() // reaps the opener
}
