package operating

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"regexp"

	"muster/host/keyfile"
)

// Keys are the keys by which operators may see and change rooms, each with its owner's name.
type Keys []key

type key struct {
	name string
	// digest is the SHA-256 of the key.
	digest [sha256.Size]byte
}

// maxKeys bounds a file of keys.
const maxKeys = 100

// keyName matches names of keys: they stand in the log as they are.
var keyName = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

// NewKey returns the line of a new key in a file of keys.
func NewKey(name string) string { return name + " " + rand.Text() + "\n" }

// ReadKeys reads keys, one a line. An error names the lines, and no key.
//
//	# name and key
//	ann  9f2c8e61b7d04a35a1e0
func ReadKeys(from io.Reader) (Keys, error) {
	keys, _, err := read(from)
	return keys, err
}

// FirstKey returns the first key of a file, which a command shows.
func FirstKey(from io.Reader) (string, error) {
	_, first, err := read(from)
	if err == nil && first == "" {
		err = errors.New("there is no line NAME KEY")
	}
	return first, err
}

// read returns the keys of a file, and the text of the first key.
func read(from io.Reader) (keys Keys, first string, err error) {
	err = keyfile.EachLine(from, func(words []string) error {
		switch {
		case len(words) != 2:
			return errors.New("say NAME KEY")
		case !keyName.MatchString(words[0]):
			return errors.New("a name has at most 64 letters, digits, and signs of ._-")
		case len(words[1]) < keyfile.Min:
			return fmt.Errorf("the key has %d signs, and %d are the least", len(words[1]), keyfile.Min)
		case len(keys) == maxKeys:
			return fmt.Errorf("there are more than %d keys", maxKeys)
		}
		next := key{words[0], sha256.Sum256([]byte(words[1]))}
		for _, other := range keys {
			if other.name == next.name || other.digest == next.digest {
				return fmt.Errorf("the name %s, or its key, is there already", next.name)
			}
		}
		keys, first = append(keys, next), cmp.Or(first, words[1])
		return nil
	})
	if err != nil {
		return nil, "", err
	}
	return keys, first, nil
}

// Owner returns the name of a key's owner; empty if it is no key. It takes as long for every text.
func (k Keys) Owner(text string) (name string) {
	digest := sha256.Sum256([]byte(text))
	for i := range k {
		if subtle.ConstantTimeCompare(k[i].digest[:], digest[:]) == 1 {
			name = k[i].name
		}
	}
	return name
}
