//go:build e2e

package web_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

var (
	sideways = screenSize{"lying", 844, 390, 2, true}
	slate    = screenSize{"tablet", 768, 1024, 1, true}
)

// TestLobbyMap checks the lobby on all screens with two to sixteen people: no sign, name or place
// hides another.
func TestLobbyMap(t *testing.T) {
	t.Parallel()
	n := newSession(t, 20, friday(0))
	b := browse(t, n.organisersLink(), desktop)
	b.sees("#stage", "Waiting for the first player")
	b.until("the QR code is there", func() bool { return eval[bool](b, `muster.view.qr !== ""`) })
	tv := browse(t, strings.Replace(n.link(), "/#", "/?tv#", 1), wall)
	tv.until("the QR code is there", func() bool { return eval[bool](tv, `document.querySelector("#invite img")?.naturalWidth > 0`) })
	crowds := []int{16, 8, 5, 2}
	if os.Getenv("MUSTER_SHOTS") == "" {
		crowds = []int{16, 5}
	}
	for _, people := range crowds {
		for _, size := range []screenSize{desktop, laptop, pocket, small, sideways, slate, night4k} {
			b.resize(size)
			b.drawn("lobby", "lobby", people, 1)
			b.areOnMap()
			name := fmt.Sprintf("lobby-%d", people)
			b.fitsOn(name, size, "")
		}
		tv.resize(wall)
		tv.drawn("lobby", "lobby", people, -1)
		tv.areOnMap()
		tv.fitsOn(fmt.Sprintf("lobby-%d-tv", people), wall, "*")
	}
}

// areOnMap waits until everybody whose place is known stands on the map.
func (b *browser) areOnMap() {
	b.Helper()
	b.until("everybody stands on the map", func() bool {
		return eval[bool](b, `document.querySelectorAll(".flat canvas").length === 1 && document.querySelectorAll(".placed").length > 0 && !document.querySelector(".placed:not(.stands)")`)
	})
}
