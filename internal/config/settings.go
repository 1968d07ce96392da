package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"muster/internal/hint"
	"muster/internal/input"
	"muster/internal/slip"
	"muster/internal/userfile"
)

// Settings are what the user set permanently: values of the file, and variables of the environment, which override them.
type Settings struct {
	// Values are the file's, by key.
	Values map[string]Value
	file   string
	env    func(string) string
}

// Load reads the file if there is one, as [Read] does. env looks up a variable.
func Load(file string, env func(string) string, known Known) (Settings, error) {
	s := Settings{file: file, env: env}
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return s, fmt.Errorf("cannot read config.toml: %w", err)
	}
	defer f.Close()
	if s.Values, err = Read(f, file, known); err != nil {
		err = hint.With(hint.Usage(err), "a line is such as at = \"https://muster.example\"; docs/config.md says what there is")
	}
	return s, err
}

// Setting is a value that the user set permanently, and where.
type Setting struct {
	Texts         []string
	key, variable string // the variable is empty if the value is the file's
	at            Error
}

// Given returns the value of a key, if the user set one. A list in a variable has commas between its values.
func (s Settings) Given(key string, isList bool) (given Setting, is bool) {
	given = Setting{key: key, variable: Variable(key)}
	if text := s.env(given.variable); text != "" {
		if given.Texts = []string{text}; isList {
			given.Texts = strings.Split(text, ",")
		}
		return given, true
	}
	value, is := s.Values[key]
	return Setting{Texts: value.Texts, key: key, at: Error{File: s.file, Line: value.Line}}, is
}

// Where says where the value stands.
func (s Setting) Where() string {
	if s.variable != "" {
		return s.variable + " in the environment"
	}
	return strings.TrimSuffix(fmt.Sprintf("%s:%d", s.at.File, s.at.Line), ":0")
}

// Wrong returns the error that the value is wrong, with the reason.
func (s Setting) Wrong(why error) error {
	if s.variable != "" {
		return hint.Usagef("%s: %w", s.Where(), why)
	}
	s.at.Err = fmt.Errorf("%s: %w", s.key, why)
	return hint.Usage(&s.at)
}

// Variable returns the name of a key's variable in the environment.
func Variable(key string) string {
	return "MUSTER_" + strings.ToUpper(strings.ReplaceAll(key, ".", "_"))
}

// CheckVariables refuses variables of a table's command that belong to none of its keys. Otherwise an operator who
// mistypes a limit would believe that it holds.
func CheckVariables(environ []string, table string, keys []string) (trouble error) {
	var variables []string
	for _, key := range keys {
		variables = append(variables, Variable(key))
	}
	for _, entry := range environ {
		name, text, _ := strings.Cut(entry, "=")
		if strings.HasPrefix(name, Variable(table+".")) && text != "" && !slices.Contains(variables, name) {
			advice := "each flag has a variable: --public-url has MUSTER_SERVE_PUBLIC_URL; docs/serve.md says more"
			if near := slip.Near(name, variables); near != "" {
				advice = "did you mean " + near + "?"
			}
			trouble = errors.Join(trouble, hint.With(hint.Usagef("%s in the environment: there is no such flag of muster %s", name, table), advice))
		}
	}
	return trouble
}

// Change changes values in the file, as [Set] does, and leaves one that cannot be read as it is.
func Change(file string, changes map[string]string, known Known) error {
	old, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return hint.Say("computer.config-unread", "why", hint.Reason(err))
	}
	if old, err = io.ReadAll(input.Text(bytes.NewReader(old))); err != nil {
		return hint.Say("computer.config-unread", "why", err)
	}
	text, err := Set(string(old), changes)
	if err != nil {
		return err
	}
	if _, err := Read(strings.NewReader(text), file, known); err != nil {
		return hint.Say("computer.config-damaged", "why", err)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	return userfile.Replace(file, []byte(text))
}
