package wire

import (
	"errors"
	"net/url"
	"slices"
	"strings"
)

// maxVoice is the longest link of a voice channel, in bytes.
const maxVoice = 300

// voices are the links that lead to a voice channel, by how they begin. A page shows no
// others: a click on a link runs what its scheme says.
var voices = []struct{ begins, name string }{
	{"mumble://", "Mumble"},
	{"ts3server://", "TeamSpeak"},
	{"teamspeak://", "TeamSpeak"},
	{"https://discord.gg/", "Discord"},
	{"https://discord.com/", "Discord"},
	{"https://meet.jit.si/", "Jitsi"},
	{"https://call.element.io/", "Element"},
	{"https://meet.google.com/", "Google Meet"},
	{"https://s.team/", "Steam"},
}

// ErrVoice is why a text is no link of a voice channel.
var ErrVoice = errors.New("voice: give a link that begins with mumble://, ts3server://, teamspeak://, https://discord.gg/, https://discord.com/, or is of Jitsi, Element, Google Meet or Steam, without a password")

// Voice is what a link leads to in a word, such as "Discord"; empty if it is no link of a
// voice channel.
func Voice(link string) (name string) {
	if len(link) > maxVoice || strings.ContainsFunc(link, func(c rune) bool { return c <= ' ' || c >= 0x7f || strings.ContainsRune("\"'<>\\`", c) }) {
		return ""
	}
	at := slices.IndexFunc(voices, func(v struct{ begins, name string }) bool { return strings.HasPrefix(link, v.begins) })
	if u, err := url.Parse(link); at < 0 || err != nil || u.Host == "" || strings.HasPrefix(u.Host, ":") {
		return ""
	} else if _, has := u.User.Password(); has { // which everybody in the room would read
		return ""
	}
	return voices[at].name
}
