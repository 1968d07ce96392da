package cli_test

import "testing"

// TestEvery checks that muster host says how it has understood a time, and asks back where it cannot.
func TestEvery(t *testing.T) {
	every := func(when string) []string {
		return []string{"host", "--game", "openarena", "--servers", "nowhere.txt", "--listen", "127.0.0.1:0", "--every", when}
	}
	checkAll(t, []wrong{
		{"understood", every("fri, sat 8pm EST"), 1,
			[]string{"we meet every Friday and Saturday at 20:00 (America/New_York)\n", "nowhere.txt"}},
		{"of several places", every("fri 8pm CST"), 2, []string{"hint: CST can be the time of several places: say one of America/Chicago, "}},
		{"no time", every("friday"), 2, []string{`hint: say such as "fri 20:00"`}},
	})
}
