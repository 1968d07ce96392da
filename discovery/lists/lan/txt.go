package lan

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"muster/discovery"
)

const (
	// txtVersion is the version of these keys; others are refused.
	txtVersion = "1"
	// maxTextLen bounds a text, in bytes, so that an announcement fits one
	// packet; a string of a TXT record holds 255.
	maxTextLen = 100
	// maxFields is several times as many fields as a room has.
	maxFields = 32
	// maxIDLen is twice what ours have.
	maxIDLen = 32
	// maxCount is more players than any room holds.
	maxCount = 10_000
)

// appendTXT appends the strings of a room's TXT record, key=value (RFC 6763, section
// 6), in the DNS library's escaped form. Empty values are left out.
func appendTXT(fields []string, id string, r Room) []string {
	add := func(key, value string) {
		if value != "" {
			fields = append(fields, key+"="+strings.ReplaceAll(value, `\`, `\\`))
		}
	}
	add("v", txtVersion)
	add("id", id)
	add("name", cut(r.Name))
	add("game", cut(r.Game))
	add("by", cut(r.Organiser))
	add("players", strconv.Itoa(r.Players))
	add("seats", strconv.Itoa(r.Seats))
	add("version", cut(r.Version))
	add("tls", cut(r.Fingerprint))
	add("via", cut(r.Via))
	if r.Open {
		add("open", "1")
	}
	return fields
}

// parseTXT reads a TXT record from a host or a stranger. It skips unknown keys, takes
// the first of repeated keys, and cleans all text.
func parseTXT(fields []string) (id string, r Room, err error) {
	values := valuesOf(fields)
	if v := values["v"]; v != txtVersion {
		return "", r, malformed("an announcement of version %q", v)
	}
	if id = values["id"]; !isID(id) {
		return "", r, malformed("no room's id: %q", id)
	}
	players, err := count(values["players"])
	seats, err2 := count(values["seats"])
	if err := cmp.Or(err, err2); err != nil {
		return "", r, err
	}
	return id, Room{
		Via:         cut(values["via"]),
		Name:        cut(values["name"]),
		Game:        cut(values["game"]),
		Organiser:   cut(values["by"]),
		Players:     players,
		Seats:       seats,
		Version:     cut(values["version"]),
		Fingerprint: cut(values["tls"]),
		Open:        values["open"] == "1",
	}, nil
}

// valuesOf returns the fields by their keys in lower case (RFC 6763, section 6.4).
func valuesOf(fields []string) map[string]string {
	values := make(map[string]string)
	for _, field := range fields[:min(len(fields), maxFields)] {
		key, value, _ := strings.Cut(unescape(field), "=")
		key = strings.ToLower(key)
		if _, repeated := values[key]; !repeated {
			values[key] = value
		}
	}
	return values
}

// unescape undoes the DNS library's form of bytes: \195 for one that is not printable
// ASCII, \" and \\ for themselves (RFC 1035, section 5.1).
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		const digits = 3
		if n, err := strconv.ParseUint(s[i:min(i+digits, len(s))], 10, 8); err == nil && i+digits <= len(s) {
			b.WriteByte(byte(n))
			i += digits - 1
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

func isID(s string) bool {
	return s != "" && len(s) <= maxIDLen && strings.Trim(s, "0123456789abcdef") == ""
}

// count reads a number of players; none is 0.
func count(s string) (int, error) {
	n, err := strconv.ParseUint(cmp.Or(s, "0"), 10, 32)
	if err != nil || n > maxCount {
		return 0, malformed("no number of players: %q", s)
	}
	return int(n), nil
}

// cut makes a text safe to show and short enough to announce.
func cut(s string) string {
	s = discovery.CleanText(s)
	if len(s) <= maxTextLen {
		return s
	}
	end := maxTextLen
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return strings.TrimRight(s[:end], " ")
}

// malformed returns an error about an invalid announcement.
func malformed(format string, args ...any) error {
	return fmt.Errorf("lan: %w: "+format, append([]any{discovery.ErrMalformed}, args...)...)
}
