package cli

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
)

// token keeps a player's place in a room over a restart of the program, in one
// file a place. Without a state folder it forgets.
type token struct{ file string }

func tokenOf(i invitation, name string) token {
	place := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%s", i.host, i.code, name))
	file, err := stateFile(filepath.Join("tokens", hex.EncodeToString(place[:8])))
	if err != nil {
		return token{}
	}
	return token{file}
}

func (t token) load() string {
	text, err := os.ReadFile(t.file)
	if err != nil {
		return ""
	}
	return string(text)
}

func (t token) save(text string) error {
	if t.file == "" {
		return nil
	}
	return os.WriteFile(t.file, []byte(text), 0o600)
}
