package game

import (
	"cmp"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"

	"muster/discovery"
	"muster/discovery/hostport"
	"muster/discovery/lists/master"
	"muster/discovery/regions"
	"muster/discovery/sentence"
	"muster/host/wire"
	"muster/internal/hint"
	"muster/internal/input"
	"muster/internal/slip"
	"muster/internal/tomlerr"
	"muster/internal/userfile"
)

// The built-in table is a file for each family of games; docs/games.md explains the fields.
//
//go:embed games/*.toml
var families embed.FS

// maxFile is the largest user's table that is read, in bytes.
const maxFile = 1 << 20

// Table holds the known games, ordered by id.
type Table struct {
	games []Game
	texts []string // the user's file and the built-in ones
}

// All returns the games, ordered by id.
func (t Table) All() []Game { return slices.Clone(t.games) }

// file is a table as TOML has it.
type file struct {
	Game map[string]Game `toml:"game"`
}

// FileError says what is wrong in a user's table of games, and where.
type FileError struct {
	File string
	Line int // 0 if the error has no line
	Err  error
}

func (e *FileError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("game: %s: %v", e.File, e.Err)
	}
	return fmt.Sprintf("game: %s:%d: %v", e.File, e.Line, e.Err)
}

func (e *FileError) Unwrap() error { return e.Err }

// Load returns the built-in table with the user's games added. A user's entry for a built-in game changes only the
// fields that it has. user may be nil; errors call it name. Errors are [*FileError]s.
func Load(user io.Reader, name string) (Table, error) {
	t, _, err := read(user, name)
	return t, err
}

// LoadFile loads the user's table like [Load], from a file that may not be there.
func LoadFile(name string) (Table, error) {
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return Load(nil, "")
	}
	if err != nil {
		return Table{}, err
	}
	defer f.Close()
	return Load(f, name)
}

// AddEntry adds an entry to a user's table as [Append] does, in a file that may not be there yet.
func AddEntry(name, id, entry string) error {
	old, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	text, err := Append(string(old), id, entry, name)
	if err != nil {
		return err
	}
	return userfile.Replace(name, []byte(text))
}

// Check loads a user's table like [Load], and returns the ids of its games in order.
func Check(user io.Reader, name string) (ids []string, err error) {
	_, own, err := read(user, name)
	return slices.Sorted(maps.Keys(own.Game)), err
}

// read is [Load], and returns the user's own file, too.
func read(user io.Reader, name string) (t Table, own file, err error) {
	f, builtIn, err := loadBuiltIn()
	if err != nil {
		return Table{}, own, err
	}
	var text []byte
	if user != nil {
		text, err = io.ReadAll(io.LimitReader(input.Text(user), maxFile+1))
		if err == nil && len(text) > maxFile {
			err = fmt.Errorf("%w: over %d bytes", discovery.ErrMalformed, maxFile)
		}
		if err == nil {
			own, err = merge(&f, string(text))
		}
		if err != nil {
			return Table{}, own, fileError(name, string(text), err)
		}
	}
	t, err = newTable(f, name, text, builtIn)
	return t, own, err
}

// loadBuiltIn decodes the files of all families, and returns their texts, too. A game in two files is an error.
func loadBuiltIn() (all file, texts []string, err error) {
	all.Game = map[string]Game{}
	names, err := fs.Glob(families, "games/*.toml")
	for _, name := range names {
		var text []byte
		if text, err = families.ReadFile(name); err != nil {
			break
		}
		var f file
		if err = decode(string(text), &f); err != nil {
			return file{}, nil, fileError(name+" (built in)", string(text), err)
		}
		for id, g := range f.Game {
			if _, isTwice := all.Game[id]; isTwice {
				return file{}, nil, &FileError{File: name + " (built in)", Err: fmt.Errorf("game %q is in another file, too", id)}
			}
			all.Game[id] = g
		}
		texts = append(texts, string(text))
	}
	if err != nil {
		return file{}, nil, &FileError{File: "games (built in)", Err: err}
	}
	return all, texts, nil
}

func decode(text string, f *file) error {
	return toml.NewDecoder(strings.NewReader(text)).DisallowUnknownFields().Decode(f)
}

// merge decodes text over f, field by field. A user's launch template is for every system, so it replaces the built-in
// templates for all of them. A user's lists and regions replace all built-in ones. It returns the text's own games.
func merge(f *file, text string) (own file, err error) {
	if err := decode(text, &own); err != nil {
		return own, err
	}
	for id, changed := range own.Game {
		g, ok := f.Game[id]
		if !ok {
			continue
		}
		if changed.Launch != nil {
			g.LaunchWindows, g.LaunchDarwin, g.LaunchLinux, g.Flatpak = nil, nil, nil, nil
		}
		if changed.Lists != nil {
			g.Lists = nil
		}
		if changed.Regions.List != nil {
			g.Regions.List = nil
		}
		f.Game[id] = g
	}
	return own, decode(text, f)
}

// fileError says where in a text the decoder stopped, by line.
func fileError(name, text string, err error) *FileError {
	var unknown *toml.StrictMissingError
	var wrong *toml.DecodeError
	switch {
	case errors.As(err, &unknown) && len(unknown.Errors) > 0:
		first := &unknown.Errors[0]
		line, _ := first.Position()
		return &FileError{File: name, Line: line, Err: fmt.Errorf("unknown key %q%s", strings.Join(first.Key(), "."), knownBeside(first.Key()))}
	case errors.As(err, &wrong):
		line, why := tomlerr.Explain(text, wrong)
		if wrong.Key() != nil || strings.HasPrefix(why, escaped) {
			why = reason(wrong)
		}
		return &FileError{File: name, Line: line, Err: errors.New(why)}
	}
	return &FileError{File: name, Err: err}
}

// knownBeside returns the known key that an unknown one may be, or all at its place.
func knownBeside(key []string) string {
	var places []string
	var known [][]string
	switch {
	case len(key) == 4 && key[2] == "lists":
		places, known = []string{"a list"}, [][]string{keysOf(reflect.TypeFor[master.WebList]())}
	case len(key) == 4 && key[2] == "regions": // the decoder does not tell which of the two
		places = []string{"regions", "a region"}
		known = [][]string{keysOf(reflect.TypeFor[regions.Table]()), keysOf(reflect.TypeFor[regions.Region]())}
	case len(key) == 3:
		places, known = []string{"a game"}, [][]string{keysOf(reflect.TypeFor[Game]())}
	default:
		return `: entries begin with [game.ID]`
	}
	if near := slip.Near(key[len(key)-1], slices.Concat(known...)); near != "" {
		return ": did you mean " + near + "?"
	}
	var all string
	for i, place := range places {
		all += fmt.Sprintf("; %s has %s", place, strings.Join(known[i], ", "))
	}
	return all
}

// keysOf returns the keys that a type has in TOML.
func keysOf(known reflect.Type) (names []string) {
	for _, field := range reflect.VisibleFields(known) {
		if name := field.Tag.Get("toml"); name != "" && name != "-" {
			names = append(names, name)
		}
	}
	return names
}

// wantedOf says what a field of one of our types takes.
func wantedOf(kind string) string {
	switch kind {
	case "[]string":
		return `a list of texts is wanted, such as ["one", "two"]`
	case "[]int":
		return "a list of numbers is wanted, such as [71, 68]"
	case "string":
		return "a text in quotation marks is wanted"
	case "uint16":
		return "a number from 1 to 65535 is wanted"
	case "int", "uint32":
		return "a number is wanted"
	}
	return ""
}

// escaped begins the decoder's message about a path of Windows in double quotation marks.
const escaped = "invalid escape character"

// reason extracts what a user needs from the decoder's message, without Muster's own types.
func reason(wrong *toml.DecodeError) string {
	what, field, _ := strings.Cut(strings.TrimPrefix(wrong.Error(), "toml: "), " into struct field")
	what, stored, _ := strings.Cut(what, " cannot be stored in ")
	_, kind, _ := strings.Cut(field, " of type ")
	if wanted := wantedOf(cmp.Or(kind, stored)); wanted != "" {
		what += ": " + wanted
	}
	if strings.HasPrefix(what, escaped) {
		what += `: \ stands in a text as \\, or the text stands in single quotation marks`
	}
	if key := strings.Join(wrong.Key(), "."); key != "" {
		return key + ": " + what
	}
	return what
}

// newTable checks all games. text is the user's file, where it looks for the line of a wrong field.
func newTable(f file, name string, text []byte, builtIn []string) (Table, error) {
	t := Table{texts: append([]string{string(text)}, builtIn...)}
	for _, id := range slices.Sorted(maps.Keys(f.Game)) {
		g := f.Game[id]
		g.ID = id
		if err := g.complete(); err != nil {
			wrong := &FileError{File: name, Err: fmt.Errorf("game %q: %w", discovery.CleanText(id), err)}
			if in, is := errors.AsType[*fieldError](err); is {
				wrong.Line = lineOf(string(text), id, in.field, in.list)
			}
			return Table{}, wrong
		}
		t.games = append(t.games, g)
	}
	return t, nil
}

// inRegions is the list of a [fieldError] about the game's regions.
const inRegions = -1

func isID(s string) bool {
	return s != "" && len(s) <= 32 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-_") == ""
}

// CheckID reports whether an entry can have an id.
func CheckID(id string) error {
	if !isID(id) {
		return fmt.Errorf("game: %q: an id is lower-case letters, digits, - and _", discovery.CleanText(id))
	}
	return nil
}

// UnknownError says that the table has no game with an id.
type UnknownError struct {
	ID string
	// Similar is the id that the user probably meant, or empty.
	Similar string
}

func (e *UnknownError) Error() string {
	if e.Similar == "" {
		return fmt.Sprintf("game: unknown game %q", discovery.CleanText(e.ID))
	}
	return fmt.Sprintf("game: unknown game %q, did you mean %s?", discovery.CleanText(e.ID), e.Similar)
}

// Said returns the error as a sentence of the catalogue.
func (e *UnknownError) Said() *hint.Said {
	said := hint.Say("which.unknown", "text", discovery.CleanText(e.ID))
	if e.Similar != "" {
		said = hint.Say("which.unknown-like", "text", discovery.CleanText(e.ID), "game", e.Similar)
	}
	return said.Advising("which.unknown-hint", "command", "muster games", "file", "games.toml")
}

// Hint says what a user can do about it, in English.
func (e *UnknownError) Hint() string { return e.Said().Hint() }

// Find returns the game with an id, ignoring case. If there is none, the error is an [*UnknownError].
func (t Table) Find(id string) (Game, error) {
	for _, g := range t.games {
		if strings.EqualFold(g.ID, id) {
			return g, nil
		}
	}
	unknown := &UnknownError{ID: id}
	if like := t.Search(id); len(like) > 0 {
		unknown.Similar = like[0].Game.ID
	}
	return Game{}, unknown
}

// Gap returns how long to wait before a server of a game answers an address again, 0 if unknown.
func (t Table) Gap(id string) time.Duration {
	g, err := t.Find(id)
	if err != nil {
		return 0
	}
	return g.Gap()
}

// Name returns a game's name by its id, empty for an unknown game.
func (t Table) Name(id string) string {
	g, err := t.Find(id)
	if err != nil {
		return ""
	}
	return g.Name
}

// ConnectLink returns the link that takes a browser to a server, empty for a game that no link starts.
func (t Table) ConnectLink(id string, way wire.Way) string {
	g, err := t.Find(id)
	addr, badAddress := hostport.Parse(way.Connect)
	if err != nil || badAddress != nil {
		return ""
	}
	template := g.Template(runtime.GOOS)
	link, isLink := afterOpener(template, runtime.GOOS)
	if !isLink || len(link) != 1 || !isURL(link[0]) {
		return ""
	}
	argv, err := g.Command(template, Target{Address: addr, QueryPort: way.QueryPort})
	if err != nil {
		return ""
	}
	return argv[len(argv)-1]
}

// Join returns the way to a game's server with its link and what players type, or with the region to set.
func (t Table) Join(id string, way wire.Way) wire.Way {
	if region, is := t.Region(id, way.Server); is {
		way.Region, way.Server = &region, region.Name
		return way
	}
	way.Link, way.Typed, way.Delay, way.Transfer = t.ConnectLink(id, way), t.Typed(id, way), t.Delay(id), t.Transfer(id)
	return way
}

// Region returns what players set to play in a game's region, by the name that a room calls it. It is false for a game
// with servers.
func (t Table) Region(id, called string) (wire.Region, bool) {
	g, err := t.Find(id)
	if err != nil {
		return wire.Region{}, false
	}
	r, is := g.Regions.Find(called)
	return wire.Region{Name: r.Name, Set: r.Set, How: g.howTo(r.Set)}, is
}

// howTo says how players set a region. The built-in table names a sentence of the catalogue; a player's own table has
// text.
func (g Game) howTo(set string) sentence.Sentence {
	if strings.HasPrefix(g.Regions.How, "region.") {
		return sentence.Of(g.Regions.How, "set", set)
	}
	return sentence.Plain(strings.ReplaceAll(g.Regions.How, "{set}", set))
}

func (g Game) howToEnglish(set string) string {
	if how := g.howTo(set); strings.HasPrefix(how.Key, "region.") {
		return hint.Say(how.Key, "set", set).Error()
	}
	return strings.ReplaceAll(g.Regions.How, "{set}", set)
}

// afterOpener returns the rest of a template that begins with the system's program for links.
func afterOpener(template []string, goos string) ([]string, bool) {
	program := opener(goos)
	if len(template) < len(program) || !slices.Equal(template[:len(program)], program) {
		return nil, false
	}
	return template[len(program):], true
}

// Entry returns a game as games.toml has it: the user's entry or the built-in one. For an unknown id it is a pattern to
// fill in.
func (t Table) Entry(id string) (string, error) {
	if err := CheckID(id); err != nil {
		return "", err
	}
	for _, text := range t.texts {
		var entry strings.Builder
		inside := false
		for row := range strings.Lines(text) {
			if header := strings.TrimSpace(row); strings.HasPrefix(header, "[") {
				inside = header == "[game."+id+"]" || header == "[[game."+id+".lists]]" || header == "[game."+id+".regions]"
			}
			if inside {
				entry.WriteString(row)
			}
		}
		if entry.Len() > 0 {
			return strings.TrimRight(entry.String(), "\n") + "\n", nil
		}
	}
	return strings.ReplaceAll(pattern, "ID", id), nil
}

//go:embed pattern.toml
var pattern string
