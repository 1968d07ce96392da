package cli

import (
	"context"
	"runtime"

	"muster/internal/game"
)

// browse shows a link in the player's browser, where there is a desktop. If
// that fails, the link stands on the screen anyway.
func (p *program) browse(ctx context.Context, link string) {
	if !p.hasDesktop() {
		return
	}
	opener := game.Game{Launch: []string{link}}.Template(runtime.GOOS)
	started, err := game.Launch(ctx, opener, nil)
	if err != nil {
		p.logger().Debug("no browser", "error", err)
		return
	}
	go started.Wait() // reaps the opener
}

// hasDesktop tells whether the player sits in front of this machine.
func (p *program) hasDesktop() bool {
	switch {
	case !isTerminal(p.streams.Err), p.env("SSH_CONNECTION") != "":
		return false
	case runtime.GOOS == "windows", runtime.GOOS == "darwin":
		return true
	}
	return p.env("DISPLAY") != "" || p.env("WAYLAND_DISPLAY") != ""
}
