package cli_test

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
)

// TestSteamKeyAtHome checks that Home keeps, replaces and forgets the key as the command does, and
// tells only whether there is one.
func TestSteamKeyAtHome(t *testing.T) {
	file := filepath.Join(os.Getenv("XDG_CONFIG_HOME"), "muster", "steam-key")
	t.Cleanup(func() { os.Remove(file) })
	p := begin(t, "--no-browser", "--port", "0", "--lan", "off", "--verbose")
	link, err := url.Parse(p.says(t, `(?m)^home  (\S+)$`)[1])
	if err != nil {
		t.Fatal(err)
	}
	base := "http://" + link.Host
	jar, _ := cookiejar.New(nil)
	c := &http.Client{Jar: jar}
	defer c.CloseIdleConnections()
	if _, err := c.Get(link.String()); err != nil {
		t.Fatal(err)
	}
	ws, _, err := (&websocket.Dialer{Jar: jar}).Dial("ws://"+link.Host+"/live", http.Header{"Origin": {base}})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	told := ""
	ask := func(method, what, body string) string {
		t.Helper()
		r, err := http.NewRequest(method, base+"/api/"+what, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Origin", base)
		r.Header.Set("Content-Type", "application/json")
		answer, err := c.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		told += string(text)
		return strings.TrimSpace(string(text))
	}
	const other = "FEDCBA9876543210FEDCBA9876543210"
	for _, step := range []struct{ method, body, want, kept string }{
		{http.MethodGet, "", `{"kept":""}`, ""},
		{http.MethodPost, `{"key":"` + other + `0"}`, "32 digits", ""},
		{http.MethodPost, `{"key":" ` + strings.ToLower(steamKey) + ` "}`, `{"kept":"file"}`, steamKey + "\n"},
		{http.MethodPost, `{"key":"swordfish"}`, "32 digits", steamKey + "\n"},
		{http.MethodPost, `{"key":"` + other + `"}`, `{"kept":"file"}`, other + "\n"},
		{http.MethodGet, "", `{"kept":"file"}`, other + "\n"},
		{http.MethodPost, `{"forget":true}`, `{"kept":""}`, ""},
		{http.MethodPost, `{"forget":true}`, `{"kept":""}`, ""},
		{http.MethodPost, `{"key":"` + steamKey + `"}`, `{"kept":"file"}`, steamKey + "\n"},
	} {
		if got := ask(step.method, "steam-key", step.body); !strings.Contains(got, step.want) {
			t.Errorf("%s %s: %s, want %s", step.method, step.body, got, step.want)
		}
		text, _ := os.ReadFile(file)
		if string(text) != step.kept {
			t.Errorf("%s: the file holds %q, want %q", step.body, text, step.kept)
		}
		if info, err := os.Stat(file); step.kept != "" && runtime.GOOS != "windows" && (err != nil || info.Mode().Perm() != 0o600) {
			t.Errorf("%v, %v", info, err)
		}
	}
	_, tf2, _ := strings.Cut(ask(http.MethodGet, "games", ""), `{"id":"tf2",`)
	if tf2, _, _ = strings.Cut(tf2, "}"); !strings.Contains(tf2, `"listed":true`) {
		t.Errorf("with a key there is no list of Team Fortress 2: %s", tf2)
	}
	ask(http.MethodGet, "settings", "")
	ask(http.MethodPost, "keep", `{"kind":"favourite","is":true,"game":"tf2","addr":"192.0.2.1:27015"}`) // changes the state
	for heard := ""; !strings.Contains(heard, "192.0.2.1:27015"); told += heard {
		ws.SetReadDeadline(time.Now().Add(20 * time.Second))
		_, frame, err := ws.ReadMessage()
		if err != nil {
			t.Fatal(err)
		}
		heard = string(frame)
	}
	for what, text := range map[string]string{"to pages": told, "printed and logged": p.out.String() + p.err.String()} {
		for _, key := range []string{steamKey, other, "swordfish"} {
			if strings.Contains(strings.ToUpper(text), strings.ToUpper(key)) {
				t.Errorf("%s is in what is said %s:\n%s", key, what, text)
			}
		}
	}
}
