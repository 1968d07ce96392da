package main

import (
	"encoding/hex"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"muster/discovery"
	"muster/discovery/protocol/a2s"
	"muster/discovery/protocol/sqp"
)

var from = flag.String("from", "", "folder with checkouts of the recorders' repositories")

// TestRecorded checks that no recording in the checkouts is read otherwise than its
// recorder reads it, except for known reasons.
func TestRecorded(t *testing.T) {
	if *from == "" {
		t.Skip("no checkouts: -from names their folder")
	}
	if err := run(*from, os.Stdout); err != nil {
		t.Error(err)
	}
}

// server is what the packets in these tests say. They are Muster's own, in the forms of
// the recorders' files.
var server = discovery.Info{
	Name: "The Arena", Map: "dm1", Mode: "tf", Version: "1.2", Players: 3, MaxPlayers: 8, Bots: 1, Password: true,
}

// TestReaders checks that every repository's form is read, packets and expectations.
func TestReaders(t *testing.T) {
	info := string(a2s.AppendInfo(nil, server))
	list := string(a2s.AppendPlayers(nil, []a2s.Player{{Name: "ann"}, {Name: ""}, {Name: "bob"}}))
	about := string(sqp.Answer(sqp.Protocol{}.AppendQuery(nil, 0, []byte("abcd")), server, [4]byte([]byte("abcd")), 7000))
	const said = `{"players":{"max":20,"online":0},"version":{"name":"1.8"}}`
	status := hex.EncodeToString(append([]byte{byte(len(said) + 2), 0, byte(len(said))}, said...))
	for name, files := range map[string]map[string]string{
		"GameQ": {
			"tests/Protocols/Providers/Tf2/1_response.txt": info + "\n||\n" + list,
			"tests/Protocols/Providers/Tf2/1_result.json": `{"127.0.0.1:27015": {"gq_protocol": "source", "gq_online": true, "hostname": "The Arena",
				"map": "dm1", "num_players": 3, "max_players": 8, "num_bots": 1, "version": "1.2", "password": "1",
				"players": [{"name": "ann"}, {"name": ""}, {"name": "bob"}]}}`,
			"tests/Protocols/Providers/Q3/1_response.txt": "\xff\xff\xff\xffstatusResponse\n" +
				"\\sv_hostname\\^1The ^7Arena\\mapname\\dm1\\sv_maxclients\\8\n1 50 \"ann\"\n",
			"tests/Protocols/Providers/Q3/1_result.json": `{"127.0.0.1:27960": {"gq_protocol": "quake3", "gq_online": true,
				"sv_hostname": "^1The ^7Arena", "mapname": "dm1", "sv_maxclients": "8", "clients": 1, "players": [{"name": "ann"}]}}`,
		},
		"PHP-Source-Query": {
			"Tests/Info/tf2.raw": hex.EncodeToString([]byte(info)) + "\n",
			"Tests/Info/tf2.json": `{"HostName": "The Arena", "Map": "dm1", "Players": 3, "MaxPlayers": 8, "Bots": 1,
				"Version": "1.2", "Password": true}`,
			"Tests/Players/a.raw": hex.EncodeToString([]byte(list)) + "\n", "Tests/Players/a.json": `[{"Name": "ann"}, {"Name": "bob"}]`,
		},
		"elixir-a2s": {
			"test/samples/tf2.bin": info, "test/samples/list.bin": list,
			"test/a2s_test.exs": `
    test "TF2" do
      {:ok, p} = File.read("test/samples/tf2.bin")
      %A2S.Info{
        name: "The Arena",
        map: "dm1",
        players: 3,
        max_players: 8,
        bots: 1,
        visibility: :private,
        version: "1.2"
      }
    end
    test "list" do
      {:ok, p} = File.read("test/samples/list.bin")
      %A2S.Players{ players: [%A2S.Player{index: 0, name: "ann"}, %A2S.Player{index: 0, name: ""}, %A2S.Player{index: 0, name: "bob"}] }
    end`,
		},
		"libssq": {
			"tests/dgram/info/tf2.bin": info, "tests/dgram/player/a.bin": list,
			"tests/src/a2s/test_info.c": `
Test(a2s_info, tf2) {
    read_datagram("dgram/info/tf2.bin", &n);
    cr_expect_str_eq(info->name, "The \x41rena");
    cr_expect_eq(info->players, 3);
    cr_expect_eq(info->visibility, true);
}`,
			"tests/src/a2s/test_player.c": `
Test(a2s_player, a) {
    read_datagram("dgram/player/a.bin", &n);
    cr_expect_str_eq(players[0].name, "ann");
    cr_expect_str_eq(players[2].name, "bob");
}`,
		},
		"go-svrquery": {
			"lib/svrquery/protocol/sqp/testdata/info_single_response":           about,
			"lib/svrquery/protocol/sqp/testdata/info_single_malformed_response": about[:20],
			"lib/svrquery/protocol/sqp/query_test.go": `
func testQueryInfoSinglePacket(t *testing.T) {
	require.Equal(t, uint16(3), qr.ServerInfo.CurrentPlayers)
	require.Equal(t, uint16(8), qr.ServerInfo.MaxPlayers)
	require.Equal(t, "The Arena", qr.ServerInfo.ServerName)
	require.Equal(t, "1.2", qr.ServerInfo.BuildID)
	require.Equal(t, "dm1", qr.ServerInfo.Map)
}`,
		},
		"serverstat": {
			"serverstat_test.go": "responseBody := `\\hostname\\The Arena\\*version\\MVDSV 1\n" +
				"1 2 4 38 \"ann\" \"\" 1 1\n2 0 4 -9 \"\\s\\bob\" \"\" 1 1`\n",
		},
		"mcstatus": {
			"tests/protocol/test_java_client.py": `
    def test_read_status(self):
        self.connection.receive(
            bytearray.fromhex(
                "` + status[:11] + `"
                "` + status[11:] + `"
            )
        )
        assert status.raw == {
            "players": {"max": 20, "online": 0},
            "version": {"name": "1.8"},
        }
`,
			"tests/protocol/test_query_client.py": `
    def test_query(self):
        self.connection.receive(
            bytearray(
                b"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00hostname\x00The Arena\x00gametype\x00SMP"
                b"\x00map\x00world\x00numplayers\x003\x00maxplayers\x0020\x00\x00"
            )
        )
        assert response.raw == {"hostname": "The Arena", "map": "world", "numplayers": "3", "maxplayers": "20"}
`,
			"tests/protocol/test_bedrock_client.py": "",
		},
	} {
		checkout := fstest.MapFS{}
		for file, text := range files {
			checkout[file] = &fstest.MapFile{Data: []byte(text)}
		}
		read := 0
		for _, repository := range repositories {
			if repository.name != name {
				continue
			}
			recordings, err := repository.read(checkout)
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			for _, r := range recordings {
				read++
				if got := decode(r); got.outcome() != right || len(r.want) == 0 && !r.refused {
					t.Errorf("%s: %s has outcome %d: want %v, got %v, %v", name, r.name, got.outcome(), r.want, got.got, got.err)
				}
			}
		}
		if read == 0 {
			t.Errorf("%s: no recordings", name)
		}
	}
}

// TestReport checks the table's counts, and that known differences come with reasons.
func TestReport(t *testing.T) {
	datagrams := [][]byte{a2s.AppendInfo(nil, server)}
	results := []result{
		decode(recording{repository: "x", name: "1", kind: "source", protocol: "a2s", datagrams: datagrams,
			want: facts{name: "The Arena", seats: "8"}}),
		decode(recording{repository: "x", name: "2", kind: "source", protocol: "a2s", datagrams: datagrams, want: facts{name: "Another"}}),
		decode(recording{repository: "GameQ", name: "Rust/1", kind: "source", protocol: "a2s", datagrams: datagrams,
			want: facts{players: "4"}}),
		decode(recording{repository: "x", name: "3", kind: "ventrilo"}),
	}
	var b strings.Builder
	report(&b, results)
	got := strings.Join(strings.Fields(b.String()), " ")
	for _, want := range []string{
		"| x | source | 1 | 0 | 1 | 0 | 3 |", "| GameQ | source | 0 | 1 | 0 | 0 | 1 |", "| x | ventrilo | 0 | 0 | 0 | 1 | 0 |",
		"| all | | 1 | 1 | 1 | 1 | 4 |",
		`x 2: name "The Arena", want "Another"; not explained`, `GameQ Rust/1: players "3", want "4"; ` + counted,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, b.String())
		}
	}
}

// TestNoCheckouts checks that a wrong folder is an error, and not a table without rows.
func TestNoCheckouts(t *testing.T) {
	if err := run(t.TempDir(), &strings.Builder{}); err == nil {
		t.Error("a folder without checkouts is no error")
	}
}

func TestTruth(t *testing.T) {
	for text, want := range map[string]string{"0": "false", "": "false", "False": "false", "1": "true", "true": "true"} {
		if got := truth(text); got != want {
			t.Errorf("truth(%q) = %s", text, got)
		}
	}
}

// TestTakers checks that no codec accepts a packet of another protocol's server as an answer. The
// packets are recorded ones, from the protocols' testdata.
func TestTakers(t *testing.T) {
	related := map[string][]string{
		"gamespy": {"gamespy", "gamespy2", "gamespy3"}, "quakeworld": {"quakeworld", "quake2"},
		"sauerbraten": {"sauerbraten", "redeclipse"}, "teeworlds": {"teeworlds", "ddnet"},
	}
	root := filepath.Join("..", "..", "discovery", "protocol")
	files, err := filepath.Glob(filepath.Join(root, "*", "testdata", "*.hex"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no packets: %v", err)
	}
	for _, file := range files {
		of := filepath.Base(filepath.Dir(filepath.Dir(file)))
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			digits, isReply := strings.CutPrefix(strings.TrimSpace(line), "< ")
			if !isReply {
				continue
			}
			d, err := hex.DecodeString(digits)
			if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			for _, name := range (recording{protocol: of, datagrams: [][]byte{d}}).takers() {
				if !slices.Contains(related[of], name) {
					t.Errorf("%s takes a packet of %s for an answer", name, file)
				}
			}
		}
	}
}
