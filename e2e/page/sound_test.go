package page_test

import (
	"fmt"
	"testing"
)

// TestSound computes the sound of a reveal without playing it. The sound begins with the pin, is
// loud enough to be heard, never clips, also with sixteen players, and ends soon after the reveal.
func TestSound(t *testing.T) {
	atNight(t)
	t.Parallel()
	n := newSession(t, 20, friday(0))
	b := n.browse(n.link(), desktop)
	b.sees("#stage", "Waiting for the first player")
	for _, players := range []int{1, 4, 16} {
		b.run(`window.heard = null; (async () => {
			const rate = 44100, context = new OfflineAudioContext(1, 8 * rate, rate);
			const { play } = await import(new URL("sound.js", document.querySelector('script[type=module]').src));
			play(Array.from({ length: ` + fmt.Sprint(players) + ` }, (_, i) => 9 + 15 * i), context);
			const samples = (await context.startRendering()).getChannelData(0);
			const loud = samples.map(Math.abs), audible = 0.003; // 50 dB below full
			heard = { Begins: loud.findIndex((x) => x > audible) / rate, Ends: loud.findLastIndex((x) => x > audible) / rate, Peak: loud.reduce((a, b) => Math.max(a, b)), Quiet: loud.slice(0, 0.39 * rate).reduce((a, b) => Math.max(a, b)) };
		})().catch((error) => (heard = { Trouble: String(error) }))`)
		b.until("it is reckoned", func() bool { return eval[bool](b, "heard !== null") })
		heard := eval[struct {
			Begins, Ends, Peak, Quiet float64
			Trouble                   string
		}](b, "heard")
		t.Logf("%d players: heard from %.2f s to %.2f s, at most %.2f of full", players, heard.Begins, heard.Ends, heard.Peak)
		if heard.Peak < 0.2 || heard.Peak > 1 || heard.Quiet > 0 || heard.Begins > 0.5 || heard.Ends > 6 {
			t.Errorf("with %d players: %+v", players, heard)
		}
	}
	b.run(`window.came = null; (async () => {
		const context = new OfflineAudioContext(1, 44100, 44100);
		const { come } = await import(new URL("sound.js", document.querySelector('script[type=module]').src));
		come(context);
		came = (await context.startRendering()).getChannelData(0).map(Math.abs).reduce((a, b) => Math.max(a, b));
		come(); // off until a person asks for sound: it plays nothing
	})().catch((error) => (came = -1))`)
	b.until("it is reckoned", func() bool { return eval[bool](b, "came !== null") })
	if peak := eval[float64](b, "came"); peak < 0.05 || peak > 0.3 {
		t.Errorf("somebody who comes is heard at %.2f of full", peak)
	}
}
