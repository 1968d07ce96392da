package home

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"

	"muster/internal/favourites"
)

// errands are commands that end at once: the page waits for what they say.
type errands struct {
	run      func(ctx context.Context, args []string, t Terminal) error
	language *pageLanguage
	steamKey func() SteamKey
	// listsChanged is called after a command has changed the favourites or the hidden servers.
	listsChanged func()
}

// listsRequest imports or exports a game's favourites or hidden servers.
type listsRequest struct {
	Game   string `json:"game"`
	Hidden bool   `json:"hidden"`
	// Text is a list in any form, Format the form to export.
	Text   string        `json:"text"`
	Format favourites.As `json:"format"`
}

func (w listsRequest) args(what, file string) []string {
	args := []string{"lists", what, "--game=" + w.Game}
	if w.Hidden {
		args = append(args, "--hidden")
	}
	if what == "export" {
		args = append(args, "--format="+string(w.Format))
	}
	return append(args, "--", file)
}

// takeImport runs the import command on a list, and answers with the command's output.
func (e errands) takeImport(ctx context.Context, request listsRequest) (any, error) {
	var said bytes.Buffer
	if err := e.run(ctx, request.args("import", "-"), terminal(e.language.tag(), strings.NewReader(request.Text),
		&said)); err != nil {
		return nil, err
	}
	e.listsChanged()
	return strings.Join(strings.Fields(said.String()), " "), nil
}

// export runs the export command, and returns the list that it wrote.
func (e errands) export(ctx context.Context, request listsRequest) (any, error) {
	folder, err := os.MkdirTemp("", "muster-lists-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	file := filepath.Join(folder, "list")
	if err := e.run(ctx, request.args("export", file), terminal(e.language.tag(), strings.NewReader(""), io.Discard)); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(file)
	return string(text), err
}

// keyRequest sets or removes the key to Steam's Web API.
type keyRequest struct {
	Key    string `json:"key"`
	Forget bool   `json:"forget"`
}

// takeSteamKey passes the key to the command on its input, as if somebody typed it. Others could
// see it in a command line, in a task's lines or in the state.
func (e errands) takeSteamKey(ctx context.Context, request keyRequest) (any, error) {
	args := []string{"games", "--steam-key"}
	if request.Forget {
		args = []string{"games", "--forget-steam-key"}
	}
	err := e.run(ctx, args, terminal(e.language.tag(), strings.NewReader(request.Key+"\n"), io.Discard))
	if err != nil {
		return nil, err
	}
	return e.steamKey(), nil
}
