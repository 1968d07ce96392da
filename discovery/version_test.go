package discovery_test

import (
	"encoding/json"
	"strings"
	"testing"

	"muster/discovery"
)

// TestTags checks that tags are words without repeats, clocks and counters.
func TestTags(t *testing.T) {
	for text, want := range map[string]discovery.Tags{
		"": "",
		"battleye,no3rd,external,privHive,shard001,lqs0,etm4.000000,entm8.500000,mod,14:32": "battleye no3rd external privHive shard001 lqs0 mod",
		"mp300,cp281,ptrak,qp0,v2563,born1699999999,gmrust,vanilla":                         "ptrak qp0 gmrust vanilla",
		"cp,increased_maxplayers":       "cp increased_maxplayers",
		"gm:sandbox gmc:fun  loc:de":    "gm:sandbox gmc:fun loc:de",
		"A,a;A b":                       "A b",
		"1v1 2x 24/7":                   "1v1 2x",
		"--- $ \x1b[2J \u202ex":         "[2J x",
		"ok," + strings.Repeat("x", 49): "ok",
		strings.Repeat("é", 24) + "," + strings.Repeat("a", 48): discovery.Tags(strings.Repeat("é", 24) + " " + strings.Repeat("a", 48)),
	} {
		if got := discovery.TagsOf(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	var many []string
	for c := 'a'; c <= 'z'; c++ {
		many = append(many, strings.Repeat(string(c), 20))
	}
	if got := discovery.TagsOf(strings.Join(many, ",")); len(got) > 256 || len(got.Words()) != 12 {
		t.Errorf("%d bytes, %d words", len(got), len(got.Words()))
	}
}

func TestTagsMeet(t *testing.T) {
	tags := discovery.TagsOf("battleye,no3rd,Mod")
	for wanted, want := range map[string]bool{
		"": true, "no3rd": true, "NO3RD": true, "no3rd mod": true, "no3rd,mod": true, "vanilla": false, "no3": false,
		"-mod": false, "-vanilla": true, "no3rd -vanilla": true, "no3rd -battleye": false,
	} {
		if got := tags.Meets(wanted); got != want {
			t.Errorf("%q: %v", wanted, got)
		}
	}
	if !discovery.Tags("").Meets("-mod") || discovery.Tags("").Meets("mod") {
		t.Error("a server without tags")
	}
}

func TestTagsInJSON(t *testing.T) {
	b, err := json.Marshal(discovery.Info{Tags: "a b"})
	if err != nil || !strings.Contains(string(b), `"tags":["a","b"]`) {
		t.Errorf("%s, %v", b, err)
	}
	var info discovery.Info
	if err := json.Unmarshal([]byte(`{"tags":["a","b c","\u001bd","a"],"protocol":3}`), &info); err != nil ||
		info.Tags != "a b c d" || info.Protocol != 3 {
		t.Errorf("%+v, %v", info, err)
	}
}

// TestFit checks that protocols decide where both are known, and that different version texts only
// cause a warning.
func TestFit(t *testing.T) {
	server := func(version string, oldest, newest int) discovery.Info {
		return discovery.Info{Version: version, Protocol: newest, OldestProtocol: oldest}
	}
	for _, c := range []struct {
		what   string
		server discovery.Info
		has    discovery.Edition
		want   discovery.Fit
	}{
		{"nothing is known", discovery.Info{}, discovery.Edition{}, discovery.Fits},
		{"the server tells nothing", discovery.Info{}, discovery.Edition{Version: "1.2", Protocol: 7}, discovery.Fits},
		{"the player tells nothing", server("1.20.4", 0, 765), discovery.Edition{}, discovery.Fits},
		{"Minecraft's own", server("Paper 1.20.4", 0, 765), discovery.Edition{Version: "1.20.4", Protocol: 765}, discovery.Fits},
		{"another of the same protocol", server("1.20.3", 0, 765), discovery.Edition{Version: "1.20.4", Protocol: 765}, discovery.Fits},
		{"another protocol", server("1.20.4", 0, 765), discovery.Edition{Version: "1.20.1", Protocol: 763}, discovery.Shuts},
		{"Luanti's range", server("5.14.0", 37, 49), discovery.Edition{Version: "5.6.1", Protocol: 41}, discovery.Fits},
		{"its ends", server("5.14.0", 41, 49), discovery.Edition{Version: "5.6.1", Protocol: 41}, discovery.Fits},
		{"too old for it", server("5.14.0", 44, 49), discovery.Edition{Version: "5.6.1", Protocol: 41}, discovery.Shuts},
		{"too new for it", server("0.4.17", 0, 32), discovery.Edition{Version: "5.6.1", Protocol: 41}, discovery.Shuts},
		{"a protocol alone", server("", 0, 71), discovery.Edition{Version: "68", Protocol: 68}, discovery.Shuts},
		{"words alone differ", server("13.0", 0, 0), discovery.Edition{Version: "12.2"}, discovery.Differs},
		{"and with one protocol", server("1.20.4", 0, 765), discovery.Edition{Version: "1.19"}, discovery.Differs},
		{"words alone agree", server("13.0", 0, 0), discovery.Edition{Version: "13.0"}, discovery.Fits},
		{"one says more", server("0.6.4, 18.1", 0, 0), discovery.Edition{Version: "18.1"}, discovery.Fits},
		{"the other says more", server("5.9", 0, 0), discovery.Edition{Version: "5.9.1"}, discovery.Fits},
	} {
		if got := c.server.Fit(c.has); got != c.want {
			t.Errorf("%s: %v, want %v", c.what, got, c.want)
		}
	}
}

func TestIsOfVersion(t *testing.T) {
	for _, c := range []struct {
		version  string
		protocol int
		wanted   string
		want     bool
	}{
		{"1.20.4", 0, "1.20.4", true}, {"1.20.4", 0, "1.20", true}, {"1.20.4", 0, "1.2", false},
		{"1.20.4", 0, "20.4", false}, {"1.20", 0, "1.20.4", false},
		{"Paper 1.20.4", 0, "1.20", true}, {"Paper 1.20.4", 0, "paper", true}, {"Velocity 1.7.2-1.20.4", 0, "1.20.4", true},
		{"v1.5", 0, "1.5", true}, {"dev1.5", 0, "1.5", false}, {"0.6.4, 18.1", 0, "0.6", true},
		{"0.6.4, 18.1", 0, "18", true}, {"0.6.4, 18.1", 0, "8.1", false},
		{"", 765, "765", true}, {"1.20.4", 765, "764", false}, {"", 0, "765", false}, {"", 0, "", false}, {"1.20.4 and 1.20", 0, "1.20", true},
		{"ioq3 1.36+u20221123", 0, "1.36", true}, {"11.1.1", 0, "1.1", false},
	} {
		info := discovery.Info{Version: c.version, Protocol: c.protocol}
		if got := info.IsOfVersion(c.wanted); got != c.want {
			t.Errorf("%q (%d) is %q: %v", c.version, c.protocol, c.wanted, got)
		}
	}
	if info := (discovery.Info{Protocol: 49, OldestProtocol: 37}); !info.IsOfVersion("41") || info.IsOfVersion("36") ||
		info.VersionText() != "protocols 37 to 49" {
		t.Errorf("a range: %s", info.VersionText())
	}
}

// FuzzTags checks that the tags of any text are few, short and clean, and that reading
// them again changes nothing.
func FuzzTags(f *testing.F) {
	f.Add("battleye,no3rd,mod,14:32", "no3rd -mod")
	f.Add("a\x00b \u202e", "-")
	f.Fuzz(func(t *testing.T, text, wanted string) {
		tags := discovery.TagsOf(text)
		if string(tags) != discovery.CleanText(string(tags)) || len(tags) > 256 || discovery.TagsOf(string(tags)) != tags {
			t.Errorf("%q gives %q", text, tags)
		}
		tags.Meets(wanted)
		info := discovery.Info{Version: discovery.CleanText(text)}
		info.IsOfVersion(wanted)
		info.Fit(discovery.Edition{Version: wanted})
	})
}
