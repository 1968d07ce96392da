package cli_test

import (
	"net/http"
	"strings"
	"testing"
)

// orders sends an order as a page does, with a personal link. It returns the answer's status.
func orders(t *testing.T, link, action, body string) int {
	t.Helper()
	at, key, _ := strings.Cut(link, "#")
	room, secret, _ := strings.Cut(key, ".")
	code, _, _ := strings.Cut(room, "_")
	request, err := http.NewRequest("POST", at+"api/rooms/"+code+"/"+action, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+secret)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	return response.StatusCode
}

// TestPersonalLinks checks the links that host and join print, by which a page acts for the player.
// A player who leaves by it ends the program without an error. A host keeps the room when its own
// player is removed from it.
func TestPersonalLinks(t *testing.T) {
	l := startLoopback(t, 5)
	host := begin(t, "host", "--game", "openarena", "--servers", l.file, "--listen", "127.0.0.1:0", "--no-browser",
		"--no-mdns", "--name", "org", "--listen-addr", l.from)
	link := host.says(t, `(?m)^link +(\S+_[A-Z2-7]{16})$`)[1]
	secret := host.says(t, `(http://\S+\.[A-Z2-7]{26})\n`)[1]
	host.says(t, "org is here")
	ann := begin(t, "join", link, "--name", "ann", "--launch", "never", "--listen-addr", l.from)
	page := ann.says(t, `the page, to watch and to vote: (\S+\.[A-Z2-7]{16})\n`)[1]
	for _, tt := range []struct {
		link, action, body string
		want               int
	}{
		{page, "lock", `{"locked":true}`, 403},
		{page, "rename", `{"name":"org"}`, 409},
		{page, "rename", `{"name":"anna"}`, 204},
		{secret, "remove", `{"name":"org"}`, 204},
		{secret, "lock", `{"locked":false}`, 204},
		{secret, "renew", "", 200},
		{secret, "lock", `{"locked":false}`, 403},
	} {
		if got := orders(t, tt.link, tt.action, tt.body); got != tt.want {
			t.Errorf("%s %s by %s is answered %d, want %d", tt.action, tt.body, tt.link, got, tt.want)
		}
	}
	host.says(t, "removed you from the room. The room goes on")
	renewed := host.says(t, `your link to steer has changed; the old one doesn't work any more:\n(\S+)\n`)[1]
	if got := orders(t, renewed, "lock", `{"locked":false}`); got != 204 {
		t.Errorf("by the new link the lock is answered %d", got)
	}
	bob := begin(t, "join", link, "--name", "bob", "--launch", "never", "--listen-addr", l.from)
	bob.says(t, "anna is here|you're in")
	if got := orders(t, page, "leave", ""); got != 204 {
		t.Errorf("ann's leave is answered %d", got)
	}
	ann.exits(t, 0)
	host.says(t, "anna has left")
}

// TestOwnHostIsSteeredByHTTP checks that a program with its own host steers the room like any
// client, also over TLS. It keeps steering after the organiser's link was renewed on the page.
func TestOwnHostIsSteeredByHTTP(t *testing.T) {
	t.Parallel()
	list := writeFile(t, "servers.txt", "127.0.0.1:1\n")
	for name, more := range map[string][]string{"in the clear": nil, "encrypted": {"--tls"}} {
		t.Run(name, func(t *testing.T) {
			host := begin(t, append([]string{"host", "--game", "openarena", "--servers", list, "--listen",
				"127.0.0.1:0", "--no-browser", "--no-play"}, more...)...)
			secret := host.says(t, `(https?://\S+\.[A-Z2-7]{26})\n`)[1]
			host.types(t, "")
			host.says(t, "nobody is here yet")
			if strings.HasPrefix(secret, "http://") {
				if got := orders(t, secret, "renew", ""); got != 200 {
					t.Fatalf("the renewal is answered %d", got)
				}
				host.says(t, "the old one doesn't work any more")
			}
			host.types(t, "end")
			host.says(t, "has ended the night")
			host.exits(t, 0)
		})
	}
}
