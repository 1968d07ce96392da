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
	"muster/internal/option"
)

// granted is a flag that the user can set permanently: in config.toml by key, or in the environment
// by MUSTER_KEY. The command line overrides the environment, which overrides the file.
type granted struct {
	key, flag string
	// commands are the commands that take it; none means all.
	commands []string
}

// isFor reports whether a command takes the flag.
func (g granted) isFor(cmd *cobra.Command) bool {
	return (len(g.commands) == 0 || slices.Contains(g.commands, cmd.Name())) && cmd.Flags().Lookup(g.flag) != nil
}

func grantable() []granted {
	rooms := []string{"host", "join", "muster"}
	return []granted{
		{"at", "at", rooms},
		{"name", "name", append(slices.Clip(rooms), "discover")},
		{"launch", "launch", append(slices.Clip(rooms), "discover")},
		{"launch_command", "launch-command", append(slices.Clip(rooms), "discover")},
		{"rate", "rate", []string{"host", "join", "discover"}},
		{"lan", "lan", []string{"host", "join", "discover", "muster"}},
		{"share_lists", "share-lists", []string{"host", "join"}},
		{"prefer_ours", "prefer-ours", []string{"host"}},
		{"long_look", "long-look", []string{"host"}},
		{"voice", "voice", []string{"host"}},
		{"webhook_file", "webhook-file", []string{"host"}},
		{"webhook_no_link", "webhook-no-link", []string{"host"}},
		{"discreet", "discreet", []string{"host", "join", "discover"}},
		{"memory", "memory", []string{"host", "join"}},
		{"port_map", "port-map", []string{"host", "join", "beacon"}},
		{"downloads", "downloads", []string{"host"}},
		{"no_browser", "no-browser", []string{"host", "join", "demo", "muster"}},
		grantedLanguage,
	}
}

// grantedLanguage is the only one that all commands take.
var grantedLanguage = granted{key: "language", flag: languageFlag}

// ownTable is the command that has a table of its own for all its flags, because a public host
// starts without anybody to type them. Flags for a single run are excluded.
const ownTable = "serve"

var justOnce = []string{"import", "export", "check-config", "help"}

// owned returns the flags of a command that its table may set, for it and for its subcommands.
func owned(cmd *cobra.Command) (all []granted) {
	cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		if !slices.Contains(justOnce, f.Name) {
			all = append(all, granted{cmd.Name() + "." + strings.ReplaceAll(f.Name, "-", "_"), f.Name, nil})
		}
	})
	return all
}

// variable returns the name of the environment variable.
func (g granted) variable() string {
	return "MUSTER_" + strings.ToUpper(strings.ReplaceAll(g.key, ".", "_"))
}

// grant sets the flags that the command line omits to the user's permanent values.
func (p *program) grant(cmd *cobra.Command) error {
	all, known, owner := grantable(), everyKey(), cmd
	var unknown error
	for above := cmd; above.HasParent(); above = above.Parent() {
		if above.Parent().Name() == ownTable {
			owner = above.Parent()
		}
	}
	if owner.Name() == ownTable {
		all = owned(owner)
		for _, g := range all {
			known[ownTable] = append(known[ownTable], strings.TrimPrefix(g.key, ownTable+"."))
		}
		unknown = checkVariables(all)
		all = append(all, grantedLanguage)
	}
	mine := slices.DeleteFunc(slices.Clone(all), func(g granted) bool { return !g.isFor(cmd) })
	err := p.set(cmd, mine, known)
	if len(mine) == 1 && mine[0].key == grantedLanguage.key { // such as doctor, which says what is wrong with the file
		return nil
	}
	if unknown != nil {
		err = together(unknown, err)
	}
	return err
}

// set sets flags that the command line omits. known are the keys of config.toml.
func (p *program) set(cmd *cobra.Command, mine []granted, known config.Known) error {
	values, trouble := p.configured(known)
	for _, g := range mine {
		if cmd.Flags().Changed(g.flag) {
			continue
		}
		value, isSet := values[g.key]
		if text := p.env(g.variable()); text != "" {
			value, isSet = config.Value{Texts: []string{text}}, true
			if option.IsRepeatable(cmd.Flags().Lookup(g.flag)) {
				value.Texts = strings.Split(text, ",")
			}
		}
		if !isSet {
			continue
		}
		if err := option.Default(cmd, g.flag, value.Texts); err != nil {
			err = fmt.Errorf("%s: %w", g.key, err)
			if value.Line == 0 && p.env(g.variable()) != "" {
				err = usagef("%s in the environment: %w", g.variable(), errors.Unwrap(err))
			} else {
				err = usageError(&config.Error{File: configFile("config.toml"), Line: value.Line, Err: err})
			}
			trouble = together(trouble, err)
			if f := cmd.Flags().Lookup(g.flag); !option.IsRepeatable(f) {
				f.Value.Set(f.DefValue) // so that a check finds nothing else wrong with it
			}
			continue
		}
		p.origins[g.flag] = g.variable() + " in the environment"
		if value.Line > 0 {
			p.origins[g.flag] = fmt.Sprintf("%s:%d", configFile("config.toml"), value.Line)
		}
	}
	return trouble
}

// together returns two errors as one, or the one that there is.
func together(a, b error) error {
	if a == nil {
		return b
	}
	return errors.Join(a, b)
}

// checkVariables refuses unknown variables for the command. Otherwise an operator who mistypes a
// limit would believe that it holds.
func checkVariables(all []granted) error {
	const prefix = "MUSTER_SERVE_"
	var trouble error
	for _, entry := range os.Environ() {
		name, text, _ := strings.Cut(entry, "=")
		if strings.HasPrefix(name, prefix) && text != "" && !slices.ContainsFunc(all, func(g granted) bool { return g.variable() == name }) {
			trouble = together(trouble, hint.With(usagef("%s in the environment: there is no such flag of muster serve", name),
				"each flag has a variable: --public-url has MUSTER_SERVE_PUBLIC_URL; docs/serve.md says more"))
		}
	}
	return trouble
}

// configTrouble returns the error in config.toml or the environment that keeps a command from
// starting.
func (p *program) configTrouble(root *cobra.Command) error {
	for _, cmd := range append(root.Commands(), root) {
		if err := p.grant(cmd); err != nil {
			return err
		}
	}
	return nil
}

// configured reads config.toml.
func (p *program) configured(known config.Known) (map[string]config.Value, error) {
	file := configFile("config.toml")
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read config.toml: %w", err)
	}
	defer f.Close()
	values, err := config.Read(f, file, known)
	if err != nil {
		return values, hint.With(usageError(err), "a line is such as at = \"https://muster.example\"; docs/config.md says what there is")
	}
	return values, nil
}
