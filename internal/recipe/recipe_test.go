package recipe

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"muster/internal/game"
)

// These are what rows may have.
var (
	idForm       = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	imageForm    = regexp.MustCompile(`^([a-z0-9.-]+/)*[a-z0-9_-]+(:[A-Za-z0-9._-]+)?$`)
	fromForm     = regexp.MustCompile(`^[A-Za-z0-9-]+/[A-Za-z0-9._-]+$`)
	portForm     = regexp.MustCompile(`^([1-9][0-9]*)/(udp|tcp)$`)
	constForm    = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=[A-Za-z0-9_.,:/()=-]+$`)
	nameForm     = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	pathForm     = regexp.MustCompile(`^(/[A-Za-z0-9_.-]+)+$`)
	gsmForm      = regexp.MustCompile(`^[a-z0-9]+$`)
	argumentForm = regexp.MustCompile(`^(\+?[a-z0-9_]+|\{[a-z]+\})$`)
	flagForm     = regexp.MustCompile(`^(-i|-t|--cap-add=[a-z_]+|--stop-timeout=[0-9]+|` +
		`--memory(-reservation)?=[0-9]+[gG]|` +
		`--security-opt=seccomp=unconfined|--ulimit=nofile=[0-9]+:[0-9]+)$`)

	states = []string{"", "slow", "stale", "none", "unknown"}
	asked  = []string{"name", "world", "password", "players", "memory", "whitelist", "owner", "address", "token"}
	made   = []string{"admin", "rcon"}
	hands  = []string{"token", "claim", "account", "config-edit", "files", "world-upload", "device-login", "image"}
	joins  = []string{"address", "list", "invite", "console"}
)

// unlisted are games that no other table of Muster has.
var unlisted = []string{
	"arksa", "assettocorsa", "dragonwilds", "eco", "factorio", "hytale", "necesse", "palworld", "scpsl", "starrupture",
	"teamspeak3", "teamspeak6", "trackmania", "windrose",
}

// TestTable checks every row, because what it says ends in somebody's shell.
func TestTable(t *testing.T) {
	games, err := game.Load(nil, "")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, g := range games.All() {
		known[g.ID] = true
	}
	grades := map[Grade]int{}
	for _, r := range All() {
		grades[r.Grade]++
		bad := func(what string, value any) {
			t.Helper()
			t.Errorf("%s: %s: %q", r.Game, what, value)
		}
		if known[r.Game] == slices.Contains(unlisted, r.Game) || !idForm.MatchString(r.Game) {
			bad("no such game", r.Game)
		}
		if r.Name == "" || r.Image == "" && r.State != "none" || r.Image != "" && !imageForm.MatchString(r.Image) {
			bad("image", r.Image)
		}
		if r.Image != "" && !fromForm.MatchString(r.From) {
			bad("from", r.From)
		}
		isDated := r.State != "none" && r.State != "unknown"
		if _, err := time.Parse("2006-01-02"[:max(len(r.Seen), 4)], r.Seen); isDated && err != nil {
			bad("seen", r.Seen)
		}
		if !slices.Contains(states, r.State) || r.State == "none" != (r.Image == "") {
			bad("state", r.State)
		}
		for _, each := range []struct {
			what   string
			values []string
			form   *regexp.Regexp
		}{
			{"env", r.Env, constForm}, {"open", r.OpenPorts, portForm}, {"query", r.QueryPorts, portForm},
			{"admin", r.AdminPorts, portForm}, {"volumes", r.Volumes, pathForm}, {"flags", r.Flags, flagForm},
			{"command", r.Command, argumentForm},
		} {
			for i, value := range each.values {
				if !each.form.MatchString(value) || slices.Contains(each.values[:i], value) && each.what != "command" {
					bad(each.what, value)
				}
			}
		}
		for _, port := range slices.Concat(r.OpenPorts, r.QueryPorts, r.AdminPorts) {
			number, _, _ := strings.Cut(port, "/")
			if n, err := strconv.Atoi(number); err != nil || n > 65535 {
				bad("port", port)
			}
		}
		for _, port := range r.AdminPorts {
			if slices.Contains(r.OpenPorts, port) || slices.Contains(r.QueryPorts, port) {
				bad("open for everybody and the console's", port)
			}
		}
		for _, v := range r.Ask {
			if !slices.Contains(asked, v.Role) || !nameForm.MatchString(v.Env) {
				bad("ask", v)
			}
		}
		for _, v := range r.Made {
			if !slices.Contains(made, v.Role) || !nameForm.MatchString(v.Env) {
				bad("made", v)
			}
		}
		for _, kind := range r.Hand {
			if !slices.Contains(hands, kind) {
				bad("hand", kind)
			}
		}
		for _, way := range r.Join {
			if !slices.Contains(joins, way) {
				bad("join", way)
			}
		}
		if r.LinuxGSM != "" && !gsmForm.MatchString(r.LinuxGSM) || r.Relay != "" && r.Relay != "yes" && r.Relay != "option" {
			bad("linuxgsm, relay", r.LinuxGSM+r.Relay)
		}
		isSafe := func(url string) bool { return url == "" || strings.HasPrefix(url, "https://") }
		if l := r.Licence; l != nil && (!constForm.MatchString(l.Env) || l.Who == "" || !isSafe(l.URL)) {
			bad("licence", l)
		}
		if len(r.Join) == 0 || r.LeastMemory < 0 || r.GoodMemory != 0 && r.GoodMemory < r.LeastMemory {
			bad("join, memory", r.Join)
		}
		if r.Grade == ByHand && len(r.Hand)+len(r.Edit)+len(r.Need)+len(r.Mind) == 0 {
			bad("by hand, but what?", r.Grade)
		}
		if r.Grade == ByForm && (r.Image == "" || r.State != "" || r.IsWine || len(r.Edit) > 0 || len(r.Volumes) == 0) {
			bad("this is more than a form can do", r.Grade)
		}
		for _, words := range slices.Concat(r.Mind, r.Need, r.Edit) {
			if len(words) > 120 || strings.ContainsAny(words, "\n`<") {
				bad("words", words)
			}
		}
		for _, words := range r.Mind {
			if !strings.HasSuffix(words, ".") {
				bad("mind, no sentence", words)
			}
		}
	}
	if grades[ByForm] != 24 || grades[ByHand] != 60 || grades[InWords] != 11 {
		t.Errorf("grades %v, want 24 A, 60 B, 11 C", grades)
	}
	if info, err := os.Stat("recipes.toml"); err != nil || info.Size() > 80_000 {
		t.Errorf("the table has %d bytes (%v), want ≤ 80,000", info.Size(), err)
	}
}

// TestNoDefaultPassword checks that a text sets every password for which the image has one that everybody knows.
func TestNoDefaultPassword(t *testing.T) {
	for game, env := range map[string]string{
		"rust": "RUST_RCON_PASSWORD", "cs2": "CS2_RCONPW", "tf2": "SRCDS_RCONPW", "zomboid": "ADMIN_PASSWORD",
		"mordhau": "SERVER_ADMINPW",
	} {
		r, _ := Of(game)
		if !slices.ContainsFunc(r.Made, func(v Variable) bool { return v.Env == env }) {
			t.Errorf("%s leaves %s as it is", game, env)
		}
	}
}

// TestDocument checks the JSON that pages load.
func TestDocument(t *testing.T) {
	r, found := Of("minecraft")
	if !found {
		t.Fatal("no recipe for Minecraft")
	}
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"format":"muster.recipe/1","game":"minecraft","name":"Minecraft: Java Edition","grade":"A",` +
		`"image":"itzg/minecraft-server","from":"itzg/docker-minecraft-server","seen":"2026-08-19","arm64":true,` +
		`"licence":{"env":"EULA=TRUE","who":"Mojang","url":"https://www.minecraft.net/eula"},"env":["ENABLE_QUERY=false"],` +
		`"ask":[{"role":"name","env":"MOTD"},{"role":"memory","env":"MEMORY"},{"role":"whitelist","env":"WHITELIST"}],` +
		`"open":["25565/tcp"],"query":["25565/tcp"],"admin":["25575/tcp"],` +
		`"volumes":["/data"],"linuxgsm":"mc","mem_min_gb":1,"join":["address"],` +
		`"mind":["There is no password. The names under “Let in” guard the door."]}`
	if string(data) != want {
		t.Errorf("got  %s\nwant %s", data, want)
	}
	if _, found := Of("new:palworld"); found {
		t.Error("an id has a prefix")
	}
}
