package a2s_test

import (
	"bytes"
	"errors"
	"reflect"
	"testing"

	"muster/discovery"
	"muster/discovery/internal/codectest"
	. "muster/discovery/protocol/a2s"
)

func reply(t testing.TB, file string) []byte {
	t.Helper()
	_, replies := codectest.Packets(t, file)
	return replies[len(replies)-1]
}

var (
	tf2 = discovery.Info{Name: "LinuxGSM", Map: "koth_harvest_event", Mode: "tf", Version: "6830899", Mod: "tf",
		Tags:       "cp increased_maxplayers",
		MaxPlayers: 32, GamePort: 27015, AppID: 440}
	xash  = discovery.Info{Name: "xash a2s", Map: "min", Mode: "valve", Version: "0.21", Mod: "valve", MaxPlayers: 8}
	unity = discovery.Info{Name: "unity a2s", Map: "de_test", Mode: "n/a", Mod: "n/a", Players: 3, MaxPlayers: 16}
)

func TestParseRecordedInformation(t *testing.T) {
	for file, want := range map[string]discovery.Info{
		"tf2_info.hex":    tf2,
		"xash3d_info.hex": xash,
		"unity_info.hex":  unity,
	} {
		got, err := Protocol{}.Parse([][]byte{reply(t, file)})
		if err != nil || got.Echoed || got.Incomplete || got.Challenge != nil {
			t.Errorf("%s: %+v, %v", file, got, err)
		}
		if err == nil && *got.Info != want {
			t.Errorf("%s: got  %+v\nwant %+v", file, *got.Info, want)
		}
	}
}

// A recorded conversation: query, challenge, query with it, information.
func TestChallengeIsReturned(t *testing.T) {
	requests, replies := codectest.Packets(t, "unity_info.hex")
	if got := (Protocol{}).AppendQuery(nil, 1, nil); !bytes.Equal(got, requests[0]) {
		t.Errorf("first query % x, want % x", got, requests[0])
	}
	first, err := Protocol{}.Parse(replies[:1])
	if err != nil || len(first.Challenge) != 4 || first.Info != nil || first.Incomplete {
		t.Fatalf("challenge: %+v, %v", first, err)
	}
	if got := (Protocol{}).AppendQuery(nil, 1, first.Challenge); !bytes.Equal(got, requests[1]) {
		t.Errorf("second query % x, want % x", got, requests[1])
	}
	second, err := Protocol{}.Parse(replies)
	if err != nil || second.Info == nil || *second.Info != unity {
		t.Errorf("information: %+v, %v", second, err)
	}
	clear(replies[0])
	if bytes.Equal(first.Challenge, make([]byte, 4)) {
		t.Error("the challenge is a part of the datagram")
	}
}

// info returns a reply to INFO with the given fields from the application on.
func info(fields string) []byte {
	return []byte("\xff\xff\xff\xffI\x11a\x00b\x00c\x00d\x00" + fields)
}

// hltv returns an HLTV proxy's reply, shaped after ReHLDS's Proxy.cpp: its password,
// mod and VAC bytes, and what may follow them.
func hltv(flags, counts string) []byte {
	return []byte("\xff\xff\xff\xffm192.168.1.2:27020\x00a\x00b\x00c\x00HLTV\x00\x03\x80\x30pl" + flags + counts)
}

func TestParseInfo(t *testing.T) {
	base := discovery.Info{Name: "a", Map: "b", Mode: "c", Mod: "c"}
	with := func(change func(*discovery.Info)) discovery.Info {
		i := base
		change(&i)
		return i
	}
	const app0, rustApp = "\x00\x00", "\x4a\xda" // 252490 & 0xffff
	const rustID = "\x4a\xda\x03\x00\x00\x00\x00\x00"
	for name, c := range map[string]struct {
		packet []byte
		want   discovery.Info
	}{
		"no extra data": {info(app0 + "\x03\x08\x01dl\x01\x01v\x00"),
			with(func(i *discovery.Info) {
				i.Players, i.MaxPlayers, i.Bots, i.Password, i.Version = 3, 8, 1, true, "v"
			})},
		"bots counted apart": {info(app0 + "\x01\x08\x05dl\x00\x01\x00"),
			with(func(i *discovery.Info) { i.Players, i.MaxPlayers, i.Bots = 1+5, 8+5, 5 })},
		"all extra data": {info(app0 + "\x00\x08\x00dw\x00\x01\x00\xf1" + "\x87\x69" + "12345678" + "\x88\x69tv\x00" +
			"x,y\x00" + "\x40\x0d\x03\x80\x00\x00\x00\x01"),
			with(func(i *discovery.Info) { i.MaxPlayers, i.GamePort, i.AppID, i.Tags = 8, 27015, 0x030d40, "x y" })},
		"extra data cut short": {info(app0 + "\x00\x08\x00dw\x00\x01\x00\xb1\x87\x69123"),
			with(func(i *discovery.Info) { i.MaxPlayers, i.GamePort = 8, 27015 })},
		"The Ship": {info("\x60\x09\x01\x08\x00dl\x00\x01\x05\x02\x03v\x00"),
			with(func(i *discovery.Info) { i.Players, i.MaxPlayers, i.AppID, i.Version = 1, 8, 2400, "v" })},
		"Rust counts": {info(rustApp + "\xff\xff\x00dl\x00\x01\x00\x21mp300,cp281,ptrak,qp0,cpx,cp\x00" + rustID),
			with(func(i *discovery.Info) {
				i.Players, i.MaxPlayers, i.AppID, i.Tags = 281, 300, 252490, "ptrak qp0 cpx cp"
			})},
		"like Rust counts": {info("\xb8\x01\x02\x08\x00dl\x00\x01\x00\x20cp5,mp9\x00"),
			with(func(i *discovery.Info) { i.Players, i.MaxPlayers, i.AppID, i.Tags = 2, 8, 440, "cp5 mp9" })},
		"keywords of DayZ, without clocks": {info(
			app0 + "\x00\x08\x00dw\x00\x01" + "1.29.163709\x00" + "\x20" +
				"battleye,no3rd,external,privHive,shard001,lqs0,etm4.000000,entm8.500000,mod,14:32\x00"),
			with(func(i *discovery.Info) {
				i.MaxPlayers, i.Version, i.Tags = 8, "1.29.163709", "battleye no3rd external privHive shard001 lqs0 mod"
			})},
		"GoldSrc": {[]byte("\xff\xff\xff\xffm1.2.3.4:27015\x00a\x00b\x00c\x00d\x00\x04\x10\x2fdl\x01\x00\x01\x02"),
			with(func(i *discovery.Info) { i.Players, i.MaxPlayers, i.Password, i.Bots = 4, 16, true, 2 })},
		"GoldSrc mod": {[]byte(
			"\xff\xff\xff\xffm1.2.3.4:27015\x00a\x00b\x00c\x00d\x00\x04\x10\x2fdl\x00\x01link\x00load\x00\x00\x01\x00\x00\x00\x02\x00\x00\x00\x01\x01\x01\x02"),
			with(func(i *discovery.Info) { i.Players, i.MaxPlayers, i.Bots = 4, 16, 2 })},
		"HLTV": {hltv("\x00\x00\x00", ""),
			with(func(i *discovery.Info) { i.Players, i.MaxPlayers, i.Tags = 3, 128, "hltv" })},
		"HLTV of a mod": {hltv("\x00\x01link\x00load\x001.1.0.8\x00\x02\x00\x00\x00\x00\x00\x00\x01\x00\x01\x00", ""),
			with(func(i *discovery.Info) { i.Players, i.MaxPlayers, i.Tags = 3, 128, "hltv" })},
		"HLTV with a password": {hltv("\x01\x00\x00", ""),
			with(func(i *discovery.Info) { i.Players, i.MaxPlayers, i.Password, i.Tags = 3, 128, true, "hltv" })},
		"HLTV with many spectators": {hltv("\x00\x00\x00", "\x2c\x01\x00\x00\x10\x27\x00\x00"),
			with(func(i *discovery.Info) { i.Players, i.MaxPlayers, i.Tags = 300, 10_000, "hltv" })},
		"HLTV with too many": {hltv("\x00\x00\x00", "\x2c\x01\x00\x00\xff\xff\xff\xff"),
			with(func(i *discovery.Info) { i.Players, i.Tags = 300, "hltv" })},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Protocol{}.Parse([][]byte{c.packet})
			if err != nil {
				t.Fatal(err)
			}
			if *got.Info != c.want {
				t.Errorf("got  %+v\nwant %+v", *got.Info, c.want)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	whole := string(reply(t, "xash3d_info.hex"))
	codectest.Refuses(t, Protocol{}, map[string]string{
		"nothing":         "",
		"header":          whole[:4],
		"kind":            whole[:5],
		"cut short":       whole[:len(whole)-1],
		"short challenge": "\xff\xff\xff\xffA\x01\x02\x03",
		"players":         string(AppendPlayers(nil, nil)),
		"rules":           string(reply(t, "xash3d_rules.hex")),
		"other header":    "\xfd\xff\xff\xffI",
		"short GoldSrc":   "\xff\xff\xff\xffm1.2.3.4:27015\x00a\x00b\x00c\x00d\x00\x04\x10\x2fdl\x01\x01",
	})
}

func TestParseInOrderOfArrival(t *testing.T) {
	information := reply(t, "tf2_info.hex")
	one, two := AppendChallenge(nil, [4]byte{1}), AppendChallenge(nil, [4]byte{2})
	noise := []byte("noise")
	half := split(information, 7, 80)[0]
	for name, c := range map[string]struct {
		datagrams [][]byte
		want      discovery.Reply
	}{
		"nothing yet":              {nil, discovery.Reply{Incomplete: true}},
		"the newer challenge":      {[][]byte{one, two}, discovery.Reply{Challenge: two[5:]}},
		"noise after a challenge":  {[][]byte{one, noise}, discovery.Reply{Challenge: one[5:]}},
		"noise before a challenge": {[][]byte{noise, one}, discovery.Reply{Challenge: one[5:]}},
		"a challenge, then a half": {[][]byte{one, half}, discovery.Reply{Incomplete: true}},
		"a half, then a challenge": {[][]byte{half, one}, discovery.Reply{Challenge: one[5:]}},
		"noise after a half":       {[][]byte{half, noise}, discovery.Reply{Incomplete: true}},
		"information is final":     {[][]byte{noise, information, one}, discovery.Reply{Info: &tf2}},
	} {
		if got, err := (Protocol{}).Parse(c.datagrams); err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, %v, want %+v", name, got, err, c.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, file := range []string{"tf2_info.hex", "xash3d_info.hex", "unity_info.hex", "xash3d_rules.hex", "bomb_bzip2.hex"} {
		f.Add(reply(f, file), []byte{}, []byte{})
	}
	f.Add(hltv("\x00\x00\x00", ""), []byte{}, []byte{})
	f.Add(hltv("\x00\x00\x00", "\x2c\x01\x00\x00\x10\x27\x00\x00"), []byte{}, []byte{})
	_, packed := codectest.Packets(f, "tf2_info_bzip2.hex")
	f.Add(packed[1], packed[0], packed[0])
	empty := []byte("\xfe\xff\xff\xff\a\x80\x00\x80\x01\x00c\x00") // but packed
	f.Add(empty, empty, empty)
	f.Add(split(reply(f, "tf2_info.hex"), 7, 60)[1], split(reply(f, "tf2_info.hex"), 7, 60)[0], []byte{})
	f.Fuzz(func(t *testing.T, a, b, c []byte) {
		got, err := Protocol{}.Parse([][]byte{a, b, c})
		if err != nil {
			if !errors.Is(err, discovery.ErrMalformed) {
				t.Errorf("err = %v", err)
			}
			return
		}
		if said := btoi(got.Incomplete) + btoi(got.Info != nil) + btoi(got.Challenge != nil); said != 1 {
			t.Errorf("%+v says %d things", got, said)
		}
		if i := got.Info; i != nil && (i.Bots > i.Players || i.Name != discovery.CleanText(i.Name)) {
			t.Errorf("information %+v", i)
		}
	})
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
