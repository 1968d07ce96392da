// Package tables downloads newer address tables than Muster's built-in ones from the project's newest release, when the
// user asks for it, and keeps them.
//
//	the newest release's muster-country.gz, …    each complete, and as in its signed list of sums
//	          │
//	          ▼  newer than the ones in use
//	FOLDER/country.gz, asn.gz, names.gz          which commands use from now on
package tables

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"muster/discovery/geo"
	"muster/internal/hint"
	"muster/internal/release/fetch"
	"muster/internal/term"
)

// File returns the name of a field's table in a release.
func File(f geo.Field) string { return "muster-" + geo.TableFile(f) }

// Update downloads the tables of the newest release, keeps those that are newer than the user's in the folder, and
// returns them, perhaps none. Errors are those of [fetch.Source.Newest], or the disk's.
func Update(ctx context.Context, from fetch.Source, folder string) ([]geo.Source, error) {
	have, err := geo.Carried()
	if err != nil {
		return nil, err
	}
	part, err := os.MkdirTemp("", "muster-tables-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(part)
	var files []string
	for _, old := range have {
		files = append(files, File(old.Field))
	}
	if _, err := from.Newest(ctx, part, files, geo.MaxTable); err != nil {
		return nil, err
	}
	var news []geo.Source
	came := make(map[geo.Field][]byte)
	for i, old := range have {
		table, now, err := read(filepath.Join(part, files[i]))
		if err == nil && now.Field != old.Field {
			err = fmt.Errorf("it is a table of %s", now.Field)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", files[i], err)
		}
		now.Path = filepath.Join(folder, geo.TableFile(old.Field))
		_, kept, _ := read(now.Path) // an unusable table counts as none
		if now.Built.After(old.Built) && now.Built.After(kept.Built) {
			came[old.Field], news = table, append(news, now)
		}
	}
	return news, keep(came, folder)
}

// read reads a whole table from a file.
func read(path string) (table []byte, s geo.Source, err error) {
	switch info, err := os.Stat(path); {
	case err != nil:
		return nil, s, err
	case info.Size() > geo.MaxTable:
		return nil, s, fmt.Errorf("%s is no table", path)
	}
	if table, err = os.ReadFile(path); err != nil {
		return nil, s, err
	}
	s, err = geo.CheckTable(table)
	if err != nil {
		return nil, geo.Source{}, err
	}
	return table, s, nil
}

// keep puts tables into the folder, each atomically: a reader sees the old one or the new one.
func keep(tables map[geo.Field][]byte, folder string) error {
	if len(tables) == 0 {
		return nil
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	for f, table := range tables {
		part, err := os.CreateTemp(folder, "part-")
		if err != nil {
			return err
		}
		_, err = part.Write(table)
		if err = errors.Join(err, part.Close()); err == nil {
			err = os.Rename(part.Name(), filepath.Join(folder, geo.TableFile(f)))
		}
		if err != nil {
			return errors.Join(err, os.Remove(part.Name()))
		}
	}
	return nil
}

// Forget removes the downloaded tables, so that the built-in ones apply again, and reports whether there were any.
func Forget(folder string) (there bool, err error) {
	carried, err := geo.Carried()
	for _, t := range carried {
		switch gone := os.Remove(filepath.Join(folder, geo.TableFile(t.Field))); {
		case gone == nil:
			there = true
		case !errors.Is(gone, fs.ErrNotExist):
			err = errors.Join(err, gone)
		}
	}
	return there, err
}

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
