package main

import (
	"encoding/hex"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"muster/discovery"
)

// The readers in this file take expectations out of tests, written in the recorders' own
// languages. They know no more of these languages than the tests need.

// readLibssq reads the recordings of BinaryAlien/libssq: a datagram a file, and the facts
// in tests in C.
func readLibssq(checkout fs.FS) ([]recording, error) {
	var recordings []recording
	for _, file := range []string{"tests/src/a2s/test_info.c", "tests/src/a2s/test_player.c"} {
		source, err := fs.ReadFile(checkout, file)
		if err != nil {
			return nil, err
		}
		for _, test := range strings.Split(string(source), "\nTest(")[1:] {
			datagram := first(`read_datagram\("(.*?)"`, test)
			r := recording{name: first(`^(.*?)\)`, test), kind: "source", protocol: "a2s", want: facts{}}
			r.refused = strings.Contains(test, "SSQ_ERR_BADRES")
			if r.refused && strings.HasPrefix(r.name, "a2s_player") {
				continue // an answer to another question, which Muster's codec of that one reads
			}
			d, err := fs.ReadFile(checkout, "tests/"+datagram)
			if err != nil {
				return nil, err
			}
			r.datagrams = [][]byte{d}
			for f, field := range map[fact]string{
				name: "name", level: "map", players: "players", seats: "max_players", bots: "bots", version: "version", password: "visibility",
			} {
				if value := first(`info->`+field+`, (".*"|\w+)\)`, test); value != "" {
					r.want[f] = unquote(value)
				}
			}
			if n := len(regexp.MustCompile(`players\[\d\]\.name,`).FindAllString(test, -1)); n > 0 {
				r.want[listed] = strconv.Itoa(n)
			}
			recordings = append(recordings, r)
		}
	}
	return recordings, nil
}

// readElixir reads the recordings of Moosieus/elixir-a2s: a datagram a file, and the facts
// in a test in Elixir. It leaves out answers with a server's rules.
func readElixir(checkout fs.FS) ([]recording, error) {
	source, err := fs.ReadFile(checkout, "test/a2s_test.exs")
	if err != nil {
		return nil, err
	}
	var recordings []recording
	for _, test := range strings.Split(string(source), "\n    test ")[1:] {
		file := first(`File\.read\("(.*?)"\)`, test)
		r := recording{name: strings.TrimSuffix(path.Base(file), ".bin"), kind: "source", protocol: "a2s", want: facts{}}
		switch {
		case strings.Contains(test, "%A2S.Info{"):
			for f, field := range map[fact]string{
				name: "name", level: "map", players: "players", seats: "max_players", bots: "bots", version: "version",
			} {
				r.want[f] = unquote(first(`\s`+field+`: (".*"|\d+)`, test))
			}
			r.want[password] = strconv.FormatBool(strings.Contains(test, "visibility: :private"))
		case strings.Contains(test, "%A2S.Players{"):
			n := 0
			for _, name := range regexp.MustCompile(`\sname: (".*?[^\\]"|"")`).FindAllStringSubmatch(test, -1) {
				if discovery.CleanText(unquote(name[1])) != "" {
					n++
				}
			}
			r.want[listed] = strconv.Itoa(n)
		default:
			continue
		}
		d, err := fs.ReadFile(checkout, file)
		if err != nil {
			return nil, err
		}
		r.datagrams = [][]byte{d}
		recordings = append(recordings, r)
	}
	return recordings, nil
}

// readSvrquery reads the recordings of Unity-Technologies/go-svrquery: a datagram a file,
// and the facts in a test in Go.
func readSvrquery(checkout fs.FS) ([]recording, error) {
	const folder = "lib/svrquery/protocol/"
	source, err := fs.ReadFile(checkout, folder+"sqp/query_test.go")
	if err != nil {
		return nil, err
	}
	var recordings []recording
	files, err := fs.Glob(checkout, folder+"*/testdata/*response*")
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		base := path.Base(file)
		r := recording{name: path.Base(path.Dir(path.Dir(file))) + "/" + base, want: facts{}}
		switch r.kind = path.Base(path.Dir(path.Dir(file))); {
		case r.kind == "sqp" && !strings.HasPrefix(base, "info"):
			continue // answers to questions that Muster does not ask
		case base == "info_single_response":
			_, test, _ := strings.Cut(string(source), "func testQueryInfoSinglePacket(")
			test, _, _ = strings.Cut(test, "\n}")
			for f, field := range map[fact]string{
				name: "ServerName", level: "Map", players: "CurrentPlayers", seats: "MaxPlayers", version: "BuildID",
			} {
				r.want[f] = unquote(first(`\(t, (?:uint16\()?(".*?"|\d+)\)?, qr\.ServerInfo\.`+field+`\)`, test))
			}
		default:
			r.refused = true
		}
		if r.kind == "sqp" {
			r.protocol = "sqp"
		}
		d, err := fs.ReadFile(checkout, file)
		if err != nil {
			return nil, err
		}
		r.datagrams = [][]byte{d}
		recordings = append(recordings, r)
	}
	return recordings, nil
}

// readServerstat reads the answers in the tests of vikpe/serverstat, which are in Go.
func readServerstat(checkout fs.FS) ([]recording, error) {
	source, err := fs.ReadFile(checkout, "serverstat_test.go")
	if err != nil {
		return nil, err
	}
	var recordings []recording
	bodies := regexp.MustCompile("responseBody := `([^`]*)`").FindAllStringSubmatch(string(source), -1)
	for i, body := range bodies {
		r := recording{name: fmt.Sprintf("serverstat_test/%d", i+1), kind: "quakeworld", protocol: "quakeworld", want: facts{}}
		d := []byte("\xff\xff\xff\xffn")
		for _, letter := range body[1] { // the source stands for each byte with a letter
			d = append(d, byte(letter))
		}
		r.datagrams = [][]byte{d}
		r.want[version] = first(`\*version\\([^\\\n]*)`, body[1])
		r.want[name] = first(`hostname\\([^\\\n]*)`, body[1])
		const spectator = `"\s\` // Muster does not list them
		r.want[listed] = strconv.Itoa(strings.Count(body[1], "\n") - strings.Count(body[1], spectator))
		recordings = append(recordings, r)
	}
	return recordings, nil
}

// readMcstatus reads the packets and the expectations in the tests of py-mine/mcstatus,
// which are in Python.
func readMcstatus(checkout fs.FS) ([]recording, error) {
	var recordings []recording
	for _, of := range []struct{ file, kind, protocol, packet string }{
		{"java", "status", "minecraft", `receive\(\s*(?:#.*\s*)?bytearray\.fromhex\(([^)]*)\)`},
		{"query", "query", "gamespy3", `receive\(\s*bytearray(?:\.fromhex)?\(((?:[^"()]|"[^"]*")*)\)`},
		{"bedrock", "bedrock", "bedrock", `data = \(((?:[^"()]|"[^"]*")*)\)`},
	} {
		source, err := fs.ReadFile(checkout, "tests/protocol/test_"+of.file+"_client.py")
		if err != nil {
			return nil, err
		}
		for _, test := range regexp.MustCompile(`\n(?:    )?def test_`).Split(string(source), -1)[1:] {
			title, literals := first(`^(\w*)\(`, test), first(of.packet, test)
			if literals == "" || strings.Contains(title, "ping") || strings.Contains(title, "session") {
				continue
			}
			d, err := pythonBytes(literals)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", title, err)
			}
			if of.file == "query" {
				d = withHead(d)
			}
			r := recording{name: of.file + "/" + title, kind: of.kind, protocol: of.protocol, want: facts{}, datagrams: [][]byte{d}}
			r.refused = strings.Contains(test, "pytest.raises")
			for f, pattern := range map[fact]string{
				name:    `(?:"hostname": |"description": |Motd\.parse\()(".*?")`,
				level:   `"map": (".*?")`,
				players: `"(?:numplayers|online)": "?(\d+)`,
				seats:   `"(?:maxplayers|max)": "?(\d+)`,
				version: `(?:"version": |"version": \{"name": |software\.version == )(".*?")`,
			} {
				if value := first(pattern, test); value != "" {
					r.want[f] = unquote(value)
				}
			}
			if strings.Contains(title, "handshake") {
				continue // a challenge
			}
			recordings = append(recordings, r)
		}
	}
	return recordings, nil
}

// withHead returns an answer with the word that servers write after its number. Some
// tests of mcstatus, which skips it, have zeros there.
func withHead(d []byte) []byte {
	const at, head = 1 + 4, "splitnum\x00\x80\x00"
	if len(d) > at+len(head) && string(d[at:at+len(head)]) == strings.Repeat("\x00", len(head)) {
		d = slices.Concat(d[:at], []byte(head), d[at+len(head):])
	}
	return d
}

// pythonBytes returns the bytes of adjacent literals in Python, hexadecimal ones if they
// have no prefix.
func pythonBytes(literals string) ([]byte, error) {
	var all []byte
	var digits string // a literal may end within a byte
	for _, literal := range regexp.MustCompile(`(b?)("(?:[^"\\]|\\.)*")`).FindAllStringSubmatch(literals, -1) {
		if literal[1] == "" {
			digits += unquote(literal[2])
		} else {
			all = append(all, unquote(literal[2])...)
		}
	}
	b, err := hex.DecodeString(digits)
	return append(all, b...), err
}

// first returns the first group of a pattern's first match, or nothing.
func first(pattern, text string) string {
	match := regexp.MustCompile(pattern).FindStringSubmatch(text)
	if match == nil {
		return ""
	}
	return match[1]
}

// unquote returns what a literal stands for: a text in C, Elixir, Go or Python, or the
// number or word itself.
func unquote(literal string) string {
	if text, err := strconv.Unquote(literal); err == nil {
		return text
	}
	return strings.Trim(literal, `"`)
}
