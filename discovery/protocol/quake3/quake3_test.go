package quake3_test

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/internal/codectest"
	. "muster/discovery/protocol/quake3"
)

const (
	nonce     = discovery.Nonce(0x0123456789abcdef)
	nonceText = "0123456789abcdef"
)

// answered returns the recorded reply, as if our nonce had been the challenge.
func answered(t testing.TB, file, challenge string) []byte {
	t.Helper()
	_, replies := codectest.Packets(t, file)
	return bytes.Replace(replies[0], []byte(`\challenge\`+challenge), []byte(`\challenge\`+nonceText), 1)
}

func TestQueriesCarryTheNonce(t *testing.T) {
	if got, want := string(Protocol{}.AppendQuery(nil, nonce, nil)), "\xff\xff\xff\xffgetinfo "+nonceText; got != want {
		t.Errorf("AppendQuery = %q, want %q", got, want)
	}
	if got, want := string(Protocol{}.AppendQuery(nil, 0xf, nil)), "\xff\xff\xff\xffgetinfo 000000000000000f"; got != want {
		t.Errorf("AppendQuery = %q, want %q", got, want)
	}
}

func TestMOHAA(t *testing.T) {
	if got, want := string(MOHAA{}.AppendQuery(nil, nonce, nil)), "\xff\xff\xff\xff\x02getinfo "+nonceText; got != want {
		t.Errorf("AppendQuery = %q, want %q", got, want)
	}
	reply, err := MOHAA{}.Parse(
		[][]byte{[]byte("\xff\xff\xff\xff\x01infoResponse\n" +
			`\hostname\a\clients\3\sv_maxclients\20\mapname\dm/mohdm6\challenge\` + nonceText)})
	if want := (discovery.Info{Name: "a", Map: "dm/mohdm6", Players: 3, MaxPlayers: 20}); err != nil ||
		!reply.Answers(nonce) || *reply.Info != want {
		t.Errorf("%+v, %+v, %v", reply, reply.Info, err)
	}
}

// TestKin checks the answers of servers that descend from Quake III in other ways.
// Shaped after FiveM's GameServer.cpp (gamedig reads it the same), and Call of Duty 4's
// SVC_Info.
func TestKin(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want discovery.Info
	}{
		"FiveM": {`\sv_maxclients\48\clients\12\challenge\` + nonceText +
			`\gamename\CitizenFX\protocol\4\hostname\^2My ^7Roleplay\gametype\Roleplay\mapname\fivem-map-skater\iv\1187643`,
			discovery.Info{Name: "My Roleplay", Map: "fivem-map-skater", Mode: "Roleplay", Protocol: 4, Players: 12, MaxPlayers: 48}},
		"Call of Duty 4": {`\challenge\` + nonceText +
			`\protocol\6\hostname\^1Crossfire\mapname\mp_crossfire\sv_maxclients\24\clients\7\gametype\war\pure\1\kc\1\hw\2\mod\0\voice\0\pb\1\pswrd\1`,
			discovery.Info{Name: "Crossfire", Map: "mp_crossfire", Mode: "war", Protocol: 6, Players: 7, MaxPlayers: 24, Password: true}},
	} {
		reply, err := Protocol{}.Parse([][]byte{[]byte("\xff\xff\xff\xffinfoResponse\n" + c.text)})
		if err != nil || !reply.Answers(nonce) || *reply.Info != c.want {
			t.Errorf("%s: %+v, %v, want %+v", name, reply.Info, err, c.want)
		}
	}
}

func TestParseRecordedReplies(t *testing.T) {
	openArena := discovery.Info{Name: "OA test 2", Map: "oa_dm3", Mode: "0", Protocol: 71, Players: 4, MaxPlayers: 8, Bots: 4}
	openArenaStatus := openArena
	openArenaStatus.Version = "ioq3 1.36+u20221123.70d07d9+dfsg-1/Debian linux-x86_64 Jan 8 2023"
	nexuiz := func(name string) discovery.Info {
		return discovery.Info{Name: name, Map: "aggressor", Mode: "dm", Version: "20000", Protocol: 3, Mod: "data", MaxPlayers: 8}
	}
	for _, c := range []struct {
		file, challenge string
		want            discovery.Info
	}{
		{"openarena_getinfo.hex", "xyz123", openArena},
		{"openarena_getinfo_newline.hex", "xyz", openArena},
		{"openarena_getstatus.hex", "abc", openArenaStatus},
		{"nexuiz_getinfo.hex", "xyz", nexuiz("Nexuiz test 0")},
		{"nexuiz_getstatus.hex", "xyz", nexuiz("Nexuiz test 1")},
	} {
		t.Run(c.file, func(t *testing.T) {
			reply, err := Protocol{}.Parse([][]byte{answered(t, c.file, c.challenge)})
			if err != nil {
				t.Fatal(err)
			}
			if reply.Nonce != nonce || !reply.Echoed || reply.Incomplete || reply.Challenge != nil {
				t.Errorf("reply = %+v", reply)
			}
			if *reply.Info != c.want {
				t.Errorf("got  %+v\nwant %+v", *reply.Info, c.want)
			}
		})
	}
}

func TestRepliesThatAreNotOurs(t *testing.T) {
	for _, file := range []string{"openarena_getinfo.hex", "openarena_getinfo_nochallenge.hex", "openarena_getstatus.hex"} {
		_, replies := codectest.Packets(t, file)
		if _, err := (Protocol{}).Parse(replies); !errors.Is(err, discovery.ErrMalformed) {
			t.Errorf("%s: err = %v, want ErrMalformed", file, err)
		}
	}
}

func TestParseInfo(t *testing.T) {
	const tail = `\challenge\` + nonceText
	for name, c := range map[string]struct {
		text string
		want discovery.Info
	}{
		"no line end":           {`infoResponse\hostname\a` + tail, discovery.Info{Name: "a"}},
		"carriage return":       {"infoResponse\r\n" + `\hostname\a` + tail, discovery.Info{Name: "a"}},
		"no leading backslash":  {"infoResponse\n" + `hostname\a` + tail, discovery.Info{Name: "a"}},
		"trailing NUL":          {"infoResponse\n" + `\hostname\a` + tail + "\x00", discovery.Info{Name: "a"}},
		"trailing line end":     {"infoResponse\n" + `\hostname\a` + tail + "\n", discovery.Info{Name: "a"}},
		"trailing backslash":    {"infoResponse\n" + `\hostname\a` + tail + `\`, discovery.Info{Name: "a"}},
		"key without value":     {"infoResponse\n" + `\hostname\a` + tail + `\bots`, discovery.Info{Name: "a"}},
		"first of a key counts": {"infoResponse\n" + `\hostname\a\hostname\b` + tail, discovery.Info{Name: "a"}},
		"keys in either case":   {"infoResponse\n" + `\HostName\a\SV_MAXCLIENTS\8` + tail, discovery.Info{Name: "a", MaxPlayers: 8}},
		"colours and controls":  {"infoResponse\n" + `\hostname\^1a^x0f8b` + "\x1b[2J" + tail, discovery.Info{Name: "ab[2J"}},
		"a mod":                 {"infoResponse\n" + `\protocol\68\game\q3ut4` + tail, discovery.Info{Protocol: 68, Mod: "q3ut4"}},
		"bots":                  {"infoResponse\n" + `\clients\5\bots\2` + tail, discovery.Info{Players: 5, Bots: 2}},
		"bots counted apart": {"infoResponse\n" + `\clients\2\bots\5\sv_maxclients\31` + tail,
			discovery.Info{Players: 2 + 5, Bots: 5, MaxPlayers: 31 + 5}},
		"humans":                {"infoResponse\n" + `\clients\5\g_humanplayers\4` + tail, discovery.Info{Players: 5, Bots: 1}},
		"bots before humans":    {"infoResponse\n" + `\clients\5\g_humanplayers\4\bots\2` + tail, discovery.Info{Players: 5, Bots: 2}},
		"private seats are off": {"infoResponse\n" + `\sv_maxclients\6\sv_privateClients\2` + tail, discovery.Info{MaxPlayers: 6}},
		"ping limits": {"infoResponse\n" + `\minPing\20\maxPing\150` + tail,
			discovery.Info{MinPing: 20 * time.Millisecond, MaxPing: 150 * time.Millisecond}},
		"password":               {"infoResponse\n" + `\g_needpass\1` + tail, discovery.Info{Password: true}},
		"password, Jedi Academy": {"infoResponse\n" + `\needpass\1` + tail, discovery.Info{Password: true}},
		"password, Urban Terror": {"infoResponse\n" + `\password\1` + tail, discovery.Info{Password: true}},
		"no password":            {"infoResponse\n" + `\g_needpass\0` + tail, discovery.Info{}},
		"mode of Xonotic": {"infoResponse\n" + `\qcstatus\ctf:0.8.6:P4:S4:F8:MXonotic::score!!:5:0:14:0` + tail +
			`\d0_blind_id\1 Xon//Ks2@v0.1`, discovery.Info{Mode: "ctf"}},
		"gametype over qcstatus": {"infoResponse\n" + `\qcstatus\dm:x\gametype\4` + tail, discovery.Info{Mode: "4"}},
		"numbers out of bounds":  {"infoResponse\n" + `\clients\99999999999999999999\sv_maxclients\-5` + tail, discovery.Info{}},
		"most seats":             {"infoResponse\n" + `\clients\65535\sv_maxclients\65536` + tail, discovery.Info{Players: 65_535}},
		"numbers that are none":  {"infoResponse\n" + `\clients\a\sv_maxclients\8x` + tail, discovery.Info{MaxPlayers: 8}},
	} {
		t.Run(name, func(t *testing.T) {
			reply, err := Protocol{}.Parse([][]byte{[]byte("\xff\xff\xff\xff" + c.text)})
			if err != nil {
				t.Fatal(err)
			}
			if *reply.Info != c.want {
				t.Errorf("got  %+v\nwant %+v", *reply.Info, c.want)
			}
		})
	}
}

// TestBotsApart checks what a game's row says: Unvanquished's servers count people as clients.
func TestBotsApart(t *testing.T) {
	const challenge = `\challenge\` + nonceText
	apart := Protocol{BotsApart: true}
	for _, c := range []struct {
		protocol discovery.Protocol
		text     string
		want     discovery.Info
	}{
		{apart, "infoResponse\n" + `\clients\9\bots\3\sv_maxclients\31` + challenge, discovery.Info{Players: 12, Bots: 3, MaxPlayers: 34}},
		{apart, "infoResponse\n" + `\clients\9\sv_maxclients\31` + challenge, discovery.Info{Players: 9, MaxPlayers: 31}},
		{apart, "infoResponse\n" + `\clients\0\bots\3` + challenge, discovery.Info{Players: 3, Bots: 3}},
		{apart.Roll(), "statusResponse\n" + `\sv_maxclients\33\sv_privateClients\2` + challenge + "\n1 45 \"Ann\"\n0 0 \"bot\"\n",
			discovery.Info{Players: 2, Bots: 1, MaxPlayers: 32}},
		{Protocol{}, "infoResponse\n" + `\clients\9\bots\3\sv_maxclients\31` + challenge, discovery.Info{Players: 9, Bots: 3, MaxPlayers: 31}},
	} {
		reply, err := c.protocol.Parse([][]byte{[]byte("\xff\xff\xff\xff" + c.text)})
		if err != nil {
			t.Fatal(err)
		}
		if reply.Info.Roster = nil; *reply.Info != c.want {
			t.Errorf("%T, %q: got %+v, want %+v", c.protocol, c.text, *reply.Info, c.want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	codectest.Refuses(t, Protocol{}, map[string]string{
		"nothing":         "",
		"header":          "\xff\xff\xff\xff",
		"other header":    "\xff\xff\xff\xfeinfoResponse\n\\challenge\\" + nonceText,
		"other word":      "\xff\xff\xff\xffprint\n\\challenge\\" + nonceText,
		"no variables":    "\xff\xff\xff\xffinfoResponse",
		"no challenge":    "\xff\xff\xff\xffinfoResponse\n\\hostname\\a",
		"short challenge": "\xff\xff\xff\xffinfoResponse\n\\challenge\\0123",
		"not hexadecimal": "\xff\xff\xff\xffinfoResponse\n\\challenge\\0123456789abcdeg",
		"after the line":  "\xff\xff\xff\xffinfoResponse\n\\a\\b\n\\challenge\\" + nonceText,
	})
}

func TestParseTakesTheNewestReply(t *testing.T) {
	first := []byte("\xff\xff\xff\xffinfoResponse\n\\hostname\\old\\challenge\\0000000000000001")
	second := []byte("\xff\xff\xff\xffinfoResponse\n\\hostname\\new\\challenge\\0000000000000002")
	reply, err := Protocol{}.Parse([][]byte{first, second, []byte("noise")})
	if err != nil || reply.Nonce != 2 || reply.Info.Name != "new" {
		t.Errorf("Parse = %+v, %v", reply, err)
	}
}

func FuzzParse(f *testing.F) {
	for _, file := range []string{"openarena_getinfo.hex", "openarena_getstatus.hex", "nexuiz_getinfo.hex", "nexuiz_getstatus.hex"} {
		for _, challenge := range []string{"xyz123", "abc", "xyz"} {
			f.Add(answered(f, file, challenge))
		}
	}
	codectest.Fuzz(f, Protocol{})
}

func TestCleanName(t *testing.T) {
	for in, want := range map[string]string{
		"plain":                  "plain",
		"^1red^7 white":          "red white",
		"^xF80orange^7":          "orange",
		"^xFZ8orange":            "FZ8orange", // no colour of DarkPlaces: ^x alone is one
		"^x0f":                   "0f",
		"^Nnew ^;line":           "new line",
		"^^1caret":               "^caret",
		"end^":                   "end^",
		"^":                      "^",
		"a ^ b":                  "a ^ b",
		"^1^2^3":                 "",
		"a^\x0101\x04flag b":     "a b", // a picture
		"a^\x0101\x13flag b":     "a^01flag b",
		"^ü":                     "^ü",
		"^1 a\x07\n\tb\u202e c ": "a b c",
	} {
		if got := CleanName(in); got != want {
			t.Errorf("CleanName(%q) = %q, want %q", in, got, want)
		}
	}
}
