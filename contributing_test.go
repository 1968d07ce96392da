package main

import (
	"io/fs"
	"net/netip"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"muster/discovery"
	"muster/discovery/plan"
	"muster/discovery/plan/topology"
	"muster/host/wire"
)

func guide(t *testing.T, heading string) string {
	t.Helper()
	_, section, found := strings.Cut(read(t, "CONTRIBUTING.md"), "\n## "+heading+"\n")
	if !found {
		t.Fatalf("CONTRIBUTING.md has no section %q", heading)
	}
	section, _, _ = strings.Cut(section, "\n## ")
	return section
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// sources returns a package's code outside its tests.
func sources(t *testing.T, folder string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s has no code: %v", folder, err)
	}
	var text strings.Builder
	for _, file := range files {
		if !strings.HasSuffix(file, "_test.go") {
			text.WriteString(read(t, file))
		}
	}
	return text.String()
}

// TestGuidesNameWhatThereIs: the files and folders that CONTRIBUTING.md sends people to exist,
// and so do the tests that its commands run.
func TestGuidesNameWhatThereIs(t *testing.T) {
	text := read(t, "CONTRIBUTING.md")
	named := 0
	for _, place := range regexp.MustCompile("`([a-z_.]+(?:/[a-zA-Z0-9_.]+)+/?)`").FindAllStringSubmatch(text, -1) {
		name := strings.ReplaceAll(place[1], "NAME", "pairwise")
		if strings.HasPrefix(name, "discovery/pairwise") {
			continue // a package of one's own
		}
		if _, err := os.Stat(name); err != nil {
			t.Errorf("CONTRIBUTING.md names %s: %v", place[1], err)
		}
		named++
	}
	for _, command := range regexp.MustCompile(`go (?:-C ([a-z0-9]+) )?test (?:-tags e2e )?\./([a-z/]+) -run '?\^?([A-Za-z]+)`).FindAllStringSubmatch(text, -1) {
		folder, test := filepath.Join(command[1], command[2]), command[3]
		files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
		if err != nil || len(files) == 0 {
			t.Errorf("CONTRIBUTING.md tests %s: %v", folder, err)
		}
		if !slices.ContainsFunc(files, func(file string) bool {
			return regexp.MustCompile(`(?m)^func (Test|Benchmark|Fuzz)?` + test + `|^func Test[A-Za-z]*` + test).MatchString(read(t, file))
		}) {
			t.Errorf("CONTRIBUTING.md runs %s in %s, which has no such test", test, folder)
		}
		named++
	}
	if named < 30 {
		t.Errorf("CONTRIBUTING.md names %d places and tests", named)
	}
}

// TestModulesAreWatched: dependabot looks at every module of the tree.
func TestModulesAreWatched(t *testing.T) {
	watched, modules := read(t, ".github/dependabot.yml"), 0
	err := filepath.WalkDir(".", func(at string, _ fs.DirEntry, err error) error {
		if filepath.Base(at) != "go.mod" {
			return err
		}
		modules++
		folder := path.Join("/", filepath.ToSlash(filepath.Dir(at)))
		if !regexp.MustCompile(`directories: \[(.*, )?` + regexp.QuoteMeta(folder) + `[,\]]`).MatchString(watched) {
			t.Errorf("dependabot does not look at %s", folder)
		}
		return err
	})
	if err != nil || modules < 2 {
		t.Errorf("%d modules, %v", modules, err)
	}
}

// TestPromisesAreKept: the tests that e2e/PROMISES.md names for each stage of the page are there.
func TestPromisesAreKept(t *testing.T) {
	files, err := filepath.Glob("e2e/page/*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	var tests strings.Builder
	for _, file := range files {
		tests.WriteString(read(t, file))
	}
	named := regexp.MustCompile(`Test[A-Za-z]+`).FindAllString(read(t, "e2e/PROMISES.md"), -1)
	for _, name := range named {
		if !strings.Contains(tests.String(), "\nfunc "+name+"(") {
			t.Errorf("e2e/page has no %s", name)
		}
	}
	if len(named) < 30 {
		t.Errorf("only %d tests", len(named))
	}
}

// TestAddingAPart follows CONTRIBUTING.md with every part of a room that there is.
func TestAddingAPart(t *testing.T) {
	for _, want := range []string{"`arrows_test.go`", "`Saved`", "`host/room/saved`", "golden", "fuzz target", "scenario"} {
		if !strings.Contains(guide(t, "Add a part of a room"), want) {
			t.Errorf("the guide does not tell of %s", want)
		}
	}
	folders, err := filepath.Glob("host/room/*/doc.go")
	more, err2 := filepath.Glob("host/room/*/*.go")
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	var parts []string
	for _, file := range append(folders, more...) {
		if folder := path.Dir(filepath.ToSlash(file)); folder != "host/room/roomtest" && !slices.Contains(parts, folder) {
			parts = append(parts, folder)
		}
	}
	if len(parts) < 8 {
		t.Fatalf("only %v", parts)
	}
	for _, part := range parts {
		code, name := sources(t, part), path.Base(part)
		if !strings.Contains(code, "// Package "+name+" ") {
			t.Errorf("%s does not say what it is for", part)
		}
		if !slices.ContainsFunc(arrows, func(row struct {
			from string
			to   []string
		}) bool {
			return row.from == module+"/"+part
		}) || !slices.Contains(pure, module+"/"+part) {
			t.Errorf("%s: nobody says what it may import, or that it is pure", part)
		}
		if !strings.Contains(read(t, "ARCHITECTURE.md"), "\n| "+part+" |") {
			t.Errorf("ARCHITECTURE.md does not name %s", part)
		}
		tests, err := filepath.Glob(part + "/*_test.go")
		if err != nil || len(tests) == 0 {
			t.Errorf("%s has no tests of its own", part)
		}
		if strings.Contains(code, "\ntype Saved struct") && !strings.Contains(sources(t, "host/room/saved"), name+".Saved") {
			t.Errorf("%s has a saved section that the room does not keep", part)
		}
		for _, lines := range regexp.MustCompile(`(?m)^func \([a-z]+ \*?[A-Z][A-Za-z]*\) Set[A-Z][A-Za-z]*\(`).FindAllString(code, -1) {
			t.Errorf("%s has a setter: %s", part, lines)
		}
	}
}

// TestAddingAPhase follows CONTRIBUTING.md with every phase that there is.
func TestAddingAPhase(t *testing.T) {
	guide := guide(t, "Add a phase")
	for _, want := range []string{"`phase`", "`phases`", "`host/room/doc.go`", "scenario"} {
		if !strings.Contains(guide, want) {
			t.Errorf("the guide does not tell of %s", want)
		}
	}
	code, drawn := sources(t, "host/room"), read(t, "host/room/doc.go")
	phases := regexp.MustCompile(`(?m)^func \([a-z]* ?\*([A-Z][a-z]+)\) traits\(\) traits`).FindAllStringSubmatch(code, -1)
	if len(phases) < 11 {
		t.Errorf("phases %v", phases)
	}
	for _, phase := range phases {
		if name := strings.ToLower(phase[1]); !strings.Contains(code, "name: wire.Phase"+phase[1]) && !strings.Contains(code, `saved: "`+name+`"`) || !strings.Contains(drawn, "//\t"+name) {
			t.Errorf("the phase %s cannot be saved, or is not drawn", phase[1])
		}
	}
}

// TestAddingASetting follows CONTRIBUTING.md: a setting is declared in one file.
func TestAddingASetting(t *testing.T) {
	if !strings.Contains(guide(t, "Add a setting"), "`host/wire/settings.go`") {
		t.Error("the guide does not name the file")
	}
	var s wire.Settings
	rows := map[any]string{}
	for _, row := range wire.Table() {
		rows[row.Of(&s)] = row.Key
	}
	for _, field := range reflect.VisibleFields(reflect.TypeOf(s)) {
		if field.Anonymous || field.Name == "NoPassword" { // it follows from the password
			continue
		}
		if _, has := rows[reflect.ValueOf(&s).Elem().FieldByIndex(field.Index).Addr().Interface()]; !has {
			t.Errorf("%s has no row in the table", field.Name)
		}
	}
}

// TestAddingAGame follows CONTRIBUTING.md with every protocol that there is.
func TestAddingAGame(t *testing.T) {
	section := guide(t, "Add a game")
	for _, want := range []string{"`internal/game/games`", "`AppendQuery`", "`Parse`", "fuzz target",
		"`internal/sim/fleet`", "`arrows_test.go`"} {
		if !strings.Contains(section, want) {
			t.Errorf("the guide does not tell of %s", want)
		}
	}
	protocols := 0
	for imported := range strings.Lines(sources(t, "internal/game")) {
		folder := regexp.MustCompile(`"` + regexp.QuoteMeta(module) + `/(discovery/protocol/[a-z0-9]+)"`).FindStringSubmatch(imported)
		// a connection is its answer
		if folder == nil || folder[1] == "discovery/protocol/tcp" || !strings.Contains(sources(t, folder[1]), ") AppendQuery(") {
			continue
		}
		protocols++
		if !slices.Contains(pure, module+"/"+folder[1]) {
			t.Errorf("%s is not among the pure packages", folder[1])
		}
		tests, err := filepath.Glob(folder[1] + "/*_test.go")
		if err != nil || !slices.ContainsFunc(tests, func(file string) bool { return strings.Contains(read(t, file), "\nfunc Fuzz") }) {
			t.Errorf("%s has no fuzz target: %v", folder[1], err)
		}
	}
	if protocols < 10 {
		t.Errorf("%d protocols", protocols)
	}
}

// TestAddingAStrategy follows CONTRIBUTING.md: each strategy has a name and a constructor.
func TestAddingAStrategy(t *testing.T) {
	section := guide(t, "Add a strategy")
	for _, want := range []string{"`discovery/strategy.go`", "`discovery/plan`", "`Next`", "`Observe`"} {
		if !strings.Contains(section, want) {
			t.Errorf("the guide does not tell of %s", want)
		}
	}
	names := read(t, "discovery/strategy.go")
	list := topology.New([]discovery.Server{{Addr: netip.MustParseAddrPort("192.0.2.1:27960"), Country: "DE", ASN: 64496}})
	for _, strategy := range discovery.Strategies() {
		if !strings.Contains(names, ` Strategy = "`+string(strategy)+`"`) {
			t.Errorf("%s is not named in discovery/strategy.go", strategy)
		}
		plan, err := plan.New(strategy, list, discovery.PlanOptions{})
		if err != nil {
			t.Errorf("discovery/plan does not make %s: %v", strategy, err)
			continue
		}
		if probe, verdict := plan.Next(); verdict != discovery.Go || probe.Server != 0 {
			t.Errorf("%s begins with %+v, %v", strategy, probe, verdict)
		}
	}
}
