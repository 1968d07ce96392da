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
func (h *Home) takeImport(ctx context.Context, request listsRequest) (any, error) {
	var said bytes.Buffer
	if err := h.config.Command(ctx, request.args("import", "-"), terminal(h.language.Load(), strings.NewReader(request.Text),
		&said)); err != nil {
		return nil, err
	}
	h.change(h.look)
	return strings.Join(strings.Fields(said.String()), " "), nil
}

// export runs the export command, and returns the list that it wrote.
func (h *Home) export(ctx context.Context, request listsRequest) (any, error) {
	folder, err := os.MkdirTemp("", "muster-lists-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	file := filepath.Join(folder, "list")
	if err := h.config.Command(ctx, request.args("export", file), terminal(h.language.Load(), strings.NewReader(""), io.Discard)); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(file)
	return string(text), err
}
