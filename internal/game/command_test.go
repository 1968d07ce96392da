package game

import (
	"errors"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"

	"muster/host/wire"
)

var target = Target{Address: netip.MustParseAddrPort("192.0.2.1:27960"), Player: "ann b", Room: "kiwi"}

func withPassword(p string) Target {
	t := target
	t.Password = p
	return t
}

func TestCommand(t *testing.T) {
	six := Target{Address: netip.MustParseAddrPort("[2001:db8::1]:27960")}
	tests := []struct {
		name     string
		template []string
		target   Target
		want     []string
	}{
		{"Quake III", []string{"oa", "+password", "{password}", "+connect", "{address}"}, withPassword("s3cret"),
			[]string{"oa", "+password", "s3cret", "+connect", "192.0.2.1:27960"}},
		{"without a password", []string{"oa", "+password", "{password}", "+connect", "{address}"}, target,
			[]string{"oa", "+connect", "192.0.2.1:27960"}},
		{"IPv6", []string{"oa", "+connect", "{address}", "{host}", "{port}"}, six,
			[]string{"oa", "+connect", "[2001:db8::1]:27960", "2001:db8::1", "27960"}},
		{"asked elsewhere", []string{"x", "{query}", "{address}", "{port}"},
			Target{Address: target.Address, QueryPort: 27015}, []string{"x", "192.0.2.1:27015", "192.0.2.1:27960", "27960"}},
		{"asked there", []string{"x", "{query}"}, target, []string{"x", "192.0.2.1:27960"}},
		{"a URL", []string{"steam://connect/{address}{/password}"}, target, []string{"steam://connect/192.0.2.1:27960"}},
		{"a URL with texts", []string{"oa://join?pw={password}&room={room}"},
			Target{Address: target.Address, Password: "a&room=x#y", Room: "B D"}, []string{"oa://join?pw=a%26room%3Dx%23y&room=B%20D"}},
		{"a URL with a password", []string{"steam://connect/{address}{/password}"}, withPassword("a/b?c"),
			[]string{"steam://connect/192.0.2.1:27960/a%2Fb%3Fc"}},
		{"what goes with a password",
			[]string{"x", "{address}{?password=password}", "-xconnect {host}{ password}", "m://{:password@}{host}"},
			withPassword("a-b"), []string{"x", "192.0.2.1:27960?password=a-b", "-xconnect 192.0.2.1 a-b", "m://:a-b@192.0.2.1"}},
		{"and without one", []string{"x", "{address}{?password=password}", "-xconnect {host}{ password}",
			"m://{:password@}{host}"}, target, []string{"x", "192.0.2.1:27960", "-xconnect 192.0.2.1", "m://192.0.2.1"}},
		{"only with a password", []string{"x", "{password?}--ask", "{address}"}, withPassword("a"), []string{"x", "--ask", "192.0.2.1:27960"}},
		{"not without", []string{"x", "{password?}--ask", "{address}"}, target, []string{"x", "192.0.2.1:27960"}},
		{"an option that was given", []string{"x", "-v", "{address}", "-n", "{player}"}, target,
			[]string{"x", "-v", "192.0.2.1:27960", "-n", "ann b"}},
		{"only the option right before", []string{"x", "-a", "-b", "{password}", "c"}, target, []string{"x", "-a", "c"}},
		{"an argument before is no option", []string{"x", "a", "{password}"}, target, []string{"x", "a"}},
		{"the program is no option", []string{"-x", "{password}"}, target, []string{"-x"}},
		{"two in a row", []string{"x", "-p", "{password}", "{password}"}, target, []string{"x"}},
		{"half an argument", []string{"x", "--password={password}", "--room={room}"}, target, []string{"x", "--room=kiwi"}},
		{"the rest", []string{"x", "{game}", "{app_id}", "{room}"}, target, []string{"x", "g", "440", "kiwi"}},
		{"no shell", []string{"x", "$HOME", "a b", "`id`", "{address}"}, target, []string{"x", "$HOME", "a b", "`id`", "192.0.2.1:27960"}},
	}
	for _, tt := range tests {
		g := Game{ID: "g", AppID: 440}
		before := slices.Clone(tt.template)
		got, err := g.Command(tt.template, tt.target)
		if err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %q, %v, want %q", tt.name, got, err, tt.want)
		}
		if !slices.Equal(tt.template, before) {
			t.Errorf("%s: the template became %q", tt.name, tt.template)
		}
	}
}

func TestCommandRefusesWhatConsolesWouldRun(t *testing.T) {
	template := []string{"x", "+password", "{password}", "+connect", "{address}"}
	url := []string{"steam://connect/{address}{/password}"}
	for _, bad := range []string{
		"pw;quit", "pw+quit", `pw"b`, "pw'b", "pw`b", "pw$b", "%pw%", "pw\nquit", "pw\x00", "-pw", " pw", "pw ",
		`pw\b`, "\u202epw", "pw\xff", "{pw}", strings.Repeat("pw", 33),
	} {
		for _, tmpl := range [][]string{template, url} {
			_, err := Game{}.Command(tmpl, withPassword(bad))
			if _, is := errors.AsType[*ValueError](err); !is || strings.Contains(err.Error(), "pw") {
				t.Errorf("password %q: got error %v, want a ValueError that does not tell it", bad, err)
			}
		}
	}
	bad := target
	bad.Player = "O'Brien"
	if _, err := (Game{}).Command([]string{"x", "{player}"}, bad); err == nil {
		t.Error("the player's name was not checked")
	}
	if _, err := (Game{}).Command(template, bad); err != nil {
		t.Errorf("a name that nobody is told of matters: %v", err)
	}
}

// TestPasswordInALine checks that a program that parses an argument, as a line of its script or an address with
// options, never gets a password that could be more than one part.
func TestPasswordInALine(t *testing.T) {
	for _, template := range [][]string{{"x", "-xconnect {host}{ password}"}, {"x", "password {password}"},
		{"x", "{address}{?password=password}"}} {
		for _, bad := range []string{"a b", "(exec)", "[x]", "@x", "a?b", "a/b", "a#b"} {
			var value *ValueError
			if _, err := (Game{}).Command(template, withPassword(bad)); !errors.As(err, &value) {
				t.Errorf("%q with %q: got error %v, want a ValueError", template, bad, err)
			}
		}
		if _, err := (Game{}).Command(template, withPassword("Cl_ub-2.0")); err != nil {
			t.Errorf("%q: %v", template, err)
		}
	}
}

func TestCommandRefusesAddresses(t *testing.T) {
	for _, addr := range []netip.AddrPort{
		{}, netip.MustParseAddrPort("192.0.2.1:0"), netip.MustParseAddrPort("0.0.0.0:1"), netip.MustParseAddrPort("[fe80::1%;quit]:1"),
	} {
		if _, err := (Game{}).Command([]string{"x", "{address}"}, Target{Address: addr}); err == nil {
			t.Errorf("%s was taken", addr)
		}
	}
}

func TestCommandRefusesTemplates(t *testing.T) {
	for _, template := range [][]string{nil, {}, {""}, {"{password}"}, {"x", "{nope}"}, {"x", "{my password}"},
		{"x", "{passwords}"}, {"x", "{/player}"}, {"x", "{"}, {"x", "{address"}} {
		if got, err := (Game{}).Command(template, target); err == nil {
			t.Errorf("%q gave %q", template, got)
		}
	}
}

func TestTemplateOfEachSystem(t *testing.T) {
	g := Game{Launch: []string{"any"}, LaunchWindows: []string{"any.exe"}, LaunchDarwin: []string{"open", "-a", "Any"}}
	steam := Game{Launch: []string{"steam://connect/{address}"}}
	tests := []struct {
		goos      string
		own, link []string
	}{
		{"linux", []string{"any"}, []string{"xdg-open", "steam://connect/{address}"}},
		{"windows", []string{"any.exe"}, []string{"rundll32", "url.dll,FileProtocolHandler", "steam://connect/{address}"}},
		{"darwin", []string{"open", "-a", "Any"}, []string{"open", "steam://connect/{address}"}},
		{"freebsd", []string{"any"}, []string{"xdg-open", "steam://connect/{address}"}},
	}
	for _, tt := range tests {
		if got := g.Template(tt.goos); !slices.Equal(got, tt.own) {
			t.Errorf("%s: got %q, want %q", tt.goos, got, tt.own)
		}
		if got := steam.Template(tt.goos); !slices.Equal(got, tt.link) {
			t.Errorf("%s: got %q, want %q", tt.goos, got, tt.link)
		}
	}
}

func TestSplit(t *testing.T) {
	tests := []struct {
		in   string
		want []string
	}{
		{"oa +connect {address}", []string{"oa", "+connect", "{address}"}},
		{"  oa \t x\n", []string{"oa", "x"}},
		{`"C:\Program Files\OA\oa.exe" +connect {address}`, []string{`C:\Program Files\OA\oa.exe`, "+connect", "{address}"}},
		{`'it is' "isn't" a'b c'd`, []string{"it is", "isn't", "ab cd"}},
		{`x "" ''`, []string{"x", "", ""}},
		{`x $HOME;rm *`, []string{"x", "$HOME;rm", "*"}},
	}
	for _, tt := range tests {
		if got, err := split(tt.in); err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("split(%q) = %q, %v, want %q", tt.in, got, err, tt.want)
		}
	}
	for _, in := range []string{"", " \t", `x "y`, `x 'y"`} {
		if got, err := split(in); err == nil {
			t.Errorf("split(%q) = %q", in, got)
		}
	}
}

func TestShowMasksThePassword(t *testing.T) {
	argv := []string{"C:\\Program Files\\oa", "+password", "a?b", "", "steam://connect/192.0.2.1:1/a%3Fb"}
	want := `"C:\\Program Files\\oa" +password *** "" steam://connect/192.0.2.1:1/***`
	if got := show(argv, "a?b"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := show([]string{"oa", "+connect"}, ""); got != "oa +connect" {
		t.Errorf("without a password: got %s", got)
	}
}

func FuzzCommand(f *testing.F) {
	f.Add(`x +password {password} +connect {address}`, "s3cret")
	f.Add(`"steam://connect/{address}{/password}"`, "a/b")
	f.Fuzz(func(t *testing.T, template, password string) {
		argv, err := split(template)
		if err != nil {
			return
		}
		got, err := Game{}.Command(argv, withPassword(password))
		if err != nil {
			return
		}
		if len(got) == 0 || len(got) > len(argv) {
			t.Fatalf("%q became %q", argv, got)
		}
		if got[0] != argv[0] && !strings.Contains(argv[0], "{") {
			t.Fatalf("the program %q became %q", argv[0], got[0])
		}
	})
}

// FuzzSplit splits templates as people write them. Only blanks and quotes may disappear, and quoting each part again
// gives the same parts.
func FuzzSplit(f *testing.F) {
	for _, template := range []string{`C:\Games\x.exe "a b" 'c"d'`, `"" x`, `'`, "a\u00a0b", `a"b"'c'`} {
		f.Add(template)
	}
	f.Fuzz(func(t *testing.T, template string) {
		argv, err := split(template)
		if err != nil || strings.ToValidUTF8(template, "") != template {
			return
		}
		var quoted []string
		for _, arg := range argv {
			var parts strings.Builder
			for i, part := range strings.SplitAfter(arg, `"`) {
				if before, had := strings.CutSuffix(part, `"`); had {
					parts.WriteString(`"` + before + `"'"'`)
				} else if part != "" || i == 0 {
					parts.WriteString(`"` + part + `"`)
				}
			}
			quoted = append(quoted, parts.String())
		}
		if again, err := split(strings.Join(quoted, " ")); err != nil || !slices.Equal(again, argv) {
			t.Errorf("%q is %q, and quoted again %q, %v", template, argv, again, err)
		}
	})
}

// TestTyped checks what a player types for servers with and without a password, and on another port than it is asked.
func TestTyped(t *testing.T) {
	server := Target{Address: netip.MustParseAddrPort("192.0.2.7:7777"), QueryPort: 27015, Password: "open-sesame"}
	public := server
	public.Password = ""
	hostile := server
	hostile.Password = "x; quit"
	tests := []struct {
		typing Typing
		to     Target
		want   []string
	}{
		{Typing{"console", []string{"password {password}", "connect {address}"}}, server,
			[]string{"password open-sesame", "connect 192.0.2.7:7777"}},
		{Typing{"console", []string{"password {password}", "connect {address}"}}, public, []string{"connect 192.0.2.7:7777"}},
		{Typing{"console", []string{"password {password}", "connect {address}"}}, hostile, nil},
		{Typing{"direct", []string{"{host}", "{port}"}}, public, []string{"192.0.2.7", "7777"}},
		{Typing{"steam", []string{"{query}"}}, public, []string{"192.0.2.7:27015"}},
		{Typing{"list", []string{"{name}"}}, public, []string{"Ann's; quit {server}"}},
	}
	for _, tt := range tests {
		if err := tt.typing.check(); err != nil {
			t.Errorf("%v: %v", tt.typing, err)
		}
		got, err := Game{ID: "g", ProtocolName: "a2s", Type: &tt.typing}.typed(tt.to, "Ann's; quit\n {server}")
		if !slices.Equal(got, tt.want) || (err != nil) != (tt.want == nil) {
			t.Errorf("%v: got %q, %v, want %q", tt.typing, got, err, tt.want)
		}
	}
}

// TestTypingRefuses checks that a table cannot name an unknown place or placeholder, or nothing to type.
func TestTypingRefuses(t *testing.T) {
	for _, typing := range []string{
		"{ where = 'somewhere', text = ['{address}'] }",
		"{ where = 'direct', text = [] }",
		"{ where = 'direct', text = ['{adress}'] }",
		"{ where = 'console', text = ['{name}'] }",
	} {
		if _, err := Load(strings.NewReader("[game.x]\nprotocol='a2s'\nport=1\ntype = "+typing+"\n"), "mine.toml"); err == nil {
			t.Errorf("%s was taken", typing)
		}
	}
}

// TestTableTyped checks that pages show what to type without a password, and nothing for games without it.
func TestTableTyped(t *testing.T) {
	table := load(t, "[game.x]\nprotocol='a2s'\nport=1\ntype = { where = 'console', text = ['password {password}', 'connect {address}'] }\n")
	way := wire.Way{Connect: "192.0.2.7:27015", Server: "Ann's"}
	want := &wire.Typed{Where: "console", Texts: []string{"connect 192.0.2.7:27015"}}
	if got := table.Typed("x", way); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
	if got := table.Typed("tf2", way); got != nil {
		t.Errorf("tf2 has %+v", got)
	}
	if got := table.Typed("x", wire.Way{}); got != nil {
		t.Errorf("no way has %+v", got)
	}
}

// TestJoined checks that games do not lose the sources for their port and for joining.
func TestJoined(t *testing.T) {
	joined := 0
	for _, g := range load(t, "").All() {
		if g.IsJoined() {
			joined++
		} else {
			t.Logf("%s lacks a source for its port or for joining", g.ID)
		}
	}
	if joined < 371 {
		t.Errorf("only %d games have both sources", joined)
	}
}
