package tables

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"muster/internal/hint"
	"muster/internal/release/fetch"
	"muster/internal/term"
)

// Fetch downloads the tables of the newest release, as [Update] does, and says what came.
func Fetch(ctx context.Context, from fetch.Source, folder string, screen *term.Screen, out io.Writer) error {
	switch {
	case from.Page == "":
		return hint.With(errors.New("this program was built from source, and was not told where the project has its "+
			"releases"), "say --releases URL, and --key with the project's key")
	case from.Keys.None():
		return hint.With(errors.New("this program was built without the project's key, and could not tell whose the tables "+
			"are"), "say --key with the project's key")
	}
	if err := fetch.Check(from.Page); err != nil {
		return hint.With(hint.Usagef("--releases: %v", err), "say the address below which the files are in latest/download/")
	}
	screen.Say("fetching tables of addresses from %s", from.Page)
	news, err := Update(ctx, from, folder)
	switch {
	case errors.Is(err, fetch.ErrWrong):
		return hint.With(err, "nothing was changed; look at the project's release page, and try again later")
	case err != nil:
		return hint.With(err, "nothing was changed; the tables that are here go on to serve")
	case len(news) == 0:
		fmt.Fprintln(out, "The newest release has no newer tables than those that are here.")
	}
	for _, s := range news {
		fmt.Fprintf(out, "%s of %s (%s)\n", s.Field, s.Built.Format(time.DateOnly), s.Name)
	}
	if len(news) > 0 {
		screen.Say("kept in %s; muster geo --forget takes them away", folder)
	}
	return nil
}
