package cli

import (
	"errors"
	"net"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"muster/discovery/geo"
	"muster/discovery/lan"
	"muster/internal/game"
)

const (
	// examineTime is ample for a packet on loopback.
	examineTime = time.Second
	// wantedBuffer is what the prober asks of the kernel for a socket.
	wantedBuffer = 4 << 20
)

// examine gathers the facts. No packet leaves the machine.
func (p *program) examine() facts {
	f := facts{now: time.Now(), system: runtime.GOOS, wanted: wantedBuffer, files: fileLimit()}
	f.buffer, f.stamps, f.udp = trySocket()
	f.route4, f.route6 = sourceTowards(somewhere4), sourceTowards(somewhere6)
	f.cards, f.cardsErr = lan.Interfaces()
	f.tables, f.tablesErr = tablesOf()
	f.games, f.gamesErr = p.gamesHere()
	f.terminal.isTerminal, f.terminal.colours = isTerminal(p.streams.Out), p.style(p.streams.Out).on
	f.terminal.columns, f.terminal.rows = size(p.streams.Out)
	return f
}

// trySocket has a socket send a packet to itself, and asks what the kernel
// grants it.
func trySocket() (buffer int, stamps bool, failed error) {
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return 0, false, err
	}
	defer conn.Close()
	conn.SetReadBuffer(wantedBuffer)
	conn.SetDeadline(time.Now().Add(examineTime))
	buffer, stamps = granted(conn)
	_, err = conn.WriteTo([]byte("muster"), conn.LocalAddr())
	if err == nil {
		_, _, err = conn.ReadFrom(make([]byte, 16))
	}
	return buffer, stamps, err
}

func tablesOf() ([]geo.Source, error) {
	locator, err := geo.Open(geo.Options{})
	if err != nil {
		return nil, err
	}
	return locator.Sources(), locator.Close()
}

// gamesHere are the games whose program is in the PATH. Those that are launched
// by a link are here if Steam is.
func (p *program) gamesHere() ([]installed, error) {
	games, err := p.games()
	if err != nil {
		return nil, err
	}
	var list []installed
	for _, g := range games.All() {
		program := programOf(g)
		if _, err := exec.LookPath(program); err == nil || errors.Is(err, exec.ErrDot) {
			list = append(list, installed{g.ID, program})
		}
	}
	return list, nil
}

func programOf(g game.Game) string {
	template := g.Template(runtime.GOOS)
	if len(template) == 0 {
		return ""
	}
	if strings.HasPrefix(template[len(template)-1], "steam://") {
		return "steam"
	}
	return template[0]
}
