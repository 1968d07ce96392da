package weblist

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"muster/discovery"
	"muster/discovery/internal/packet"
)

// Remembered is a server that Steam remembers for its user, from the file
// userdata/ID/7/remote/serverbrowser_hist.vdf.
type Remembered struct {
	Address string
	Name    string
	// AppID is the game's, 0 if the file does not tell.
	AppID uint32
	// Favourite distinguishes the user's choice from the user's history.
	Favourite bool
}

// maxRemembered is the largest file, in bytes, that is read: of a few hundred servers it has 60 KB.
const maxRemembered = 16 << 20

// ReadRemembered reads Steam's file: text VDF with the blocks Favorites and History, in
// any letter case. Favourites come first. Errors wrap [discovery.ErrMalformed]; of a
// damaged file the servers before the damage are returned, too.
func ReadRemembered(r io.Reader) ([]Remembered, error) {
	v := vdf{in: bufio.NewReader(&meter{from: r, row: maxRemembered, all: maxRemembered})}
	root, err := v.block(0, false)
	if err == nil && !slices.ContainsFunc(root, func(k key) bool { return strings.EqualFold(k.name, "filters") }) {
		err = malformed("it has no favourites and no history")
	}
	var servers []Remembered
	filters := root.inner("filters")
	for _, kind := range []string{"favorites", "history"} {
		for _, server := range filters.inner(kind) {
			s := Remembered{
				Address:   server.value.text("address"),
				Name:      packet.Text([]byte(server.value.text("name"))),
				Favourite: kind == "favorites",
			}
			if id, err := strconv.ParseUint(server.value.text("appid"), 10, 32); err == nil {
				s.AppID = uint32(id)
			}
			if port := server.value.text("port"); port != "" && !strings.Contains(s.Address, ":") {
				s.Address += ":" + port
			}
			if s.Address != "" && len(s.Address) <= maxText {
				servers = append(servers, s)
			}
		}
	}
	return servers, err
}

// vdf reads Valve's text format: keys with a text or, in braces, more keys.
type vdf struct{ in *bufio.Reader }

// keys are the keys of a block, in its order.
type keys []key

type key struct {
	name  string
	text  string
	value keys
}

func (k keys) inner(name string) keys {
	for _, one := range k {
		if strings.EqualFold(one.name, name) {
			return one.value
		}
	}
	return nil
}

func (k keys) text(name string) string {
	for _, one := range k {
		if strings.EqualFold(one.name, name) {
			return one.text
		}
	}
	return ""
}

// Marks between words.
const (
	opens  = '{'
	closes = '}'
)

// block reads to the closing brace. The outermost block ends with the file. Along with an error,
// block returns what stands before the damage.
func (v *vdf) block(depth int, braced bool) (keys, error) {
	if depth > maxDepth {
		return nil, malformed("its blocks are nested too deeply")
	}
	var all keys
	for {
		name, mark, err := v.token()
		switch {
		case errors.Is(err, io.EOF) && !braced:
			return all, nil
		case errors.Is(err, io.EOF):
			return all, malformed("it breaks off")
		case err != nil:
			return all, err
		case mark == closes && braced:
			return all, nil
		case mark != 0:
			return all, malformed("a brace where a name should be")
		}
		one := key{name: name}
		one.text, mark, err = v.token()
		switch {
		case errors.Is(err, io.EOF):
			return all, malformed("it breaks off")
		case err != nil:
			return all, err
		case mark == opens:
			if one.value, err = v.block(depth+1, true); err != nil {
				return append(all, one), err
			}
		case mark == closes:
			return all, malformed("%q has no value", discovery.CleanText(name))
		}
		all = append(all, one)
	}
}

// token returns the next word, or the next mark.
func (v *vdf) token() (word string, mark rune, err error) {
	for {
		c, _, err := v.in.ReadRune()
		if err != nil {
			return "", 0, err
		}
		switch {
		case c == '\ufeff' || strings.ContainsRune(" \t\r\n", c):
		case c == opens || c == closes:
			return "", c, nil
		case c == '/':
			if _, err := v.in.ReadString('\n'); err != nil {
				return "", 0, err
			}
		case c == '"':
			word, err = v.quoted()
			return word, 0, err
		default:
			return v.readUnquoted(c)
		}
	}
}

func (v *vdf) quoted() (string, error) {
	var b strings.Builder
	for {
		c, _, err := v.in.ReadRune()
		if err == nil && c == '\\' {
			if c, _, err = v.in.ReadRune(); err == nil {
				b.WriteString(unescaped(c))
				continue
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return "", malformed("it breaks off")
		case err != nil:
			return "", err
		case c == '"':
			return b.String(), nil
		}
		b.WriteRune(c)
	}
}

func unescaped(c rune) string {
	switch c {
	case 'n':
		return "\n"
	case 't':
		return "\t"
	case '\\', '"':
		return string(c)
	}
	return fmt.Sprintf(`\%c`, c)
}

// readUnquoted reads a word without quotation marks.
func (v *vdf) readUnquoted(first rune) (string, rune, error) {
	b := []rune{first}
	for {
		c, _, err := v.in.ReadRune()
		if err != nil && !errors.Is(err, io.EOF) {
			return "", 0, err
		}
		if err != nil || strings.ContainsRune(" \t\r\n\"{}", c) {
			if err == nil {
				_ = v.in.UnreadRune() // one was read
			}
			return string(b), 0, nil
		}
		b = append(b, c)
	}
}
