package home

import (
	"context"
	"errors"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestRegions checks that what a game printed about its regions reaches the commands of all three
// ways into a room as a file, which is gone afterwards. A text without pings starts nothing, and
// leaves an invitation for another try.
func TestRegions(t *testing.T) {
	type run struct {
		args []string
		name string
		text string
	}
	ran := make(chan run, 1)
	h, _ := started(t, t.TempDir(), func(_ context.Context, args []string, _ Terminal) error {
		r := run{args: args}
		for _, arg := range args {
			if name, is := strings.CutPrefix(arg, "--regions="); is {
				text, err := os.ReadFile(name)
				if err != nil {
					t.Error(err)
				}
				r.name, r.text = name, strings.TrimSpace(string(text))
			}
		}
		ran <- r
		return nil
	})
	h.config.CheckDump = func(text string) error {
		if !strings.Contains(text, "status 1") {
			return errors.New("no pings")
		}
		return nil
	}
	c, base := visitor(t, h)
	running := h.Running()
	if err := running.Invite(t.Context(), Invitation{URL: somewhere}); err != nil {
		t.Fatal(err)
	}
	var before string
	for _, ask := range []struct{ what, body string }{
		{"host", `"game":"tf2matchmaking"`},
		{"join", `"link":"http://192.0.2.1:7777/#TABOMI"`},
		{"invited", `"id":1,"yes":true,"name":"Ann"`},
	} {
		for _, hostile := range []string{"hello", "<script>", strings.Repeat("x", 1<<20)} {
			if status, text := post(t, c, base, ask.what, "{"+ask.body+`,"regions":"`+hostile+`"}`); status != http.StatusUnprocessableEntity || !strings.Contains(text, "fra: 24ms") {
				t.Errorf("%s with %.20q: %d %s", ask.what, hostile, status, text)
			}
		}
		if status, text := post(t, c, base, ask.what, "{"+ask.body+`,"regions":"  fra: 24ms, status 1\n"}`); status != http.StatusOK {
			t.Fatalf("%s: %d %s", ask.what, status, text)
		}
		got := <-ran
		if got.text != "fra: 24ms, status 1" || got.name == before {
			t.Errorf("%s reads %q from %q", ask.what, got.text, got.name)
		}
		if end := slices.Index(got.args, "--"); end >= 0 && slices.Index(got.args, "--regions="+got.name) > end {
			t.Errorf("%s: the flag comes too late: %q", ask.what, got.args)
		}
		before = got.name
	}
	if status, text := post(t, c, base, "join", `{"link":"http://192.0.2.1:7777/#TABOMI","regions":" \n"}`); status != http.StatusOK {
		t.Errorf("an empty field: %d %s", status, text)
	}
	if got := <-ran; got.name != "" {
		t.Errorf("an empty field becomes %q", got.args)
	}
	if _, err := os.Stat(before); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the last file stays: %v", err) // another command has taken the place of the one that read it
	}
}
