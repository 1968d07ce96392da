package reports

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"muster/internal/hint"
)

const (
	anns = `{"format":"muster.report/1","peer":"ann","servers":[]}`
	bobs = `{"format":"muster.report/1","peer":"bob","servers":[]}`
	xml  = `<qstat><server type="Q3S" address="192.0.2.1:27960" status="UP"><ping>20</ping></server></qstat>`
)

// TestRead checks the players of files in each format, and the mistakes that people make.
func TestRead(t *testing.T) {
	for name, c := range map[string]struct {
		files []string // NAME=TEXT
		want  string   // the players, or a part of the error
		isBad bool
	}{
		"none":                 {nil, "", false},
		"two":                  {[]string{"1.json=" + anns, "2.json=" + bobs}, "ann bob", false},
		"byte-order mark":      {[]string{"1.json=\ufeff \r\n" + anns}, "ann", false},
		"QStat's file name":    {[]string{"carl.xml=" + xml}, "carl", false},
		"both formats":         {[]string{"carl.xml=" + xml, "1.json=" + bobs}, "carl bob", false},
		"twins":                {[]string{"1.json=" + anns, "2.json=" + anns}, `two reports are by "ann"`, true},
		"twins by name":        {[]string{"ann.xml=" + xml, "1.json=" + anns}, `two reports are by "ann"`, true},
		"nameless":             {[]string{`1.json={"format":"muster.report/1","servers":[]}`}, "does not name its player", true},
		"no format":            {[]string{"1.json={}"}, "does not say its format", true},
		"another format":       {[]string{`1.json={"format":"muster.servers/1"}`}, "muster.servers/1, not a muster.report/1", true},
		"empty":                {[]string{"1.json= \n"}, "the file is empty", true},
		"neither JSON nor XML": {[]string{"1.txt=ping 20"}, "neither JSON nor XML", true},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			var files []string
			for _, f := range c.files {
				name, text, _ := strings.Cut(f, "=")
				files = append(files, filepath.Join(folder, name))
				if err := os.WriteFile(files[len(files)-1], []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			reports, err := Read(files, strings.NewReader(""))
			if c.isBad {
				if err == nil || !strings.Contains(err.Error(), c.want) || hint.Of(err) == "" {
					t.Errorf("the error is %v, want %q with a hint", err, c.want)
				}
				return
			}
			var players []string
			for _, r := range reports {
				players = append(players, r.Peer)
			}
			if got := strings.Join(players, " "); got != c.want || err != nil {
				t.Errorf("the reports are by %q, %v, want %q", got, err, c.want)
			}
		})
	}
}

// TestReadStandardInput checks that - stands for standard input.
func TestReadStandardInput(t *testing.T) {
	if reports, err := Read([]string{"-"}, strings.NewReader(anns)); err != nil || len(reports) != 1 || reports[0].Peer != "ann" {
		t.Errorf("the reports are %v, %v", reports, err)
	}
	if _, err := Read([]string{filepath.Join(t.TempDir(), "none.json")}, nil); err == nil || !strings.Contains(err.Error(), "none.json") {
		t.Errorf("a missing file leads to %v", err)
	}
}
