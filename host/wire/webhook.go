package wire

import (
	"errors"
	"net/netip"
	"net/url"
	"strings"
)

// WebhookKey and NoLinkKey are the settings of hosts that post.
const WebhookKey, NoLinkKey = "webhook", "webhook_no_link"

// maxWebhook is the longest URL of a webhook, in bytes: Discord's have 130.
const maxWebhook = 1024

// PlainWebhook stands before the URL of a webhook that is to get an [Announcement] as it
// is, whichever host it is at.
const PlainWebhook = "json+"

// ErrWebhook is why a text is no webhook. It does not say the text: that may be one with a
// slip of the pen, and a webhook is a secret.
var ErrWebhook = errors.New("webhook: that is no https URL: in Discord it is made in the channel's settings, under Integrations")

// CheckWebhook reports what is wrong with the URL of a webhook. It is https, but for this
// machine's own programs.
func CheckWebhook(text string) error {
	u, err := url.Parse(strings.TrimPrefix(text, PlainWebhook))
	switch {
	case err != nil, len(text) > maxWebhook, u.Host == "", u.User != nil:
		return ErrWebhook
	case u.Scheme == "https", u.Scheme == "http" && isThisMachine(u.Hostname()):
		return nil
	}
	return ErrWebhook
}

func isThisMachine(host string) bool {
	addr, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && addr.IsLoopback()
}

// IsDiscord reports whether a webhook is to get what Discord understands.
func IsDiscord(webhook string) bool {
	u, err := url.Parse(webhook) // with the prefix its host is none of these
	if err != nil || u.Scheme != "https" {
		return false
	}
	host := strings.ToLower(u.Hostname())
	return host == "discord.com" || host == "discordapp.com" || strings.HasSuffix(host, ".discord.com")
}

// WebhookOf is where a webhook posts, in a word that tells nobody how to.
func WebhookOf(webhook string) string {
	if IsDiscord(webhook) {
		return "Discord"
	}
	return "a webhook"
}
