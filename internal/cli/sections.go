package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// section is a part of the flags that the help of a long command lists together.
type section struct{ title, flags string }

// Flags that several commands have.
const (
	serverFlags = "master servers lan share-lists country-db as-db geo-overrides"
	askingFlags = "rate in-flight retries timeout listen-addr discreet"
	launchFlags = "launch launch-command game-version"
)

// ofHost are the sections of muster host, in the order in which people need them.
func ofHost() []section {
	return []section{
		{"What you look for", "game by max-rtt map mode version any-version mod tags max-bots prefer-ours long-look strategy"},
		{"The room", "room players at here new every"},
		{"The evening", "vote guests-vote wait-for-seats once password password-file voice webhook webhook-file webhook-no-link"},
		{"You", "name no-play no-browser " + launchFlags},
		{"Who may come, and how", "open port-map public-url listen no-mdns tls tls-cert tls-key trusted-proxy host-name metrics-from downloads releases"},
		{"Where servers are listed", serverFlags},
		{"How servers are asked", askingFlags},
		{"A server of your own", "can-host places start start-command start-within"},
	}
}

// ofServe are the sections of muster serve, in the order in which people need them.
func ofServe() []section {
	return []section{
		{"By what people reach it", "listen public-url host-name trusted-proxy metrics-from"},
		{"Encryption", "tls-cert tls-key acme acme-accept-terms acme-email acme-cache acme-directory acme-ca"},
		{"Where rooms are kept", "store nats nats-credentials nats-ca node cluster-listen replicas import export"},
		{"What strangers may", "max-rooms rooms-per-address max-players idle standing-rooms standing-per-address standing-weeks room-memory message-rate max-places max-servers webhooks"},
		{"What the page gives", "downloads releases"},
		{"Where servers are listed", serverFlags},
		{"The log, and the settings", "log-format check-config"},
	}
}

// ofDiscover are the sections of muster discover, in the order in which people need them.
func ofDiscover() []section {
	return []section{
		{"What you look for", "game map mode version mod tags not-full not-empty max-bots no-password name-contains country max-rtt nearest places"},
		{"What is shown", "sort top format json name"},
		{"What comes then", "connect watch " + launchFlags},
		{"Where servers are listed", serverFlags},
		{"How servers are asked", askingFlags},
		{"In which order, and until when", "strategy auto-stop window tune seed fresh"},
	}
}

// inSections has the help of a command list its flags by what they are for.
func inSections(cmd *cobra.Command, sections []section) {
	cmd.SetUsageFunc(func(cmd *cobra.Command) error {
		var text strings.Builder
		fmt.Fprintf(&text, "Usage:\n  %s\n\nExamples:\n%s\n", cmd.UseLine(), cmd.Example)
		for _, part := range parted(cmd.LocalFlags(), sections) {
			fmt.Fprintf(&text, "\n%s:\n%s", part.title, part.flags.FlagUsages())
		}
		fmt.Fprintf(&text, "\nGlobal Flags:\n%s", cmd.InheritedFlags().FlagUsages())
		_, err := fmt.Fprint(cmd.OutOrStderr(), text.String())
		return err
	})
}

// partOf is a section with the flags that the command has of it.
type partOf struct {
	title string
	flags *pflag.FlagSet
}

// parted are the flags by sections; those of none come last.
func parted(all *pflag.FlagSet, sections []section) []partOf {
	var parts []partOf
	add := func(title string, flags []*pflag.Flag) {
		part := partOf{title, pflag.NewFlagSet(title, pflag.ContinueOnError)}
		part.flags.SortFlags = false
		for _, flag := range flags {
			part.flags.AddFlag(flag)
		}
		if part.flags.HasAvailableFlags() {
			parts = append(parts, part)
		}
	}
	named := map[string]bool{}
	for _, s := range sections {
		var flags []*pflag.Flag
		for name := range strings.FieldsSeq(s.flags) {
			if flag := all.Lookup(name); flag != nil {
				named[name], flags = true, append(flags, flag)
			}
		}
		add(s.title, flags)
	}
	var others []*pflag.Flag
	all.VisitAll(func(flag *pflag.Flag) {
		if !named[flag.Name] {
			others = append(others, flag)
		}
	})
	add("Other", others)
	return parts
}
