package wire

import (
	"net/url"
	"slices"
	"strings"
)

// voiceKey is the setting of the voice channel.
const voiceKey = "voice"

// maxVoice is the longest link of a voice channel, in bytes.
const maxVoice = 300

// voices are the prefixes of links that lead to a voice channel. A page shows no other links,
// because a click on a link runs whatever its scheme says.
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

// ErrVoice is the error for a text that is no link of a voice channel.
var ErrVoice = impossible("refused.voice")

// ErrVoiceSecret is the error for a voice channel's link with a password that everybody in the room
// could read. It does not contain the link.
var ErrVoiceSecret = impossible("refused.voice-secret")

// voiceSecrets are the parameters of voice links that are secrets: TeamSpeak's passwords, its keys
// to more rights, and Jitsi's password. The part after # is no parameter: in Element's links it is
// the invitation itself.
var voiceSecrets = []string{"password", "channelpassword", "token", "pwd", "jwt"}

// CheckVoice returns [ErrVoice] or [ErrVoiceSecret] for an invalid link of a voice channel.
func CheckVoice(link string) error {
	_, err := voiceOf(link)
	return err
}

// Voice names the kind of a voice channel's link in a word, such as "Discord". It is empty for
// other links.
func Voice(link string) (name string) {
	name, _ = voiceOf(link)
	return name
}

func voiceOf(link string) (name string, err error) {
	if len(link) > maxVoice || strings.ContainsFunc(link, func(c rune) bool {
		return c <= ' ' || c >= 0x7f || strings.ContainsRune("\"'<>\\`", c)
	}) {
		return "", ErrVoice
	}
	at := slices.IndexFunc(voices, func(v struct{ begins, name string }) bool { return strings.HasPrefix(link, v.begins) })
	u, err := url.Parse(link)
	switch {
	case at < 0, err != nil, u.Host == "", strings.HasPrefix(u.Host, ":"):
		return "", ErrVoice
	case hasSecret(u):
		return "", ErrVoiceSecret
	}
	return voices[at].name, nil
}

// hasSecret reports whether a URL has a password beside the user's name, or in a parameter.
func hasSecret(u *url.URL) bool {
	if _, has := u.User.Password(); has {
		return true
	}
	parameters := strings.FieldsFunc(u.RawQuery, func(c rune) bool { return c == '&' || c == ';' })
	return slices.ContainsFunc(parameters, func(parameter string) bool {
		name, _, _ := strings.Cut(parameter, "=")
		name, err := url.QueryUnescape(name)
		return err != nil || slices.Contains(voiceSecrets, strings.ToLower(name))
	})
}
