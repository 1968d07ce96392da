package law

import (
	"bytes"
	"cmp"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"

	"muster/discovery"
)

// Format is the name of a law's file.
const Format = "muster.law/1"

// Bounds of a law's file: its size in bytes, how deep its parts stand in each other, how many of one
// kind it has, the highest ping in milliseconds, and how many faults are told.
const (
	MaxFile   = 16 << 10
	maxDepth  = 8
	maxParts  = 256
	maxMS     = 10_000
	maxFaults = 10
)

// Fault is one thing that is wrong in the file of a law.
type Fault struct {
	Line int
	Why  string
}

// Faults are what is wrong in the file of a law, by line.
type Faults []Fault

func (all Faults) Error() string {
	var lines []string
	for _, f := range all {
		lines = append(lines, fmt.Sprintf("law: line %d: %s", f.Line, f.Why))
	}
	return strings.Join(lines, "\n")
}

//go:embed laws/*.json
var files embed.FS

// Names returns the names of the laws that come with Muster, in their order.
func Names() (names []string) {
	entries, err := files.ReadDir("laws")
	if err != nil {
		panic(err) // the files are embedded above
	}
	for _, entry := range entries {
		names = append(names, strings.TrimSuffix(entry.Name(), ".json"))
	}
	return names
}

// Known returns the law of that name that comes with Muster, or nil.
func Known(name string) *Law {
	if !slices.Contains(Names(), name) {
		return nil
	}
	file, err := files.ReadFile("laws/" + name + ".json")
	l, wrong := Read(file)
	if err = errors.Join(err, wrong); err != nil {
		panic(err) // a test reads them all
	}
	return l
}

// All returns the laws that come with Muster, in the order of their names.
func All() (all []*Law) {
	for _, name := range Names() {
		all = append(all, Known(name))
	}
	return all
}

// Read returns the law of a file. The error is [Faults], also for a law that contradicts itself.
func Read(file []byte) (*Law, error) {
	l, c := &Law{}, checker{file: file[:min(len(file), MaxFile)], lines: map[string]int{}}
	tokens, strict := json.NewDecoder(bytes.NewReader(c.file)), json.NewDecoder(bytes.NewReader(c.file))
	err := c.index(tokens, "", maxDepth)
	if _, after := tokens.Token(); err == nil && !errors.Is(after, io.EOF) {
		err = errors.New("something follows the law")
	}
	if strict.DisallowUnknownFields(); err == nil && len(c.faults) == 0 {
		err = strict.Decode(l)
	}
	switch {
	case len(file) > MaxFile:
		c.faults = Faults{{1, fmt.Sprintf("the file has over %d bytes", MaxFile)}}
	case err != nil:
		c.explain(err, tokens.InputOffset())
	case len(c.faults) == 0:
		c.check(l)
	}
	if len(c.faults) > 0 {
		slices.SortStableFunc(c.faults, func(a, b Fault) int { return a.Line - b.Line })
		return nil, c.faults[:min(maxFaults, len(c.faults))]
	}
	return l, nil
}

// checker knows the lines of a file's values, by paths such as "rules.0.says".
type checker struct {
	file   []byte
	lines  map[string]int
	faults Faults
}

func (c *checker) lineAt(offset int64) int {
	return 1 + bytes.Count(c.file[:max(0, min(int(offset), len(c.file)))], []byte{'\n'})
}

// index notes the lines of the next value and of those in it.
func (c *checker) index(tokens *json.Decoder, path string, depth int) error {
	token, err := tokens.Token()
	if err != nil {
		return err
	}
	c.lines[path] = c.lineAt(tokens.InputOffset())
	if ms, isNumber := token.(float64); strings.HasSuffix(path, "_ms") {
		c.fails(!isNumber || ms < 0 || ms > maxMS, path, "%s is a number of milliseconds from 0 to %d", path, maxMS)
	}
	open, isOpen := token.(json.Delim)
	if !isOpen {
		return nil
	} else if depth == 0 {
		return errors.New("its parts stand too deep in each other")
	}
	for i := 0; tokens.More(); i++ {
		if i == maxParts {
			return fmt.Errorf("%s has over %d parts", cmp.Or(path, "the law"), maxParts)
		}
		name := fmt.Sprint(i)
		if open == '{' {
			key, err := tokens.Token()
			if err != nil {
				return err
			}
			name = strings.ToLower(key.(string)) // the decoder below takes any case
		}
		part := strings.TrimPrefix(path+"."+name, ".")
		before := c.lines[part]
		if err := c.index(tokens, part, depth-1); err != nil {
			return err
		}
		c.fails(before > 0, part, "%s stands in line %d already", part, before)
	}
	_, err = tokens.Token()
	return err
}

// explain says why a file is no law as far as a decoder can tell, which stopped at an offset.
func (c *checker) explain(err error, offset int64) {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	why := strings.TrimPrefix(err.Error(), "json: ")
	switch name, isUnknown := strings.CutPrefix(why, "unknown field "); {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		why = "the file ends too early"
	case errors.As(err, &syntax):
		if offset = syntax.Offset; strings.HasPrefix(why, `invalid character '\n'`) {
			offset-- // the line that ends there
		}
	case errors.As(err, &kind):
		offset, why = kind.Offset, fmt.Sprintf("%s cannot be a %s", kind.Field, kind.Value)
	case isUnknown:
		offset, why = int64(bytes.Index(c.file, []byte(name))), "a law has no "+name
	}
	c.faults = append(c.faults, Fault{c.lineAt(offset), discovery.CleanText(why)})
}

// fails notes a fault of a value, or of what a missing one would stand in.
func (c *checker) fails(isWrong bool, path, format string, args ...any) {
	for isWrong && c.lines[path] == 0 && path != "" {
		path = path[:max(0, strings.LastIndexByte(path, '.'))]
	}
	if isWrong {
		c.faults = append(c.faults, Fault{c.lines[path], discovery.CleanText(fmt.Sprintf(format, args...))})
	}
}

func (c *checker) says(path, text string) {
	c.fails(text == "" || text != discovery.CleanText(text), path, "%s is missing, too long, or more than one line of text", path)
}

// word checks a word that has to be one of those known.
func word[W ~string](c *checker, path string, word W, known ...W) {
	c.fails(!slices.Contains(known, word), path, "%s is one of %v", path, known)
}

func (c *checker) check(l *Law) {
	c.fails(l.Format != Format, "format", "the format is not %s", Format)
	c.fails(strings.Trim(l.Name, "abcdefghijklmnopqrstuvwxyz0123456789-") != "", "name", "a name has lower-case letters, digits and -")
	at, err := url.Parse(l.Source.URL)
	c.fails(err != nil || at.Host == "" || at.Scheme != "https" && at.Scheme != "http", "source.url", "a source begins with https:// or http://")
	c.says("name", l.Name)
	c.says("league", l.League)
	c.says("source.date", l.Source.Date)
	c.says("order.says", l.Order.Says)
	for i, says := range l.Also {
		c.says(fmt.Sprint("also.", i), says)
	}
	for i, rule := range l.Rules {
		c.says(fmt.Sprintf("rules.%d.says", i), rule.Says)
		c.rule(l, rule, i)
	}
	if l.Minping != (Minping{}) {
		c.says("minping.says", l.Minping.Says)
		c.fails(l.Minping.Max == 0, "minping.max_ms", "a minping is over 0")
	}
	if l.Objection != (Objection{}) {
		c.says("objection.says", l.Objection.Says)
		word(c, "objection.by", l.Objection.By, "higher", "either", "both", "admin")
	}
	if d := l.Disagreement; d.Way != "" || d.Says != "" || len(d.Places) > 0 {
		c.says("disagreement.says", d.Says)
		word(c, "disagreement.way", d.Way, Home, Alternate, InPlaces, Veto, ByAdmin)
		c.fails((d.Way == InPlaces) != (len(d.Places) > 0), "disagreement", "places are for the way %s, which needs them", InPlaces)
		for i, place := range d.Places {
			path := fmt.Sprint("disagreement.places.", i)
			c.fails(len(place) != 2 || strings.Trim(place, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "", path, "a place is the code of a country, such as DE")
			c.fails(slices.Contains(d.Places[:i], place), path, "the order of places has %s twice", place)
		}
	}
	c.fails(len(l.Order.By) == 0, "order.by", "nothing says which server is left where none keeps the law")
	for i, step := range l.Order.By {
		path := fmt.Sprint("order.by.", i)
		word(c, path+".least", step.Least, Means, Lows, ClippedLows, Worst, Mean)
		c.fails(slices.ContainsFunc(l.Order.By[:i], func(b Step) bool { return b.Least == step.Least }), path, "the order has %s twice", step.Least)
		c.fails(step.Least == ClippedLows && l.clip() == 0, path, "%s needs a rule with clip_ms", step.Least)
		c.fails(step.Tie > 0 && i == len(l.Order.By)-1, path+".tie_ms", "nothing decides a tie here: a step is missing")
	}
}

func (c *checker) rule(l *Law, rule Rule, i int) {
	path := fmt.Sprint("rules.", i)
	word(c, path+".of", rule.Of, Means, Lows, ClippedLows, Worst, Mean)
	before := slices.IndexFunc(l.Rules[:i], func(b Rule) bool { return b.Of == rule.Of })
	c.fails(before >= 0, path, "%s has a limit in line %d already", rule.Of, c.lines[fmt.Sprint("rules.", before)])
	c.fails(rule.Max == 0 && rule.Below == 0, path, "%s has no limit over 0: max_ms or below_ms", rule.Of)
	c.fails(rule.Max > 0 && rule.Below > 0, path, "%s has two limits, max_ms and below_ms", rule.Of)
	c.fails((rule.Of == ClippedLows) != (rule.Clip > 0), path, "clip_ms is for %s, which needs it", ClippedLows)
	cap := rule.Max + rule.Below
	c.fails(rule.Of == Worst && cap > 0 && l.Minping.Max > cap, "minping.max_ms",
		"a minping of %v ms is over the %v ms that line %d allows a player", l.Minping.Max, cap, c.lines[path])
}
