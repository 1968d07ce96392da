package cli

import (
	"errors"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"muster/internal/config"
	"muster/internal/option"
)

// granted is a flag that the user can set permanently: in config.toml by key, or in the environment
// by MUSTER_KEY. The command line overrides the environment, which overrides the file.
type granted struct {
	key, flag string
	// commands are the commands that take it; none means all.
	commands []string
}

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
		var keys []string
		for _, g := range all {
			keys = append(keys, g.key)
			known[ownTable] = append(known[ownTable], strings.TrimPrefix(g.key, ownTable+"."))
		}
		unknown = config.CheckVariables(os.Environ(), ownTable, keys)
		all = append(all, grantedLanguage)
	}
	mine := slices.DeleteFunc(slices.Clone(all), func(g granted) bool { return !g.isFor(cmd) })
	err := p.set(cmd, mine, known)
	if len(mine) == 1 && mine[0].key == grantedLanguage.key { // such as doctor, which says what is wrong with the file
		return nil
	}
	return errors.Join(unknown, err)
}

// set sets flags that the command line omits. known are the keys of config.toml.
func (p *program) set(cmd *cobra.Command, mine []granted, known config.Known) error {
	settings, trouble := p.settings(known)
	for _, g := range mine {
		flag := cmd.Flags().Lookup(g.flag)
		given, isSet := settings.Given(g.key, option.IsRepeatable(flag))
		if flag.Changed || !isSet {
			continue
		}
		if err := option.Default(cmd, g.flag, given.Texts); err != nil {
			trouble = errors.Join(trouble, given.Wrong(err))
			if !option.IsRepeatable(flag) {
				flag.Value.Set(flag.DefValue) // so that a check finds nothing else wrong with it
			}
			continue
		}
		p.origins[g.flag] = given.Where()
	}
	return trouble
}

// settings returns what the user set permanently. known are the keys of config.toml.
func (p *program) settings(known config.Known) (config.Settings, error) {
	return config.Load(configFile("config.toml"), p.env, known)
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
