package host

import (
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"muster/host/wire"
)

// TestOpeners: an address has so many rooms open at a time, wherever they are by now, and
// opens no more than one a minute after those.
func TestOpeners(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewFakeStore()
		o := newOpeners(&Public{PerAddress: 2, Standing: Standing{PerAddress: 1}}, s)
		ann := netip.MustParseAddr("203.0.113.7")
		opens := func(code string, want string) {
			t.Helper()
			got := ""
			if why := o.judge(opening{From: ann, Stays: code == "STAYS"}); why != nil {
				got = why.Refusal.Reason
			} else {
				o.note(opening{ann, code, code == "STAYS"})
			}
			if got != want {
				t.Errorf("%s is refused for %q, want %q", code, got, want)
			}
		}
		at := s.On("another")
		for _, code := range []string{"ONE", "TWO"} {
			opens(code, "") // of which nothing is known here yet
			at.Create(t.Context(), code, "", nil)
		}
		opens("THREE", wire.ReasonBusy)
		time.Sleep(2 * openEvery)
		opens("THREE", wire.ReasonFull)
		s.set(func() { s.rooms["ONE"].over = true })
		time.Sleep(openEvery)
		opens("THREE", "")
		time.Sleep(newsWait + openEvery) // nothing is heard of it
		opens("FOUR", "")
		at.Create(t.Context(), "FOUR", "", nil)
		time.Sleep(openEvery)
		opens("FIVE", wire.ReasonFull)
	})
}
