package cli

import (
	"strings"

	"muster/host/wire"
	"muster/internal/option"
	"muster/selection"
)

// Flags that several commands have.
const (
	serverFlags = "master servers lan share-lists country-db as-db geo-overrides"
	askingFlags = "rate in-flight retries timeout listen-addr discreet"
	launchFlags = "launch launch-command game-version"
)

// settingFlags returns the flags of the settings in a section.
func settingFlags(in wire.Section) string {
	var flags []string
	for _, row := range wire.Table() {
		if row.Section == in {
			flags = append(flags, row.Flag)
		}
	}
	return strings.Join(flags, " ")
}

// askedFlags returns the flags for what servers must be like.
func askedFlags() string {
	var flags []string
	for _, row := range selection.Asked() {
		flags = append(flags, row.Flag)
	}
	return strings.Join(flags, " ")
}

// ofHost returns the sections of muster host, in the order in which people need them.
func ofHost() []option.Section {
	return []option.Section{
		{Title: "What you look for", Flags: "game " + settingFlags(wire.OfServers)},
		{Title: "The room", Flags: settingFlags(wire.OfRoom) + " at here new"},
		{Title: "The evening", Flags: settingFlags(wire.OfEvening) + " once password-file webhook-file"},
		{Title: "A match of two sides", Flags: settingFlags(wire.OfMatch)},
		{Title: "You", Flags: "name no-play no-browser " + launchFlags},
		{Title: "Who may come, and how", Flags: settingFlags(wire.OfAccess) + " port-map public-url listen no-mdns tls tls-cert tls-key " +
			"trusted-proxy host-name metrics-from downloads releases"},
		{Title: "Where servers are listed", Flags: serverFlags},
		{Title: "How servers are asked", Flags: askingFlags + " regions memory"},
		{Title: "A server of your own", Flags: "can-host places start start-command start-within"},
	}
}

// ofServe returns the sections of muster serve, in the order in which people need them.
func ofServe() []option.Section {
	return []option.Section{
		{Title: "By what people reach it", Flags: "listen public-url host-name trusted-proxy metrics-from"},
		{Title: "Encryption", Flags: "tls-cert tls-key acme acme-accept-terms acme-email acme-cache acme-directory acme-ca"},
		{Title: "Where rooms are kept", Flags: "store nats nats-credentials nats-ca node cluster-listen replicas import export memory"},
		{Title: "What strangers may", Flags: "max-rooms rooms-per-address max-players idle standing-rooms standing-per-address " +
			"standing-weeks room-memory message-rate max-places max-servers webhooks leagues"},
		{Title: "What the page gives", Flags: "downloads releases"},
		{Title: "Where servers are listed", Flags: serverFlags},
		{Title: "The log, and the settings", Flags: "log-format check-config"},
	}
}

// ofDiscover returns the sections of muster discover, in the order in which people need them.
func ofDiscover() []option.Section {
	return []option.Section{
		{Title: "What you look for", Flags: "game " + askedFlags() + " not-full not-empty name-contains country max-rtt nearest places"},
		{Title: "What is shown", Flags: "sort top format json name"},
		{Title: "What comes then", Flags: "connect watch " + launchFlags},
		{Title: "Where servers are listed", Flags: serverFlags},
		{Title: "How servers are asked", Flags: askingFlags},
		{Title: "In which order, and until when", Flags: "strategy auto-stop window tune seed fresh"},
	}
}
