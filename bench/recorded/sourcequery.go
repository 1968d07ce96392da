package main

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// readSourceQuery reads the recordings of xPaw/PHP-Source-Query: a datagram a line, in
// hexadecimal digits, and the result as JSON.
func readSourceQuery(checkout fs.FS) ([]recording, error) {
	const end = ".raw"
	var recordings []recording
	for _, folder := range []string{"Info", "Players"} {
		files, err := fs.Glob(checkout, "Tests/"+folder+"/*"+end)
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			r := recording{name: folder + "/" + strings.TrimSuffix(path.Base(file), end), kind: "source", protocol: "a2s", want: facts{}}
			lines, err := fs.ReadFile(checkout, file)
			if err != nil {
				return nil, err
			}
			for _, line := range strings.Fields(string(lines)) {
				d, err := hex.DecodeString(line)
				if err != nil {
					return nil, fmt.Errorf("%s: %w", file, err)
				}
				r.datagrams = append(r.datagrams, d)
			}
			result, err := fs.ReadFile(checkout, strings.TrimSuffix(file, end)+".json")
			if err != nil {
				return nil, err
			}
			if folder == "Info" {
				err = tellSourceQuery(r.want, result)
			} else {
				var list []any
				err = json.Unmarshal(result, &list)
				r.want[listed] = strconv.Itoa(named(list))
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
			recordings = append(recordings, r)
		}
	}
	return recordings, nil
}

// tellSourceQuery notes the facts of a server in JSON.
func tellSourceQuery(want facts, result []byte) error {
	var server map[string]any
	if err := json.Unmarshal(result, &server); err != nil {
		return err
	}
	for f, key := range map[fact]string{
		name: "HostName", level: "Map", players: "Players", seats: "MaxPlayers", bots: "Bots", version: "Version", password: "Password",
	} {
		if value, is := server[key]; is {
			want[f] = text(value)
		}
	}
	return nil
}
