package home

import (
	"context"
	"encoding/json"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"muster/internal/favourites"
)

// TestRequests checks which request each order of a page becomes, and how wrong orders are refused.
// A text stays a value, whatever it looks like.
func TestRequests(t *testing.T) {
	yes, no := true, false
	raw := func(of map[string]string) map[string]json.RawMessage {
		room := map[string]json.RawMessage{}
		for key, value := range of {
			room[key] = json.RawMessage(value)
		}
		return room
	}
	const (
		link    = "http://192.0.2.1:7777/#TABOMI"
		regions = `,"regions":"  fra: 24ms, status 1\n"`
	)
	pasted := Self{Regions: "  fra: 24ms, status 1\n"}
	ran := make(chan Request, 1)
	h, _ := started(t, t.TempDir(), func(_ context.Context, request Request, _ Terminal) error {
		ran <- request
		return nil
	})
	h.config.Standing = func() ([]Standing, error) {
		return []Standing{{ID: "1", Name: "--new", Game: "openarena", Listen: ":7777"}, {ID: "2", Game: "cs2", At: "https://muster.example"}}, nil
	}
	c, base := visitor(t, h)
	h.Invite(Invitation{URL: somewhere})
	for _, tt := range []struct {
		what, body string
		want       Request
		wrong      string
	}{
		{"find", `{"game":"xonotic"}`, Find{Game: "xonotic"}, ""},
		{"find", `{"game":"--servers=/etc/passwd","all":true,"servers":"192.0.2.1:1"}`,
			Find{Game: "--servers=/etc/passwd", All: true, Servers: "192.0.2.1:1"}, ""},
		{"find", `{}`, nil, "choose a game first"},
		{"find", `{"game":`, nil, ""},
		{"join", `{"link":"` + link + `","name":"ann","auto":true}`, Join{Self: Self{Name: "ann", Auto: &yes}, Link: link}, ""},
		{"join", `{"link":" muster join ` + link + `","auto":false}`, Join{Self: Self{Auto: &no}, Link: link}, ""},
		{"join", `{"link":"--launch-command=calc.exe","can_host":true}`, Join{Self: Self{CanHost: true}, Link: "--launch-command=calc.exe"}, ""},
		{"join", `{"link":"192.0.2.1","code":"TABO MI"}`, Join{Link: "192.0.2.1", Code: "TABOMI"}, ""},
		{"join", `{"link":"` + link + `"` + regions + `}`, Join{Self: pasted, Link: link}, ""},
		{"join", `{"link":"` + link + `","regions":" \n"}`, Join{Self: Self{Regions: " \n"}, Link: link}, ""},
		{"join", `{"link":"` + link + `","regions":"<script>"}`, nil, "fra: 24ms"},
		{"join", `{"link":"` + link + `","regions":"` + strings.Repeat("x", 1<<20) + `"}`, nil, "fra: 24ms"},
		{"join", `{"link":" "}`, nil, "link"},
		{"join", `{"link":"TABO-MIDO"}`, nil, "link"},
		{"join", `{"near":"gone"}`, nil, "any more"},
		{"host", `{"room":{"game":"xonotic","limits_ms":[150],"name":"--at=x","agree":false},"at":"https://muster.example","name":"ann"}`,
			Open{Self: Self{Name: "ann"}, At: "https://muster.example",
				Room: raw(map[string]string{"game": `"xonotic"`, "limits_ms": "[150]", "name": `"--at=x"`, "agree": "false"})}, ""},
		{"host", `{"room":{"game":"xonotic"}` + regions + `}`, Open{Self: pasted, Room: raw(map[string]string{"game": `"xonotic"`})}, ""},
		{"host", `{"room":{"game":"xonotic"},"regions":"hello"}`, nil, "fra: 24ms"},
		{"host", `{"room":{"game":["xonotic"]}}`, nil, "choose a game first"},
		{"again", `{"id":"1","name":"ann"}`, Open{Self: Self{Name: "ann", Auto: &no}, Listen: ":7777", Again: true,
			Room: raw(map[string]string{"game": `"openarena"`, "name": `"--new"`})}, ""},
		{"again", `{"id":"2","can_host":true}`, Open{Self: Self{CanHost: true, Auto: &no}, At: "https://muster.example", Again: true,
			Room: raw(map[string]string{"game": `"cs2"`, "name": `""`})}, ""},
		{"again", `{"id":"3"}`, nil, "gone"},
		{"invited", `{"id":1,"yes":true,"regions":"hello"}`, nil, "fra: 24ms"}, // it stays, so that the person can mend the text
		{"invited", `{"id":1,"yes":true,"name":"--launch=auto"` + regions + `}`,
			Join{Self: Self{Name: "--launch=auto", Regions: pasted.Regions}, Link: "http://192.0.2.1:7777/#TABOMI_ABCDEFGHIJKLMNOP"}, ""},
		{"invited", `{"id":1,"yes":true}`, nil, "closed"},
		{"connect", `{"game":"xonotic","addr":"anna.example.org:25565"}`, Find{Game: "xonotic", Servers: "anna.example.org:25565", All: true, Goes: true}, ""},
		{"connect", `{"addr":"192.0.2.1:27960"}`, nil, "choose a game first"},
		{"connect", `{"game":"g","addr":"192.0.2.1:0"}`, nil, "isn’t a server’s address"},
		{"connect", `{"game":"g","addr":"x y:1"}`, nil, "isn’t a server’s address"},
		{"connect", `{"game":"g","addr":"192.0.2.1"}`, nil, "isn’t a server’s address"},
		{"connect", `{"game":"g","addr":"file:///etc/passwd"}`, nil, "isn’t a server’s address"},
		{"players", `{"game":"g","addr":"file:///etc/passwd"}`, nil, "isn’t a server’s address"},
		{"watch", `{"game":"xonotic","addr":"[2001:db8::1]:1","name":"n","goes":true}`,
			Find{Game: "xonotic", Servers: "[2001:db8::1]:1", All: true, Watches: true, Goes: true}, ""},
		{"beacon", `{"name":"--listen=:1","port":7788,"port_map":false}`, Beacon{Name: "--listen=:1", Port: 7788, PortMap: &no}, ""},
		{"beacon", `{"port":70000}`, nil, "70000 isn’t a port: use 1 to 65535"},
		{"beacon", `{"port":-1}`, nil, "-1 isn’t a port"},
		{"stop", `"everything"`, nil, ""},
	} {
		status, text := post(t, c, base, tt.what, tt.body)
		if tt.want == nil {
			if status != http.StatusUnprocessableEntity || !strings.Contains(text, tt.wrong) || len(ran) > 0 {
				t.Errorf("%s %.90s: %d %s, want %q; %d start", tt.what, tt.body, status, text, tt.wrong, len(ran))
			}
			continue
		}
		if status != http.StatusOK {
			t.Errorf("%s %s: %d %s", tt.what, tt.body, status, text)
			continue
		}
		got := <-ran
		if o, is := got.(Open); is && !o.Again && o.At == "" {
			if !strings.HasPrefix(o.Listen, ":") {
				t.Errorf("%s: it listens at %q", tt.body, o.Listen)
			}
			o.Listen = ""
			got = o
		}
		if !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s %s: %+v\nwant %+v", tt.what, tt.body, got, tt.want)
		}
	}
	h.change(func(s *state) { s.At = "https://muster.example" })
	if status, text := post(t, c, base, "join", `{"link":"TABO-MIDO"}`); status != http.StatusOK || (<-ran).(Join).Link != "TABO-MIDO" {
		t.Errorf("a code of the public host: %d %s", status, text)
	}
}

// TestLists checks that a page imports a list and sees it at once, and exports one.
func TestLists(t *testing.T) {
	h, _ := started(t, t.TempDir(), nil)
	var asked []List
	h.config.Import = func(to List, text string) (string, error) {
		asked = append(asked, to)
		h.config.Favourites = t.TempDir() // which is no file
		return "added " + text, nil
	}
	h.config.Export = func(of List, as favourites.As) (string, error) {
		asked = append(asked, of)
		return "as " + string(as), nil
	}
	c, base := visitor(t, h)
	for _, tt := range []struct{ what, body, want string }{
		{"import", `{"game":"--verbose","hidden":true,"text":"192.0.2.1:27960"}`, `"added 192.0.2.1:27960"`},
		{"export", `{"game":"openarena","format":"qstat"}`, `"as qstat"`},
	} {
		if status, text := post(t, c, base, tt.what, tt.body); status != http.StatusOK || strings.TrimSpace(text) != tt.want {
			t.Errorf("%s: %d %s", tt.what, status, text)
		}
	}
	if !slices.Equal(asked, []List{{"--verbose", true}, {"openarena", false}}) {
		t.Errorf("asked for %+v", asked)
	}
	if len(h.state.Trouble) == 0 {
		t.Error("the page keeps the lists from before")
	}
}
