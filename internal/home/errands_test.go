package home

import (
	"context"
	"io"
	"os"
	"slices"
	"testing"
)

// TestLists checks that Home imports and exports lists by the command, and that a game's id is
// never taken for a flag.
func TestLists(t *testing.T) {
	var args []string
	isTold := false
	e := errands{language: &pageLanguage{}, listsChanged: func() { isTold = true }}
	e.run = func(_ context.Context, line []string, at Terminal) error {
		args = line
		text, err := io.ReadAll(at.In)
		if err != nil {
			return err
		}
		if line[1] == "export" {
			return os.WriteFile(line[len(line)-1], []byte("192.0.2.1:27960\n"), 0o600)
		}
		_, err = io.WriteString(at.Out, "1 favourite added:\n  "+string(text)+"\n")
		return err
	}
	said, err := e.takeImport(t.Context(), listsRequest{Game: "--verbose", Text: "192.0.2.1:27960", Hidden: true})
	if err != nil || said != "1 favourite added: 192.0.2.1:27960" ||
		!slices.Equal(args, []string{"lists", "import", "--game=--verbose", "--hidden", "--", "-"}) || !isTold {
		t.Errorf("%v, %v of %q; Home is told: %t", said, err, args, isTold)
	}
	text, err := e.export(t.Context(), listsRequest{Game: "openarena", Format: "qstat"})
	if err != nil || text != "192.0.2.1:27960\n" ||
		!slices.Equal(args[:5], []string{"lists", "export", "--game=openarena", "--format=qstat", "--"}) {
		t.Errorf("%q, %v of %q", text, err, args)
	}
	if _, err := os.Stat(args[5]); err == nil {
		t.Error("the file stays")
	}
}
