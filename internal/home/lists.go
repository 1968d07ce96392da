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

// listsWish is for the favourites of a game, or its hidden servers, to be taken from a
// list, or written as one.
type listsWish struct {
	Game   string `json:"game"`
	Hidden bool   `json:"hidden"`
	// Text is a list in any form, and Format one to write.
	Text   string        `json:"text"`
	Format favourites.As `json:"format"`
}

func (w listsWish) args(what, file string) []string {
	args := []string{"lists", what, "--game=" + w.Game}
	if w.Hidden {
		args = append(args, "--hidden")
	}
	if what == "export" {
		args = append(args, "--format="+string(w.Format))
	}
	return append(args, "--", file)
}

// takeImport has the command read a list, and answers what it says of it.
func (h *Home) takeImport(ctx context.Context, wish listsWish) (any, error) {
	var said bytes.Buffer
	if err := h.config.Command(ctx, wish.args("import", "-"), Terminal{In: strings.NewReader(wish.Text),
		Out: &said}); err != nil {
		return nil, err
	}
	h.change(h.look)
	return strings.Join(strings.Fields(said.String()), " "), nil
}

// export lets the command write a list, and returns it.
func (w listsWish) export(ctx context.Context, command func(context.Context, []string, Terminal) error) (any, error) {
	folder, err := os.MkdirTemp("", "muster-lists-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	file := filepath.Join(folder, "list")
	if err := command(ctx, w.args("export", file), Terminal{In: strings.NewReader(""), Out: io.Discard}); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(file)
	return string(text), err
}
