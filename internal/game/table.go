package game

import (
	_ "embed"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/netip"
	"runtime"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"muster/discovery"
	"muster/selection"
)

//go:embed games.toml
var builtIn string

// maxFile is the largest table, in bytes, that is read from a user.
const maxFile = 1 << 20

// Table holds the known games, ordered by their ids.
type Table struct{ games []Game }

// All are the games, ordered by their ids.
func (t Table) All() []Game { return slices.Clone(t.games) }

// file is a table as it stands in TOML.
type file struct {
	Game map[string]Game `toml:"game"`
}

// FileError says what is wrong in a user's table of games, and where.
type FileError struct {
	File string
	Line int // 0 if it is not about one line
	Err  error
}

func (e *FileError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("game: %s: %v", e.File, e.Err)
	}
	return fmt.Sprintf("game: %s:%d: %v", e.File, e.Line, e.Err)
}

func (e *FileError) Unwrap() error { return e.Err }

// Load is the built-in table with the user's games added. A user's entry for a
// built-in game changes only the fields that it has. user may be nil; name is
// what errors call it. Errors are [*FileError]s.
func Load(user io.Reader, name string) (Table, error) {
	var f file
	if err := decode(builtIn, &f); err != nil {
		return Table{}, fileError("games.toml (built in)", err)
	}
	if user != nil {
		text, err := io.ReadAll(io.LimitReader(user, maxFile+1))
		if err == nil && len(text) > maxFile {
			err = fmt.Errorf("%w: over %d bytes", discovery.ErrMalformed, maxFile)
		}
		if err == nil {
			err = merge(&f, string(text))
		}
		if err != nil {
			return Table{}, fileError(name, err)
		}
	}
	return newTable(f, name)
}

func decode(text string, f *file) error {
	return toml.NewDecoder(strings.NewReader(text)).DisallowUnknownFields().Decode(f)
}

// merge decodes over what is there, field by field. A user's way to launch a
// game is for every system, so it takes the place of a built-in one for theirs.
func merge(f *file, text string) error {
	var own file
	if err := decode(text, &own); err != nil {
		return err
	}
	for id, changed := range own.Game {
		if g, ok := f.Game[id]; ok && changed.Launch != nil {
			g.LaunchWindows, g.LaunchDarwin, g.LaunchLinux = nil, nil, nil
			f.Game[id] = g
		}
	}
	return decode(text, f)
}

// fileError says in which line the decoder gave up.
func fileError(name string, err error) *FileError {
	var unknown *toml.StrictMissingError
	var wrong *toml.DecodeError
	switch {
	case errors.As(err, &unknown) && len(unknown.Errors) > 0:
		first := &unknown.Errors[0]
		line, _ := first.Position()
		return &FileError{File: name, Line: line, Err: fmt.Errorf("unknown key %q", strings.Join(first.Key(), "."))}
	case errors.As(err, &wrong):
		line, _ := wrong.Position()
		return &FileError{File: name, Line: line, Err: errors.New(reason(wrong))}
	}
	return &FileError{File: name, Err: err}
}

// reason is what a user needs of the decoder's words: not Muster's own types.
func reason(wrong *toml.DecodeError) string {
	what, _, _ := strings.Cut(strings.TrimPrefix(wrong.Error(), "toml: "), " into struct field")
	if key := strings.Join(wrong.Key(), "."); key != "" {
		return key + ": " + what
	}
	return what
}

func newTable(f file, name string) (Table, error) {
	var t Table
	for _, id := range slices.Sorted(maps.Keys(f.Game)) {
		g := f.Game[id]
		g.ID = id
		if err := g.complete(); err != nil {
			return Table{}, &FileError{File: name, Err: fmt.Errorf("game %q: %w", discovery.CleanText(id), err)}
		}
		t.games = append(t.games, g)
	}
	return t, nil
}

// complete fills in what may be left out, and refuses what cannot work.
func (g *Game) complete() error {
	if g.Name == "" {
		g.Name = g.ID
	}
	if g.Rule == "" {
		g.Rule = selection.Mean
	}
	switch {
	case !isID(g.ID):
		return errors.New("an id is lower-case letters, digits, - and _")
	case g.Protocol() == nil:
		return fmt.Errorf("protocol %q is neither quake3 nor a2s", g.ProtocolName)
	case g.Port == 0:
		return errors.New("port is missing")
	case !slices.Contains(selection.Rules(), g.Rule):
		return fmt.Errorf("rule %q is none of %v", g.Rule, selection.Rules())
	case strings.ContainsAny(g.MasterGame, " \t\r\n"):
		return errors.New("master_game is one word")
	}
	for _, template := range [][]string{g.Launch, g.LaunchWindows, g.LaunchDarwin, g.LaunchLinux} {
		if err := checkTemplate(template); err != nil {
			return err
		}
	}
	return nil
}

func isID(s string) bool {
	return s != "" && len(s) <= 32 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-_") == ""
}

// UnknownError says that the table has no game of an id.
type UnknownError struct {
	ID string
	// Similar is the id that was probably meant, or empty.
	Similar string
}

func (e *UnknownError) Error() string {
	if e.Similar == "" {
		return fmt.Sprintf("game: unknown game %q", discovery.CleanText(e.ID))
	}
	return fmt.Sprintf("game: unknown game %q, did you mean %s?", discovery.CleanText(e.ID), e.Similar)
}

// Hint is what a user can do about it.
func (e *UnknownError) Hint() string {
	return "muster games lists the known ones; others are added in games.toml"
}

// Find is the game of an id, upper and lower case alike. If there is none, the
// error is an [*UnknownError].
func (t Table) Find(id string) (Game, error) {
	for _, g := range t.games {
		if strings.EqualFold(g.ID, id) {
			return g, nil
		}
	}
	return Game{}, &UnknownError{ID: id, Similar: t.similar(strings.ToLower(id))}
}

// ConnectLink is what takes a browser to a server, for games that a URL starts;
// empty for others.
func (t Table) ConnectLink(id, address string) string {
	g, err := t.Find(id)
	addr, badAddress := netip.ParseAddrPort(address)
	if err != nil || badAddress != nil {
		return ""
	}
	argv, err := g.Command(g.Template(runtime.GOOS), Target{Address: addr})
	if err != nil || !strings.HasPrefix(argv[len(argv)-1], "steam://") {
		return ""
	}
	return argv[len(argv)-1]
}

// similar is the id, or the id of the name, that takes the fewest slips to
// write; more than a third of it wrong is another word.
func (t Table) similar(word string) (best string) {
	if len(word) > 64 {
		return ""
	}
	fewest := max(len(word)/3, 1) + 1
	for _, g := range t.games {
		for _, known := range []string{g.ID, strings.ToLower(g.Name), strings.ToLower(strings.ReplaceAll(g.Name, " ", ""))} {
			if n := slips(word, known); n < fewest {
				best, fewest = g.ID, n
			}
		}
	}
	return best
}

// slips is Levenshtein's distance of two words in bytes: how many of them are
// missing, too many, or wrong.
func slips(a, b string) int {
	row := make([]int, len(b)+1) // distances of a's start to each start of b
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
