package main

import "io/fs"

// repositories are the sources of recordings, by the names of their checkouts.
var repositories = []struct {
	name string
	read func(checkout fs.FS) ([]recording, error)
}{
	{"GameQ", readGameQ},
	{"PHP-Source-Query", readSourceQuery},
	{"mcstatus", readMcstatus},
	{"elixir-a2s", readElixir},
	{"libssq", readLibssq},
	{"go-svrquery", readSvrquery},
	{"serverstat", readServerstat},
}
