package program

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"muster/internal/recipe"
)

// hostile are names that would start something, end a text, or change its meaning, if one stood in a text unquoted.
var hostile = []string{
	`x'; touch pwned; '`, `"; touch pwned; "`, `$(touch pwned)`, "`touch pwned`", "a\nEND\ntouch pwned\n", "a\r\n- touch pwned",
	`{a: [b, !!str c]} # & * | > %`, `- - -`, `--privileged -v /:/host`,
	`+exec evil -game x`, "${HOME} $HOME", `\`, `'`, `''`, `~`, `null`, `0x10`,
	"😀🇩🇪 ünï", "\u202eabc\u2028d\u0085e\u0000f\ufeff", "\ue000x\ue001",
	"=cmd|' /C calc'!A0", `%s%n`, strings.Repeat("a", 10_000),
	strings.Repeat("'", 10_000), "*alias &anchor", "<<'END'",
}

// madeTexts is what recipes.mjs writes.
type madeTexts struct {
	Game, Name                  string
	NewMachine, Compose, Docker string
}

// makeTexts returns the texts of all recipes for each set of answers, as a browser would make them.
func makeTexts(t *testing.T, answers []map[string]any) []madeTexts {
	t.Helper()
	asked, err := json.Marshal(map[string]any{"recipes": recipe.All(), "answers": answers})
	if err != nil {
		t.Fatal(err)
	}
	run := exec.Command("/opt/muster-e2e/node_modules/node/bin/node", "testdata/recipes.mjs")
	run.Stdin, run.Stderr = bytes.NewReader(asked), os.Stderr
	said, err := run.Output()
	if err != nil {
		t.Fatal(err)
	}
	var made []madeTexts
	if err := json.Unmarshal(said, &made); err != nil {
		t.Fatal(err)
	}
	return made
}

// shell runs texts where docker is a program that writes down its arguments.
type shell struct {
	*testing.T
	bin, home string
}

func newShell(t *testing.T) *shell {
	s := &shell{t, t.TempDir(), t.TempDir()}
	fake := "#!/bin/sh\nfor word do printf '%s\\0' \"$word\"; done >>\"$ARGUMENTS\"\nprintf '\\n\\0' >>\"$ARGUMENTS\"\n"
	if err := os.WriteFile(filepath.Join(s.bin, "docker"), []byte(fake), 0o755); err != nil {
		t.Fatal(err)
	}
	return s
}

// runs runs a text, and returns docker's arguments, a list a call, and the files that the text wrote.
func (s *shell) runs(text string) (calls [][]string, files []string) {
	s.Helper()
	folder, err := os.MkdirTemp(s.home, "")
	if err != nil {
		s.Fatal(err)
	}
	arguments := filepath.Join(s.bin, "arguments")
	os.Remove(arguments)
	run := exec.Command("sh", "-eu")
	run.Dir, run.Stdin = folder, strings.NewReader(text)
	run.Env = []string{"PATH=" + s.bin + ":/usr/bin:/bin", "ARGUMENTS=" + arguments, "HOME=" + folder}
	if said, err := run.CombinedOutput(); err != nil || len(said) > 0 {
		s.Fatalf("the shell says %v: %s\n%s", err, said, text)
	}
	said, err := os.ReadFile(arguments)
	if err != nil {
		s.Fatal(err)
	}
	for call := range strings.SplitSeq(strings.TrimSuffix(string(said), "\n\x00"), "\n\x00") {
		calls = append(calls, strings.Split(strings.TrimSuffix(call, "\x00"), "\x00"))
	}
	err = filepath.WalkDir(folder, func(name string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			relative, _ := filepath.Rel(folder, name)
			files = append(files, relative)
			if info, err := entry.Info(); strings.HasSuffix(name, ".env") && (err != nil || info.Mode().Perm() != 0o600) {
				s.Errorf("%s has the mode %v (%v), want 0600", relative, info.Mode(), err)
			}
		}
		return err
	})
	if err != nil {
		s.Fatal(err)
	}
	return calls, files
}

// secret is a password that a machine made.
var secret = regexp.MustCompile(`^[0-9a-f]{18}$`)

// TestRecipes holds what somebody copies against real parsers: YAML's, and a shell. Whatever a room and its people are
// called, a text has the same words for Docker, and the name is one of them. The shell runs as the test does: a name
// that got out of its quotes could do no more than write a file.
func TestRecipes(t *testing.T) {
	t.Parallel()
	answers := []map[string]any{{"name": "Friday", "people": []string{"anna", "ben"}, "address": "192.0.2.7", "owner": "anna"}}
	for _, name := range hostile {
		answers = append(answers, map[string]any{
			"name": name, "people": []string{"anna", name}, "address": "192.0.2.7" + name, "owner": name, "world": name,
		})
	}
	for _, said := range answers {
		said["licence"], said["token"] = true, "T0ken^-x="
	}
	s := newShell(t)
	var usual madeTexts
	for i, made := range makeTexts(t, answers) {
		if i%len(answers) == 0 {
			usual = made
		}
		// Every game sees every name in YAML; in the shell, which takes longer, each sees some.
		of, _ := recipe.Of(made.Game)
		if of.Grade == recipe.InWords {
			if made.Docker != "" || made.Compose != "" || made.NewMachine != "" {
				t.Errorf("%s has a text, and only words are known", made.Game)
			}
			continue
		}
		isRun := (i+i/len(answers))%9 == 0 || made.Game == "minecraft" || made.Game == "cs"
		s.checkUserData(of, made, isRun)
		s.checkCompose(of, made, isRun)
		if isRun {
			s.checkDocker(of, made, usual)
		}
		if t.Failed() {
			return
		}
	}
}

// checkDocker compares the line for Docker with that of a harmless name.
func (s *shell) checkDocker(of recipe.Recipe, made, usual madeTexts) {
	s.Helper()
	calls, files := s.runs(made.Docker)
	others, _ := s.runs(usual.Docker)
	if len(calls) != 1 || calls[0][0] != "run" {
		s.Fatalf("%s: docker is called by %q", made.Game, calls)
	}
	if len(files) > 1 || len(files) == 1 && files[0] != made.Game+".env" {
		s.Errorf("%s, %q writes %q", made.Game, made.Name, files)
	}
	s.checkArguments(of, calls[0])
	if one, other := flagsOf(of, calls[0]), flagsOf(of, others[0]); !slices.Equal(one, other) {
		s.Errorf("%s is called with\n%q\nand as Friday with\n%q", made.Game, one, other)
	}
	if env := variableOf(of, "name"); env != "" && made.Name != "" && !slices.Contains(calls[0], env+"="+made.Name) {
		s.Errorf("%s: no argument is %s=%s: %q", made.Game, env, made.Name, calls[0])
	}
}

// flagsOf returns a line's arguments without what people said, and of constants the names.
func flagsOf(of recipe.Recipe, arguments []string) (flags []string) {
	for i, word := range arguments {
		switch {
		case i > 0 && arguments[i-1] == "-e":
			name, _, _ := strings.Cut(word, "=")
			flags = append(flags, name)
		case i > 0 && slices.Contains([]string{"+hostname", "+rcon_password", "+sv_password"}, arguments[i-1]):
		default:
			flags = append(flags, word)
		}
	}
	// A text leaves a variable out if nothing is left of what people said.
	return slices.DeleteFunc(flags, func(flag string) bool {
		isSaid := func(v recipe.Variable) bool { return v.Env == flag && v.Role != "players" }
		return flag == "-e" || slices.ContainsFunc(of.Ask, isSaid)
	})
}

// checkArguments checks that a line opens what must be open, nothing else, and no console.
func (s *shell) checkArguments(of recipe.Recipe, arguments []string) {
	s.Helper()
	var ports []string
	for i, word := range arguments {
		if i > 0 && arguments[i-1] == "-p" {
			outer, inner, _ := strings.Cut(word, ":")
			if number, _, _ := strings.Cut(inner, "/"); number != outer {
				s.Errorf("%s publishes %s", of.Game, word)
			}
			ports = append(ports, inner)
		}
		if (strings.HasPrefix(word, "+rcon_") || strings.HasPrefix(word, "+sv_")) && !secret.MatchString(arguments[i+1]) {
			s.Errorf("%s: %s is %q", of.Game, word, arguments[i+1])
		}
	}
	s.checkPorts(of, ports)
}

func (s *shell) checkPorts(of recipe.Recipe, ports []string) {
	s.Helper()
	want := slices.Compact(slices.Sorted(slices.Values(slices.Concat(of.OpenPorts, of.QueryPorts))))
	if of.OnHostNet {
		want = nil
	}
	if slices.Sort(ports); !slices.Equal(ports, want) {
		s.Errorf("%s publishes %q, want %q", of.Game, ports, want)
	}
	for _, port := range ports {
		if slices.Contains(of.AdminPorts, port) {
			s.Errorf("%s opens its console, %s", of.Game, port)
		}
	}
}

func variableOf(of recipe.Recipe, role string) string {
	for _, v := range of.Ask {
		if v.Role == role {
			return v.Env
		}
	}
	return ""
}

// checkUserData reads user data as cloud-init does, and runs its commands.
func (s *shell) checkUserData(of recipe.Recipe, made madeTexts, isRun bool) {
	s.Helper()
	if of.Grade != recipe.ByForm {
		if made.NewMachine != "" {
			s.Errorf("%s has user data, and takes work by hand", of.Game)
		}
		return
	}
	if len(made.NewMachine) > 16<<10 || !strings.HasPrefix(made.NewMachine, "#cloud-config\n") {
		s.Errorf("%s: user data of %d bytes:\n%s", of.Game, len(made.NewMachine), made.NewMachine)
	}
	if strings.Contains(made.NewMachine, "T0ken") {
		s.Errorf("%s: user data has the token", of.Game)
	}
	var read struct {
		Packages []string
		Files    []struct{ Path, Content string } `yaml:"write_files"`
		Run      []string                         `yaml:"runcmd"`
	}
	decoder := yaml.NewDecoder(strings.NewReader(made.NewMachine))
	decoder.KnownFields(true)
	if err := decoder.Decode(&read); err != nil {
		s.Fatalf("%s, %q: %v\n%s", of.Game, made.Name, err, made.NewMachine)
	}
	if !slices.Equal(read.Packages, []string{"docker.io"}) || len(read.Run) == 0 || len(read.Run) > 2 {
		s.Errorf("%s, %q has %+v", of.Game, made.Name, read)
	}
	if !isRun {
		return
	}
	commands := strings.Join(read.Run, "\n")
	for _, file := range read.Files {
		commands += "\n" + file.Content
	}
	calls, files := s.runs(strings.ReplaceAll(commands, "/srv/", "./"))
	run := calls[len(calls)-1]
	if len(files) > 1 || run[0] != "run" || len(calls) != 1+len(read.Files) {
		s.Errorf("%s, %q calls docker by %q and writes %q", of.Game, made.Name, calls, files)
	}
	s.checkArguments(of, run)
}

// checkCompose reads the compose file as YAML, once the shell has written it.
func (s *shell) checkCompose(of recipe.Recipe, made madeTexts, isRun bool) {
	s.Helper()
	_, rest, found := strings.Cut(made.Compose, "<<'END'\n")
	file, after, ends := strings.Cut(rest, "\nEND\n")
	if !found || !ends || after != "docker compose up -d\n" {
		s.Fatalf("%s, %q: the text ends with %q", of.Game, made.Name, after)
	}
	var read struct {
		Services map[string]struct {
			Image, Restart, Network string `yaml:",omitempty"`
			Ports, Volumes, Command []string
			Environment             map[string]string
			More                    map[string]any `yaml:",inline"`
		}
		Volumes map[string]struct{}
	}
	decoder := yaml.NewDecoder(strings.NewReader(file))
	decoder.KnownFields(true)
	if err := decoder.Decode(&read); err != nil {
		s.Fatalf("%s, %q: %v\n%s", of.Game, made.Name, err, file)
	}
	service, is := read.Services[of.Game]
	if len(read.Services) != 1 || !is || service.Image != of.Image || service.Restart != "unless-stopped" {
		s.Errorf("%s, %q: services %+v", of.Game, made.Name, read.Services)
	}
	for key := range service.More {
		if !slices.Contains(composeKeys, key) {
			s.Errorf("%s, %q: the service has %s", of.Game, made.Name, key)
		}
	}
	if len(read.Volumes) != len(of.Volumes) || len(service.Volumes) != len(of.Volumes) {
		s.Errorf("%s has volumes %q and %q, want %q", of.Game, read.Volumes, service.Volumes, of.Volumes)
	}
	if env := variableOf(of, "name"); env != "" && strings.ReplaceAll(service.Environment[env], "$$", "$") != made.Name {
		s.Errorf("%s: %s is %q, want %q", of.Game, env, service.Environment[env], made.Name)
	}
	for name, value := range service.Environment {
		isSecret := slices.ContainsFunc(of.Made, func(v recipe.Variable) bool { return v.Env == name })
		if isSecret || strings.Contains(strings.ReplaceAll(value, "$$", ""), "$") {
			s.Errorf("%s: the compose file has %s=%s", of.Game, name, value)
		}
	}
	var ports []string
	for _, port := range service.Ports {
		_, inner, _ := strings.Cut(port, ":")
		ports = append(ports, inner)
	}
	s.checkPorts(of, ports)
	if !isRun {
		return
	}
	calls, files := s.runs(made.Compose)
	want := []string{filepath.Join(of.Game, "compose.yaml")}
	if strings.Contains(made.Compose, "> .env)") {
		want = append([]string{filepath.Join(of.Game, ".env")}, want...)
	}
	if !slices.Equal(files, want) || len(calls) != 1 || strings.Join(calls[0], " ") != "compose up -d" {
		s.Errorf("%s, %q calls docker by %q and writes %q", of.Game, made.Name, calls, files)
	}
}

// composeKeys are what a service may have besides what every one has.
var composeKeys = []string{
	"env_file", "network_mode", "stdin_open", "tty", "stop_grace_period", "cap_add", "mem_limit", "mem_reservation",
	"security_opt", "ulimits",
}
