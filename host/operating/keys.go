package operating

import (
	"bufio"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"io"
	"regexp"
	"strings"
)

// Keys are the keys by which operators may see and change rooms, each with its owner's name.
type Keys []key

type key struct {
	name string
	// digest is the SHA-256 of the key.
	digest [sha256.Size]byte
}

const (
	// leastKey is the least length of a key, in bytes: nobody guesses so many.
	leastKey = 20
	// mostKeys bounds a file of keys, and longestLine one of its lines, in bytes.
	mostKeys, longestLine = 100, 1 << 10
)

// keyName matches names of keys: they stand in the log as they are.
var keyName = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

// NewKey returns the line of a new key in a file of keys.
func NewKey(name string) string { return name + " " + rand.Text() + "\n" }

// ReadKeys reads keys, one a line. An error names the line, and no key.
//
//	# name and key
//	ann  9f2c8e61b7d04a35a1e0
func ReadKeys(from io.Reader) (Keys, error) {
	texts, err := readLines(from)
	if err != nil {
		return nil, err
	}
	var keys Keys
	for _, l := range texts {
		next := key{l.name, sha256.Sum256([]byte(l.key))}
		for _, other := range keys {
			if other.name == next.name || other.digest == next.digest {
				return nil, fmt.Errorf("line %d: the name %s, or its key, is there already", l.number, l.name)
			}
		}
		keys = append(keys, next)
	}
	return keys, nil
}

// FirstKey returns the first key of a file, which a command shows.
func FirstKey(from io.Reader) (string, error) {
	texts, err := readLines(from)
	switch {
	case err != nil:
		return "", err
	case len(texts) == 0:
		return "", fmt.Errorf("there is no line NAME KEY")
	}
	return texts[0].key, nil
}

// line is a line of a file of keys.
type line struct {
	number    int
	name, key string
}

func readLines(from io.Reader) (all []line, err error) {
	lines, n := bufio.NewScanner(from), 0
	lines.Buffer(make([]byte, longestLine), longestLine)
	for lines.Scan() {
		n++
		text, _, _ := strings.Cut(lines.Text(), "#")
		words := strings.Fields(text)
		switch {
		case len(words) == 0:
			continue
		case len(words) != 2:
			return nil, fmt.Errorf("line %d: say NAME KEY", n)
		case !keyName.MatchString(words[0]):
			return nil, fmt.Errorf("line %d: a name has at most 64 letters, digits, and signs of ._-", n)
		case len(words[1]) < leastKey:
			return nil, fmt.Errorf("line %d: the key has %d signs, and %d are the least", n, len(words[1]), leastKey)
		case len(all) == mostKeys:
			return nil, fmt.Errorf("line %d: there are more than %d keys", n, mostKeys)
		}
		all = append(all, line{n, words[0], words[1]})
	}
	return all, lines.Err()
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
