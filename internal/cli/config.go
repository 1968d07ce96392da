package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"muster/internal/config"
	"muster/internal/hint"
)

// granted is a flag that the user can set for good: in config.toml by key, or in the
// environment by MUSTER_KEY. The command line beats the environment, which beats the
// file.
type granted struct {
	key, flag string
	// commands are those that take it.
	commands []string
}

func grantable() []granted {
	rooms := []string{"host", "join"}
	return []granted{
		{"at", "at", rooms},
		{"name", "name", rooms},
		{"launch", "launch", rooms},
		{"launch_command", "launch-command", rooms},
		{"rate", "rate", []string{"host", "join", "discover"}},
		{"lan", "lan", []string{"host", "join", "discover"}},
		{"no_browser", "no-browser", []string{"host", "demo"}},
	}
}

// grant sets the flags of a command that were not given to what the user takes for
// granted.
func (p *program) grant(cmd *cobra.Command) error {
	all := grantable()
	mine := slices.DeleteFunc(slices.Clone(all), func(g granted) bool {
		return !slices.Contains(g.commands, cmd.Name()) || cmd.Flags().Lookup(g.flag) == nil
	})
	if len(mine) == 0 {
		return nil
	}
	var keys []string
	for _, g := range all {
		keys = append(keys, g.key)
	}
	values, err := p.configured(keys)
	if err != nil {
		return err
	}
	for _, g := range mine {
		if cmd.Flags().Changed(g.flag) {
			continue
		}
		variable := "MUSTER_" + strings.ToUpper(g.key)
		value, isSet := values[g.key]
		if text := p.env(variable); text != "" {
			value, isSet = config.Value{Text: text}, true
		}
		if !isSet {
			continue
		}
		if err := set(cmd, g.flag, value.Text); err != nil {
			err = fmt.Errorf("%s: %w", g.key, err)
			if value.Line == 0 {
				return usagef("%s in the environment: %w", variable, errors.Unwrap(err))
			}
			return usageError(&config.Error{File: configFile("config.toml"), Line: value.Line, Err: err})
		}
	}
	return nil
}

// set gives a flag a value that counts as not given.
func set(cmd *cobra.Command, flag, text string) error {
	err := cmd.Flags().Set(flag, text)
	cmd.Flags().Lookup(flag).Changed = false
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) {
		return unsuitable(invalid)
	}
	return err
}

// configured is what stands in config.toml.
func (p *program) configured(keys []string) (map[string]config.Value, error) {
	file := configFile("config.toml")
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read config.toml: %w", err)
	}
	defer f.Close()
	values, err := config.Read(f, file, keys)
	if err != nil {
		return nil, hint.With(usageError(err), "a line is such as at = \"https://muster.example\"; docs/config.md says what there is")
	}
	return values, nil
}
