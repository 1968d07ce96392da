package selection_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"muster/discovery"
	"muster/selection"
)

// TestAskedIsWhatFiltersAndPeopleAsk compares a choice with what one player asks for alone.
func TestAskedIsWhatFiltersAndPeopleAsk(t *testing.T) {
	none, two := 0, 2
	info := discovery.Info{Map: "dm1", Mode: "CTF", Version: "1.36", Mod: "baseoa", Tags: "no3rd", Bots: 2, Players: 3, MaxPlayers: 8}
	locked := info
	locked.Password = true
	for _, c := range []struct {
		want selection.Criteria
		info discovery.Info
		asks bool
	}{
		{selection.Criteria{}, locked, true},
		{selection.Criteria{
			Wishes: selection.Wishes{Map: "DM1", Mode: "ctf", Version: "1.36", Mod: "BASEOA", Tags: "no3rd -mod", NoPassword: true, MaxBots: &two},
		}, info, true},
		{selection.Criteria{Wishes: selection.Wishes{Map: "dm2"}}, info, false},
		{selection.Criteria{Wishes: selection.Wishes{Mode: "dm"}}, info, false},
		{selection.Criteria{Wishes: selection.Wishes{Version: "1.35"}}, info, false},
		{selection.Criteria{Wishes: selection.Wishes{Mod: "mod"}}, info, false},
		{selection.Criteria{Wishes: selection.Wishes{Tags: "-no3rd"}}, info, false},
		{selection.Criteria{Wishes: selection.Wishes{NoPassword: true}}, locked, false},
		{selection.Criteria{Wishes: selection.Wishes{MaxBots: &none}}, info, false},
		{selection.Criteria{Wishes: selection.Wishes{MaxBots: &none}}, discovery.Info{Players: 3, MaxPlayers: 8}, true},
	} {
		if got := c.want.Asks(&c.info); got != c.asks {
			t.Errorf("%+v of %+v: %v", c.want, c.info, got)
		}
		servers := selection.Servers{List: []discovery.Server{numberedServer(0)}, Infos: map[int]*discovery.Info{0: &c.info}}
		if barred, _ := selection.NewFilter(servers, c.want).Bars(0); barred == c.asks {
			t.Errorf("the filter of %+v bars %+v: %v", c.want, c.info, barred)
		}
	}
	for _, row := range selection.Asked() {
		if row.Flag == "" || row.Usage == "" || row.Of == nil {
			t.Errorf("the criterion %q lacks a flag, its help, or where it is kept", row.Flag)
		}
	}
}

// TestAddingAFilter follows CONTRIBUTING.md.
func TestAddingAFilter(t *testing.T) {
	text, err := os.ReadFile("../CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	_, path, _ := strings.Cut(string(text), "\n## Add a filter\n")
	path, _, _ = strings.Cut(path, "\n## ")
	files := regexp.MustCompile("`([a-z/_]+\\.go)`").FindAllStringSubmatch(path, -1)
	if len(files) != 2 {
		t.Errorf("CONTRIBUTING.md names %d files", len(files))
	}
	for _, file := range files {
		data, err := os.ReadFile("../" + file[1])
		if err != nil || !strings.Contains(strings.ToLower(string(data)), "maxbots") && !strings.Contains(string(data), "max-bots") {
			t.Errorf("%s, which CONTRIBUTING.md names, does not know --max-bots: %v", file[1], err)
		}
	}
}
