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
	"io/fs"
	"os"
	"path/filepath"

	"muster/discovery/geo"
	"muster/internal/release/fetch"
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
