package home

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"muster/internal/catalogue"
	"muster/internal/hint"
)

const somewhere = "muster://join/http/192.0.2.1:7777/TABOMI_ABCDEFGHIJKLMNOP"

// shown returns the invitations that pages show.
func (h *Home) shown() []invitation {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.state.Invitations)
}

// TestInvited checks that a link opened by the system is shown until it is answered. A yes joins as
// the page's own join does, and nothing else does anything.
func TestInvited(t *testing.T) {
	ran := make(chan Request, 1)
	h, _ := started(t, t.TempDir(), func(_ context.Context, request Request, _ Terminal) error {
		ran <- request
		return nil
	})
	c, base := visitor(t, h)
	running := h.Running()
	invite := func(i Invitation) {
		t.Helper()
		if err := running.Invite(t.Context(), i); err != nil {
			t.Fatal(err)
		}
	}
	invite(Invitation{URL: somewhere})
	invite(Invitation{URL: somewhere}) // pressed twice
	invite(Invitation{File: "muster-join_192.0.2.2_7777_TABOMI_ABCDEFGHIJKLMNOP (1).exe"})
	invite(Invitation{URL: "muster://join/http/192.0.2.3:7777/TABOMI"})
	invite(Invitation{URL: "muster://join/http/192.0.2.4:7777/TABOMI"}) // one too many
	shown := h.shown
	want := []invitation{
		{ID: 1, Host: "192.0.2.1:7777", Code: "TABOMI", link: "http://192.0.2.1:7777/#TABOMI_ABCDEFGHIJKLMNOP"},
		{ID: 2, Host: "192.0.2.2:7777", Code: "TABOMI", link: "http://192.0.2.2:7777/#TABOMI_ABCDEFGHIJKLMNOP", Taken: true},
		{ID: 3, Host: "192.0.2.3:7777", Code: "TABOMI", link: "http://192.0.2.3:7777/#TABOMI"},
	}
	for i, got := range shown() {
		if i >= len(want) || got.ID != want[i].ID || got.Host != want[i].Host || got.Code != want[i].Code ||
			got.link != want[i].link || got.Taken != want[i].Taken || got.Wrong != nil {
			t.Errorf("invitation %d is %+v", i, got)
		}
	}
	for _, step := range []struct {
		body   string
		status int
		left   int
	}{
		{`{"id":3}`, http.StatusOK, 2},
		{`{"id":3,"yes":true}`, http.StatusUnprocessableEntity, 2}, // it is gone
		{`{"id":9,"yes":true}`, http.StatusUnprocessableEntity, 2},
		{`{"id":1,"yes":true,"name":"--launch=auto"}`, http.StatusOK, 1},
	} {
		if status, text := post(t, c, base, "invited", step.body); status != step.status || len(shown()) != step.left {
			t.Errorf("%s: %d %s; %d are left", step.body, status, text, len(shown()))
		}
	}
	if got := <-ran; got != (Join{Self: Self{Name: "--launch=auto"}, Link: "http://192.0.2.1:7777/#TABOMI_ABCDEFGHIJKLMNOP"}) {
		t.Errorf("a yes runs %+v", got)
	}
	if status, text := post(t, c, base, "invited", `{"id":2,"yes":true,"name":"Ann","can_host":true}`); status != http.StatusOK {
		t.Errorf("%d %s", status, text)
	}
	if got := <-ran; got != (Join{Self: Self{Name: "Ann", CanHost: true}, Link: "http://192.0.2.2:7777/#TABOMI_ABCDEFGHIJKLMNOP"}) {
		t.Errorf("a yes of a person whose computer may host runs %+v", got)
	}
	if len(ran) > 0 {
		t.Errorf("and then %q", <-ran)
	}
}

// TestOpen checks that a program that the person opened joins its room by itself, and that a link, a
// broken name, and a file opened while Home is in a room only ask. If the room lets nobody in, Home
// asks as well.
func TestOpen(t *testing.T) {
	ran := make(chan Request, 1)
	ends := make(chan error)
	h, _ := started(t, t.TempDir(), func(ctx context.Context, request Request, terminal Terminal) error {
		ran <- request
		terminal.Open("http://192.0.2.2:7777/#own")
		select {
		case err := <-ends:
			return err
		case <-ctx.Done():
			return nil
		}
	})
	shown := func() int { return len(h.shown()) }
	file := Invitation{File: "muster-join_192.0.2.2_7777_TABOMI_ABCDEFGHIJKLMNOP_tQRSTUVWXYZ234567.exe"}
	never := func(path string) { t.Errorf("%s is opened", path) }
	h.Open(Invitation{URL: somewhere}, never)
	h.Open(Invitation{File: "muster-join_192.0.2.1_7777_TABOMI_ABC.exe"}, never)
	if shown() != 2 {
		t.Errorf("%d are shown", shown())
	}
	followed := make(chan string, 1)
	h.Open(file, func(path string) { followed <- path })
	if got := (<-ran).(Join); got.Link != "http://192.0.2.2:7777/#TABOMI_ABCDEFGHIJKLMNOP.QRSTUVWXYZ234567" || got.Auto != nil || shown() != 2 {
		t.Errorf("it runs %+v, and %d are shown", got, shown())
	}
	path := <-followed
	if !strings.HasSuffix(path, "?room") {
		t.Errorf("%s follows", path)
	}
	c, base := visitor(t, h)
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	for i, want := range []string{"/room?after=0", "http://192.0.2.2:7777/#own"} {
		answer, err := c.Get(base + path)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if path = answer.Header.Get("Location"); path != want {
			t.Errorf("redirect %d leads to %q", i, path)
		}
	}
	h.Open(Invitation{File: "muster-join_192.0.2.3_7777_TABOMI.exe"}, never)
	if shown() != 3 {
		t.Error("it leaves a room unasked")
	}
	h.change(func(s *state) { s.Invitations = nil })
	ends <- hint.Say("home.no-link")
	<-h.tasks[plays].done
	if shown() != 1 {
		t.Error("the refused join does not ask again")
	}
}

// TestHostileInvitation checks that hostile text in a link is shown as a link that is no good, and
// that no answer joins it.
func TestHostileInvitation(t *testing.T) {
	h, _ := started(t, t.TempDir(), func(_ context.Context, request Request, _ Terminal) error {
		t.Errorf("it runs %+v", request)
		return nil
	})
	c, base := visitor(t, h)
	for _, i := range []Invitation{
		{}, {URL: "muster://join/http/192.0.2.1:7777/TABOMI\x1b]0;x\x07\u202e"},
		{URL: "muster://join/http/ann@192.0.2.1/TABOMI"}, {URL: "muster://join/ftp/192.0.2.1/TABOMI"},
		{URL: "muster://join/http/192.0.2.1/TABOMI?launch=auto"},
		{URL: `muster://join/http/<img src=x onerror=alert(1)>/TABOMI`}, {URL: somewhere + strings.Repeat("A", 1<<20)},
		{URL: "--launch-command=calc"}, {URL: "http://192.0.2.1:7777/#TABOMI"},
		{File: "muster-join_192.0.2.1_7777_TABOMI_ABC.exe"}, {File: "--launch-command=calc"},
	} {
		h.Invite(i)
		shown := h.shown()
		if len(shown) != 1 || shown[0].Host != "" || len(shown[0].Wrong) == 0 {
			t.Fatalf("%.80q shows as %+v", i, shown)
		}
		for _, wrong := range shown[0].Wrong {
			line := catalogue.InEnglish().Say(wrong)
			if len(line) > 300 || strings.ContainsFunc(line, func(r rune) bool { return unicode.Is(unicode.C, r) }) {
				t.Errorf("%.80q shows as %q", i, line)
			}
		}
		id := shown[0].ID
		status, _ := post(t, c, base, "invited", `{"id":`+strconv.Itoa(id)+`,"yes":true}`)
		if status != http.StatusUnprocessableEntity {
			t.Errorf("%.80q: a yes is answered by %d", i, status)
		}
	}
}
