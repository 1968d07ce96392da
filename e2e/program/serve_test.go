package program_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"muster/host/wire"
	"muster/internal/freeport"
)

// documented returns a file that docs/serve has for operators.
func documented(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../docs/serve", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// haproxyExample returns the configuration in docs/serve/run.md, an indented block there.
func haproxyExample(t *testing.T) string {
	t.Helper()
	_, after, found := strings.Cut(documented(t, "run.md"), "    defaults\n")
	block, _, ended := strings.Cut(after, "\nEach host needs")
	if !found || !ended {
		t.Fatal("docs/serve/run.md has no example for haproxy")
	}
	return strings.ReplaceAll("    defaults\n"+block, "\n    ", "\n")
}

// opensRoom opens a room on a public host, as a stranger.
func opensRoom(t *testing.T, at string) (code, link string) {
	t.Helper()
	answer, err := http.Post("http://"+at+"/api/rooms", "application/json",
		strings.NewReader(`{"game":"openarena","players":2,"servers":["127.0.0.1:27960"]}`))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var room struct{ Code, Link string }
	if err := json.NewDecoder(answer.Body).Decode(&room); err != nil || answer.StatusCode != http.StatusCreated {
		t.Fatalf("no room is opened: %s, %v", answer.Status, err)
	}
	return room.Code, room.Link
}

// answers polls a URL until its status is good, and returns the text.
func answers(t *testing.T, url string) (text string) {
	t.Helper()
	eventually(t, url+" answers", func() bool {
		answer, err := http.Get(url)
		if err != nil {
			return false
		}
		defer answer.Body.Close()
		all, err := io.ReadAll(answer.Body)
		text = string(all)
		return err == nil && answer.StatusCode == http.StatusOK
	})
	return text
}

// TestServeBehindProxy checks a public host behind each proxy with a configuration in docs/serve or
// docs/serve/run.md. It tries the page, the page's stream, a player's program, and a guesser who forges
// the client address for which the proxy speaks.
func TestServeBehindProxy(t *testing.T) {
	t.Parallel()
	for name, startProxy := range map[string]func(t *testing.T, at, host string){
		"caddy": func(t *testing.T, at, host string) {
			runCaddy(t, adapted(t, documented(t, "Caddyfile"), "muster.example", "http://"+at, "127.0.0.1:7777", host))
		},
		"nginx": func(t *testing.T, at, host string) {
			runNginx(t, adapted(t, documented(t, "nginx.conf"), "\tlisten [::]:443 ssl;\n", "", "443 ssl", at,
				"muster.example;\n", "_;\n", "127.0.0.1:7777", host,
				"\tssl_certificate     /etc/ssl/muster.example.pem;\n", "", "\tssl_certificate_key /etc/ssl/muster.example.key;\n", ""))
		},
		"haproxy": func(t *testing.T, at, host string) {
			config := adapted(t, haproxyExample(t), ":443 ssl crt /etc/haproxy/muster.example.pem", at,
				"10.0.0.11:7777", host, "10.0.0.12:7777", freeport.TCP(t))
			start(t, "haproxy", exec.Command("haproxy", "-db", "-f", writeFile(t, "haproxy.cfg", config)))
		},
	} {
		t.Run(name, func(t *testing.T) {
			host, proxy := freeport.TCP(t), freeport.TCP(t)
			run(t, t.TempDir(), "serve", "serve", "--listen", host, "--trusted-proxy", "127.0.0.1", "--public-url",
				"http://"+proxy).awaits(`(?m)^page +http://` + regexp.QuoteMeta(proxy) + `/$`)
			startProxy(t, proxy, host)
			if page := answers(t, "http://"+proxy+"/"); !strings.Contains(strings.ToLower(page), "<!doctype html>") {
				t.Errorf("the page is %.200s", page)
			}
			code, link := opensRoom(t, proxy)
			if !strings.HasPrefix(link, "http://"+proxy+"/#") {
				t.Errorf("the link is %s", link)
			}
			run(t, t.TempDir(), "ann", "join", link, "--name", "ann", "--launch", "never")
			awaitRoom(t, proxy, code, "ann is in", func(r wire.Document) bool { return memberOf(r, "ann").Connected })
			ws, _, err := websocket.DefaultDialer.Dial("ws://"+proxy+"/live", http.Header{"Origin": {"http://" + proxy}})
			if err != nil {
				t.Fatal("the page's stream does not pass: ", err)
			}
			defer ws.Close()
			ws.SetReadDeadline(time.Now().Add(patience))
			if err := ws.WriteJSON(map[string]string{"code": code}); err != nil {
				t.Fatal(err)
			}
			if _, data, err := ws.ReadMessage(); err != nil || !strings.HasPrefix(string(data), `{"type":"state"`) ||
				!strings.Contains(string(data), "ann") {
				t.Errorf("the page is shown %.200s, %v", data, err)
			}
			limited := 0
			for i := range 20 {
				limited += count(askFrom(t, "127.0.0.9", proxy, fmt.Sprintf("BAKODITALU%d", i),
					fmt.Sprintf("198.51.%d.1", i)) == http.StatusTooManyRequests)
			}
			if limited != 15 { // the guesser has five tries
				t.Errorf("of 20 guesses %d were not heard", limited)
			}
			if status := askFrom(t, "127.0.0.8", proxy, code, ""); status != http.StatusOK {
				t.Errorf("another player is answered %d", status)
			}
		})
	}
}

func count(is bool) int {
	if is {
		return 1
	}
	return 0
}
